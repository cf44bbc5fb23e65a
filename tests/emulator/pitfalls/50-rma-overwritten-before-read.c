// row ldmrace, machine sw26010-pro, mode checked, expect SW669 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8], inbox[8];
__thread_local volatile int mail, sent;
void work(struct job *j)
{
    mail = sent = 0;
    athread_ssync_array();
    if (_MYID == 0)
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 8; i++)
                a[i] = 8 * k + i;
            athread_rma_iput(a, &sent, sizeof a, 9, inbox, &mail); /* THERE */ /* OR */
            athread_rma_wait_value(&sent, k + 1); /* sent, but has CPE 9 read the one before? */
        }
    if (_MYID == 9)
        for (int k = 0; k < 3; k++) {
            athread_rma_wait_value(&mail, k + 1);
            for (int i = 0; i < 8; i++)
                j->out[8 * k + i] = inbox[i]; /* HERE */
        }
}
#endif
