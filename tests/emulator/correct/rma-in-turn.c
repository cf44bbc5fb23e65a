// machine sw26010-pro
// One CPE after the other adds to CPE 0's variable; a volatile word in main memory says whose turn it is.
#define RESULT (k == 0 ? 128 : 0)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double total, mine;
__thread_local volatile int mail = 0;
volatile int turn;
void work(struct job *j)
{
    total = 0;
    athread_ssync_array();
    while (turn != _MYID)
        ;
    athread_rma_get(&mine, 8, 0, &total, &mail);
    mine += 2;
    athread_rma_put(&mine, 8, 0, &total, &mail);
    turn = _MYID + 1;
    athread_ssync_array();
    j->out[_MYID] = _MYID ? 0 : total;
}
#endif
