// row partrace, machine sw26010-pro, mode checked, expect SW660 exit 86
// A box is fetched, another CPE writes an element of it, and the box is sent on by RMA.
#include "pitfall.h"
#ifdef SLAVE
__thread_local double box[32], inbox[32], one[1];
__thread_local volatile int reply, mail, sent;
void work(struct job *j)
{
    reply = mail = sent = 0;
    athread_ssync_array();
    if (_MYID == 2)
        athread_dma_get(box, j->in, sizeof box); /* HERE */
    if (_MYID == 3) {
        one[0] = 1;
        athread_dma_put(j->in + 7, one, 8); /* THERE */
    }
    if (_MYID == 2) {
        athread_ssync(ROW_SCOPE, 0x14); /* with CPE 4 */
        athread_rma_iput(box, &sent, sizeof box, 5, inbox, &mail);
        athread_rma_wait_value(&sent, 1);
    }
    if (_MYID == 4) {
        athread_dma_get(one, j->in, 8);
        athread_ssync(ROW_SCOPE, 0x14);
    }
    if (_MYID == 5)
        athread_rma_wait_value(&mail, 1);
    athread_ssync_array();
}
#endif
