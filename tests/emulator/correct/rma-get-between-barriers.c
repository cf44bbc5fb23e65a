// machine sw26010-pro
// Gets from a neighbour's buffer, which it writes again after a barrier.
#define RESULT ((k + 1) % 64 * 3 + 3)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double mine[16], got[16];
__thread_local volatile int here, there;
void work(struct job *j)
{
    double sum = 0;
    here = there = 0;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 16; i++)
            mine[i] = _MYID + k;
        athread_ssync_array();
        athread_rma_iget(got, &here, sizeof got, (_MYID + 1) % 64, mine, &there);
        athread_rma_wait_value(&here, k + 1);
        athread_ssync_array();
        sum += got[7];
    }
    j->out[_MYID] = sum;
}
#endif
