// machine sw26010
// Broadcasts into the LDM of all, with a barrier before the next.
#define RESULT (31 * 32 * 2 + 48 * 4 * 32)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double got[32];
__thread_local volatile int reply;
void work(struct job *j)
{
    double sum = 0;
    reply = 0;
    athread_syn(ARRAY_SCOPE, 0xffff);
    for (int k = 0; k < 4; k++) {
        if (_MYID == 5)
            athread_get(BCAST_MODE, j->in + 32 * k, got, sizeof got, (void *)&reply, 0xff, 0, 0);
        while (reply != k + 1)
            ;
        for (int i = 0; i < 32; i++)
            sum += got[i];
        athread_syn(ARRAY_SCOPE, 0xffff);
        got[_MYID % 32] = -1; /* its own again */
        athread_syn(ARRAY_SCOPE, 0xffff);
    }
    j->out[_MYID] = sum;
}
#endif
