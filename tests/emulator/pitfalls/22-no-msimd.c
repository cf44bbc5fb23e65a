// row 22, machine sw26010-pro, mode compile, expect msimd exit 1
// flags none
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
void work(struct job *j)
{
    athread_dma_get(a, j->in, sizeof a); /* HERE */
}
#endif
