// row 1, machine sw26010, mode eager late checked, expect SW640 exit 87
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    GET(j->in, a, sizeof a);
    while (reply != 2) /* HERE */
        ;
}
#endif
