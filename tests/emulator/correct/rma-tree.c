// machine sw26010-pro
// A sum over all CPEs in a tree: puts to the partner, a barrier for each level, the result to all.
#define RESULT (63 * 32)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double mine[8], part[8];
__thread_local volatile int mail = 0;
void work(struct job *j)
{
    int received = 0;
    for (int i = 0; i < 8; i++)
        mine[i] = _MYID;
    athread_ssync_array();
    for (int d = 1; d < 64; d *= 2) {
        if (_MYID % (2 * d) == d) {
            athread_rma_put(mine, sizeof mine, _MYID - d, part, &mail);
        } else if (_MYID % (2 * d) == 0) {
            athread_rma_wait_value(&mail, ++received);
            for (int i = 0; i < 8; i++)
                mine[i] += part[i];
        }
        athread_ssync_array();
    }
    athread_rma_bcast_coll(part, mine, sizeof mine, 0);
    j->out[_MYID] = part[3];
}
#endif
