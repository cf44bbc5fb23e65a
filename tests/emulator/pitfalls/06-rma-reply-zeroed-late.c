// row 6, machine sw26010-pro, mode checked, expect SW667 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8], b[8];
__thread_local volatile int mail, sent;
void work(struct job *j)
{
    for (int i = 0; i < 8; i++)
        a[i] = b[i] = i;
    if (_MYID == 0) {
        sent = 0;
        athread_rma_iput(a, &sent, sizeof a, 1, b, &mail); /* nobody has said that CPE 1 is ready */
        athread_rma_wait_value(&sent, 1);
    } else if (_MYID == 1) {
        mail = 0; /* HERE */
    }
}
#endif
