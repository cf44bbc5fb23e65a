// machine sw26010-pro
// All CPEs add to one word of CPE 0's LDM, one at a time: a lock in main memory orders them.
#define RESULT (k == 0 ? 64 : 0)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double total, mine;
__thread_local volatile int mail;
long guard;
void work(struct job *j)
{
    total = 0;
    athread_ssync_array();
    athread_lock(&guard);
    athread_rma_get(&mine, 8, 0, &total, &mail);
    mine += 1;
    athread_rma_put(&mine, 8, 0, &total, &mail);
    athread_unlock(&guard);
    athread_ssync_array();
    j->out[_MYID] = _MYID ? 0 : total;
}
#endif
