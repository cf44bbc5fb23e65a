// machine sw26010-pro
// The owner of a buffer writes it again when its reply word says that the other has got it: no barrier.
#define RESULT (k % 2 ? 0 : 6 * (k + 1) + 15)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double mine[8], got[8], unused[1];
__thread_local volatile int here, taken, filled, told;
void work(struct job *j)
{
    double sum = 0;
    here = taken = filled = told = 0;
    unused[0] = 0;
    athread_ssync_array();
    for (int k = 0; k < 6; k++)
        if (_MYID % 2) {
            for (int i = 0; i < 8; i++)
                mine[i] = _MYID + k;
            athread_rma_iput(unused, &told, 8, _MYID - 1, unused, &filled);
            athread_rma_wait_value(&told, k + 1);
            athread_rma_wait_value(&taken, k + 1);
            mine[k] += 1;
        } else {
            athread_rma_wait_value(&filled, k + 1);
            athread_rma_iget(got, &here, sizeof got, _MYID + 1, mine, &taken);
            athread_rma_wait_value(&here, k + 1);
            sum += got[3];
        }
    j->out[_MYID] = sum;
}
#endif
