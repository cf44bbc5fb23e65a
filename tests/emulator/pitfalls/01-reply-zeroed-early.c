// row 1, machine sw26010, mode checked, expect SW662 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64], b[64];
__thread_local volatile int reply;
void work(struct job *j)
{
    reply = 0;
    GET(j->in, a, sizeof a); /* THERE */
    reply = 0; /* HERE */
    GET(j->in + 64, b, sizeof b);
    while (reply < 1)
        ;
    j->out[_MYID] = 1;
    athread_dma_barrier();
}
#endif
