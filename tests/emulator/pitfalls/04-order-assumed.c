// row 4, machine sw26010, mode checked, expect SW661 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64], b[64];
__thread_local volatile int reply, second;
void work(struct job *j)
{
    reply = second = 0;
    GET(j->in, a, sizeof a); /* THERE */
    athread_get(PE_MODE, j->in + 64, b, sizeof b, (void *)&second, 0, 0, 0);
    while (second != 1)
        ;
    j->out[_MYID * 64] = a[0] + b[0]; /* HERE */
    while (reply != 1)
        ;
}
#endif
