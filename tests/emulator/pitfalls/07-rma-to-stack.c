// row 7, machine sw26010-pro, mode eager checked, expect SW651 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local volatile int mail = 0, sent = 0;
void work(struct job *j)
{
    double a[8];
    for (int i = 0; i < 8; i++)
        a[i] = i;
    if (_MYID == 0)
        athread_rma_iput(a, &sent, sizeof a, 1, a, &mail); /* HERE */
}
#endif
