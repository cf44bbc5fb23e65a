// row free, machine sw26010-pro, mode checked, expect SW623 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    double *a = ldm_malloc(64 * 8);
    for (int i = 0; i < 64; i++)
        a[i] = i;
    ldm_free(a, 64 * 8);
    j->out[_MYID] = a[63]; /* HERE */
}
#endif
