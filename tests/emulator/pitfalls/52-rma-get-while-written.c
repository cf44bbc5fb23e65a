// row ldmrace, machine sw26010-pro, mode checked, expect SW669 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double mine[8], got[8];
__thread_local volatile int here, there;
void work(struct job *j)
{
    for (int i = 0; i < 8; i++)
        mine[i] = _MYID;
    here = there = 0;
    athread_ssync_array();
    athread_rma_iget(got, &here, sizeof got, (_MYID + 1) % 64, mine, &there); /* THERE */ /* OR */
    athread_rma_wait_value(&here, 1);
    mine[0] += got[0]; /* HERE */
    j->out[_MYID] = mine[0];
}
#endif
