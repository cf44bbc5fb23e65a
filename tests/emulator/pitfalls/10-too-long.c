// row 10, machine sw26010-pro, mode eager checked, expect SW612 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
void work(struct job *j)
{
    athread_dma_get(a, j->in, 1 << 18); /* HERE */
}
#endif
