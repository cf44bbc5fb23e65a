// row overrun, machine sw26010, mode checked, expect SW623 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8], b[8];
void work(struct job *j)
{
    for (int i = 0; i < 8; i++)
        b[i] = i;
    for (int i = 0; i <= 8 * (j->n > 1); i++)
        a[i] = i; /* HERE */
    j->out[_MYID] = a[3] + b[0];
}
#endif
