// row overrun, machine sw26010, mode checked, expect SW623 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[60], b[8];
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    b[0] = 1;
    GET(j->in, a, 64 * 8); /* HERE */
    while (reply != 1)
        ;
    j->out[_MYID] = a[0] + b[0];
}
#endif
