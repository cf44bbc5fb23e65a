// row overrun, machine sw26010-pro, mode checked, expect SW623 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[16], inbox[8];
__thread_local volatile int mail = 0, sent = 0;
void work(struct job *j)
{
    for (int i = 0; i < 16; i++)
        a[i] = i;
    if (_MYID == 0)
        athread_rma_iput(a, &sent, sizeof a, 1, inbox, &mail); /* HERE */
}
#endif
