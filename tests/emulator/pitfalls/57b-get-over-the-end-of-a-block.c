// row overrun, machine sw26010-pro, mode checked, expect SW623 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    double *a = ldm_malloc(8 * 8), *b = ldm_malloc(8 * 8);
    b[0] = 1;
    athread_dma_get(a, j->in, 9 * 8); /* HERE */
    j->out[_MYID] = a[3] + b[0];
}
#endif
