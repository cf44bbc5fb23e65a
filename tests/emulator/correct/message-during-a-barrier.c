// machine sw26010
// A message comes while its receiver waits in a barrier of the row, which it may not leave for that.
#define RESULT (k % 8 == 1 ? 3 * 7 + 3 : 0)
#include "pitfall.h"
#ifdef SLAVE
#include <simd.h>
static volatile int arrived[8];
void work(struct job *j)
{
    intv8 word = 7;
    int sum = 0;
    for (int k = 1; k <= 3; k++) {
        if (_COL == 7) {
            asm volatile("putr %0,%1" : : "r"(word), "r"(1));
            asm volatile("putr %0,%1" : : "r"(word), "r"(6));
        }
        if (_COL == 6) {
            asm volatile("getr %0" : "=r"(word));
            arrived[_ROW] = k;
        }
        athread_syn(ROW_SCOPE, 0xff);
        if (_COL == 1) {
            sum += arrived[_ROW] == k;
            asm volatile("getr %0" : "=r"(word));
            sum += ((int *)&word)[0];
        }
        athread_syn(ROW_SCOPE, 0xff);
    }
    j->out[_MYID] = sum;
}
#endif
