// machine sw26010-pro
// Two CPEs put to the two halves of one buffer, and two more to neighbouring words of another.
#define RESULT (k == 9 ? 3 * 4 + 4 * 4 + 6 + 7 : 0)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[4], inbox[8];
__thread_local int one, words[2];
__thread_local volatile int mail, sent;
void work(struct job *j)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        a[i] = _MYID;
    for (int i = 0; i < 8; i++)
        inbox[i] = -1;
    words[0] = words[1] = -1;
    one = _MYID;
    mail = sent = 0;
    athread_ssync_array();
    if (_MYID == 3 || _MYID == 4)
        athread_rma_put(a, sizeof a, 9, inbox + 4 * (_MYID - 3), &mail);
    if (_MYID == 6 || _MYID == 7)
        athread_rma_put(&one, 4, 9, &words[_MYID - 6], &mail);
    if (_MYID == 9) {
        athread_rma_wait_value(&mail, 4);
        for (int i = 0; i < 8; i++)
            sum += inbox[i];
        sum += words[0] + words[1];
    }
    j->out[_MYID] = sum;
}
#endif
