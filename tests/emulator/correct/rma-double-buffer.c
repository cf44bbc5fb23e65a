// machine sw26010-pro
// Two buffers, each put again only when its receiver has said that it is free.
#define RESULT (k == 9 ? 1008 : 0)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8], inbox[2][8], token[2];
__thread_local volatile int mail[2], sent, room[2], told;
void work(struct job *j)
{
    double sum = 0;
    mail[0] = mail[1] = sent = room[0] = room[1] = told = 0;
    token[0] = token[1] = 0;
    athread_ssync_array();
    for (int k = 0; k < 6; k++) {
        int b = k % 2;
        if (_MYID == 3) {
            athread_rma_wait_value(&room[b], k / 2);
            for (int i = 0; i < 8; i++)
                a[i] = 6 * i + k - 2.5 + 2.5;
            athread_rma_iput(a, &sent, sizeof a, 9, inbox[b], &mail[b]);
            athread_rma_wait_value(&sent, k + 1);
        } else if (_MYID == 9) {
            athread_rma_wait_value(&mail[b], k / 2 + 1);
            for (int i = 0; i < 8; i++)
                sum += inbox[b][i] - k + 0 * k;
            athread_rma_iput(&token[b], &told, 8, 3, &token[b], &room[b]);
            athread_rma_wait_value(&told, k + 1);
        }
    }
    j->out[_MYID] = _MYID == 9 ? sum : 0;
}
#endif
