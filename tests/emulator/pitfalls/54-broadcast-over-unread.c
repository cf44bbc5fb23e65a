// row ldmrace, machine sw26010, mode checked, expect SW669 exit 86
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
        if (_MYID == 5) /* nobody has said that the last one has been read */
            athread_get(BCAST_MODE, j->in + 32 * k, got, sizeof got, (void *)&reply, 0xff, 0, 0); /* HERE */
        while (reply < k + 1)
            ;
        for (int i = 0; i < 32; i++)
            sum += got[i]; /* OR */
    }
    j->out[_MYID] = sum;
}
#endif
