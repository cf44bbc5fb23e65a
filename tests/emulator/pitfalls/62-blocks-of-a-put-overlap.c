// row strides, machine sw26010, mode eager late checked, expect SW614 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8] = {0, 1, 2, 3, 4, 5, 6, 7};
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    athread_put(PE_MODE, a, j->out + 64 * _MYID, sizeof a, (void *)&reply, -8, 16); /* HERE */
    while (reply != 1)
        ;
}
#endif
