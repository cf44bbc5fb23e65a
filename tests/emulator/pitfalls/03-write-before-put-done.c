// row 3, machine sw26010-pro, mode checked, expect SW661 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
__thread_local volatile int reply;
void work(struct job *j)
{
    for (int i = 0; i < 64; i++)
        a[i] = i;
    reply = 0;
    athread_dma_iput(j->out + 64 * _MYID, a, sizeof a, &reply); /* THERE */
    a[5] = 7; /* HERE */
    athread_dma_wait_value(&reply, 1);
}
#endif
