// row 21, machine sw26010-pro, mode eager checked, expect SW671 exit 86
#include "pitfall.h"
#ifdef SLAVE
#include <simd.h>
__thread_local double a[64] __attribute__((aligned(64)));
void work(struct job *j)
{
    doublev8 v;
    for (int i = 0; i < 64; i++)
        a[i] = i;
    simd_load(v, a + 4); /* HERE */
    simd_store(v, a);
    j->out[_MYID] = a[0];
}
#endif
