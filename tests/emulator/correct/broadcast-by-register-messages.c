// machine sw26010
// The receivers say by register messages that they have read the buffer.
#define RESULT (k / 8 == 2 ? 16 * 3 : 0)
#include "pitfall.h"
#ifdef SLAVE
#include <simd.h>
__thread_local double got[16];
__thread_local volatile int reply;
void work(struct job *j)
{
    double sum = 0;
    intv8 word = 0;
    reply = 0;
    athread_syn(ARRAY_SCOPE, 0xffff);
    for (int k = 0; _ROW == 2 && k < 3; k++) {
        if (_COL == 0) {
            for (int i = 1; k && i < 8; i++)
                asm volatile("getr %0" : "=r"(word));
            athread_get(BCAST_MODE, j->in, got, sizeof got, (void *)&reply, 1 << 2, 0, 0);
        }
        while (reply != k + 1)
            ;
        for (int i = 0; i < 16; i++)
            sum += got[i] - i + 1;
        if (_COL && k < 2)
            asm volatile("putr %0,%1" : : "r"(word), "r"(0));
    }
    j->out[_MYID] = sum;
}
#endif
