// row overrun, machine sw26010-pro, mode checked, expect SW623 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local float a[8], b[8];
void work(struct job *j)
{
    float sum = 0;
    for (int i = 0; i < 8; i++)
        a[i] = b[i] = i;
    for (int i = 0; i < 8; i++)
        sum += b[i - (j->n > 1)]; /* HERE */
    j->out[_MYID] = sum;
}
#endif
