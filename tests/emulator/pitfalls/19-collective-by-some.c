// row 19, machine sw26010-pro, mode eager checked, expect SW640 exit 87
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8];
void work(struct job *j)
{
    for (int i = 0; i < 8; i++)
        a[i] = i;
    if (_MYID < 60)
        athread_rma_bcast_coll(a, a, sizeof a, 0); /* HERE */
}
#endif
