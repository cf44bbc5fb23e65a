// row 5, machine sw26010-pro, mode checked, expect SW660 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8];
__thread_local volatile int reply, mail, sent;
void work(struct job *j)
{
    reply = mail = sent = 0;
    athread_ssync_array();
    if (_MYID == 0) {
        for (int i = 0; i < 8; i++)
            a[i] = i;
        athread_dma_iput(j->out, a, sizeof a, &reply); /* THERE */ /* OR */
        athread_dma_wait_value(&reply, 1);
        athread_rma_iput(&a[0], &sent, 8, 1, &a[0], &mail); /* the message overtakes the data */
        athread_rma_wait_value(&sent, 1);
    } else if (_MYID == 1) {
        athread_rma_wait_value(&mail, 1);
        athread_dma_get(a, j->out, sizeof a); /* HERE */
        j->out[100] = a[7];
    }
    athread_ssync_array();
}
#endif
