// machine sw26010-pro
// Data, then a flag that the other side polls; then the flag goes back.
#define RESULT (k == 1 ? 28 * 4 : 0)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8], inbox[8];
__thread_local volatile int flag, sent;
__thread_local int value;
void work(struct job *j)
{
    double sum = 0;
    flag = sent = 0;
    athread_ssync_array();
    for (int k = 1; k <= 4; k++)
        if (_MYID == 0) {
            for (int i = 0; i < 8; i++)
                a[i] = i;
            athread_rma_put(a, sizeof a, 1, inbox, &sent);
            value = k;
            athread_rma_put(&value, 4, 1, (void *)&flag, &sent);
            while (flag != k)
                ;
        } else if (_MYID == 1) {
            while (flag != k)
                ;
            for (int i = 0; i < 8; i++)
                sum += inbox[i];
            value = k;
            athread_rma_put(&value, 4, 0, (void *)&flag, &sent);
        }
    j->out[_MYID] = sum;
}
#endif
