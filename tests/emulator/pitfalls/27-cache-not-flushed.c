// row 27, machine sw26010-pro, mode checked, expect SW668 exit 86
// environment SWBUILD_EMU_CACHE_KB=32
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8];
void work(struct job *j)
{
    for (int i = 0; i < 8; i++)
        j->out[8 * _MYID + i] = i; /* THERE */
    athread_dma_get(a, j->out + 8 * _MYID, sizeof a); /* HERE */
}
#endif
