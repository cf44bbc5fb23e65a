// row 2, machine sw26010, mode compile, expect not-volatile exit 0
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
__thread_local int reply;
void work(struct job *j)
{
    reply = 0;
    GET(j->in, a, sizeof a);
    while (reply != 1) /* HERE */
        ;
}
#endif
