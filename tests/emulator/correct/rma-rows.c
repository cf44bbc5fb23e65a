// machine sw26010-pro
// Broadcasts to a row by each of its CPEs in turn, with a barrier of the row between.
#define RESULT (8 * (k / 8) * 8 + 28)
#include "pitfall.h"
#ifdef SLAVE
__thread_local int a[16], got[16];
__thread_local volatile int mail, sent;
void work(struct job *j)
{
    int sum = 0;
    mail = sent = 0;
    athread_ssync(ROW_SCOPE, 0xff);
    for (int k = 0; k < 8; k++) {
        for (int i = 0; i < 16; i++)
            a[i] = _MYID;
        if (_COL == k) {
            athread_rma_row_ibcast(got, a, sizeof a, &sent, &mail);
            athread_rma_wait_value(&sent, 1);
        }
        athread_rma_wait_value(&mail, k + 1);
        sum += got[k];
        athread_ssync(ROW_SCOPE, 0xff);
    }
    athread_rma_row_bcast_coll(got, a, sizeof a, 2);
    j->out[_MYID] = sum + 0 * got[3];
}
#endif
