// machine sw26010 sw26010-pro
// A CPE that has been kept from working for a while goes on computing: that is no loop that waits.
#define RESULT 1.0
#include "pitfall.h"
#ifdef SLAVE
#include <time.h>
void work(struct job *j)
{
    double x = 1.0 + 0 * j->in[0];
    if (_MYID == 63) {
        struct timespec pause = {0, 600000000};
        while (nanosleep(&pause, &pause))
            ;
        for (long n = 0; n < 40000000; n++)
            x = x * 0.5 + 0.5;
    }
    j->out[_MYID] = x;
}
#endif
