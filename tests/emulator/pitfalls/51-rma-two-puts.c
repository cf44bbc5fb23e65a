// row ldmrace, machine sw26010-pro, mode checked, expect SW669 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8], inbox[12];
__thread_local volatile int mail, sent;
void work(struct job *j)
{
    for (int i = 0; i < 8; i++)
        a[i] = _MYID;
    mail = sent = 0;
    athread_ssync_array();
    if (_MYID == 3 || _MYID == 4) { /* the parts of the two overlap */
        athread_rma_iput(a, &sent, sizeof a, 9, inbox + 4 * (_MYID - 3), &mail); /* HERE */
        athread_rma_wait_value(&sent, 1);
    }
    if (_MYID == 9) {
        athread_rma_wait_value(&mail, 2);
        j->out[0] = inbox[5];
    }
}
#endif
