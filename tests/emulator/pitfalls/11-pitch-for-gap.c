// row 11, machine sw26010, mode eager late checked, expect SW610 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64][8];
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    /* 64 rows of 64 doubles, 8 of each: the gap is 56 doubles, the pitch is 64 */
    athread_get(PE_MODE, j->in, a, sizeof a, (void *)&reply, 0, 64 * 8, 8 * 8); /* HERE */
}
#endif
