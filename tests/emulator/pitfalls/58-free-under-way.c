// row free, machine sw26010, mode late random:2 checked, expect SW661 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    double *a = ldm_malloc(64 * 8);
    GET(j->in, a, 64 * 8); /* THERE */
    ldm_free(a, 64 * 8); /* HERE */
    while (reply != 1)
        ;
}
#endif
