// machine sw26010 sw26010-pro
// An element that was never fetched is read under a condition alone that no iteration meets.
#define RESULT 16.0
#include "pitfall.h"
#ifdef SLAVE
__thread_local double never[1], b[8];
void work(struct job *j)
{
    double *const unread = never;
    long n = 8 + 0 * (long)j->in[0];
    for (long k = 0; k < n; k++)
        b[k] = 0;
    for (long i = 0; i < n; i += 2)
        for (long k = 1; k < n; k += 2) {
            unsigned v = 3u - (unsigned)(i % 4);
            b[i] = ((1u + v <= 1 ? unread[0] : i) + 1) * 1.0;
        }
    double sum = 0;
    for (long k = 0; k < n; k++)
        sum += b[k];
    j->out[_MYID] = sum;
}
#endif
