// row ldmrace, machine sw26010-pro, mode checked, expect SW669 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local int a[16], got[16];
__thread_local volatile int mail, sent;
void work(struct job *j)
{
    int sum = 0;
    mail = sent = 0;
    athread_ssync_array();
    for (int k = 0; k < 8; k++) { /* each CPE of the row in turn */
        for (int i = 0; i < 16; i++)
            a[i] = i + k;
        if (_COL == k) {
            athread_rma_row_ibcast(got, a, sizeof a, &sent, &mail); /* HERE */
            athread_rma_wait_value(&sent, 1);
        }
        athread_rma_wait_value(&mail, k + 1);
        for (int i = 0; i < 16; i++)
            sum += got[i]; /* OR */
    }
    j->out[_MYID] = sum;
}
#endif
