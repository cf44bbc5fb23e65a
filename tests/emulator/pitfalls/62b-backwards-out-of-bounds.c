// row strides, machine sw26010-pro, mode eager late checked, expect SW610 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8];
void work(struct job *j)
{
    athread_dma_get_stride(a, j->in + 10, sizeof a, 8, -24); /* HERE */
    j->out[_MYID] = a[7];
}
#endif
