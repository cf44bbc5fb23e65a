// row 1, machine sw26010, mode checked, expect SW661 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64], b[64];
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    reply = 0;
    GET(j->in, a, sizeof a);
    while (reply != 1)
        ;
    GET(j->in + 64, b, sizeof b); /* THERE */
    while (reply != 1)            /* the first transfer's answer: it does not wait */
        ;
    j->out[_MYID * 64] = b[0]; /* HERE */
    while (reply != 2)
        ;
}
#endif
