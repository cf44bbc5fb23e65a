// row overrun, machine sw26010, mode checked, expect SW623 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    double *a = ldm_malloc(8 * 8), *b = ldm_malloc(8 * 8);
    for (int i = 0; i < 8; i++)
        b[i] = i;
    for (int i = 0; i <= 8 * (j->n > 1); i++)
        a[i] = i; /* HERE */
    j->out[_MYID] = a[3] + b[0];
    ldm_free(a, 64);
    ldm_free(b, 64);
}
#endif
