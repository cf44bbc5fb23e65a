// row ldmrace, machine sw26010-pro, mode checked, expect SW669 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local float mine[16], got[16];
__thread_local volatile int here = 0, there = 0;
void work(struct job *j)
{
    for (int i = 0; i < 16; i++)
        mine[i] = _MYID + i; /* THERE */ /* OR */
    if (_MYID == 5) {        /* the barrier is missing here */
        athread_rma_iget(got, &here, sizeof got, 2, mine, &there); /* HERE */
        athread_rma_wait_value(&here, 1);
        j->out[5] = got[3];
    }
}
#endif
