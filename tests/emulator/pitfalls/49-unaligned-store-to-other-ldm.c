// row remote, machine sw26010-pro, mode checked, expect SW666 exit 86
#include "pitfall.h"
#ifdef SLAVE
#include <simd.h>
__thread_local double mine[16];
double *volatile of_cpe_3;
void work(struct job *j)
{
    doublev8 v = {1, 2, 3, 4, 5, 6, 7, 8};
    if (_MYID == 3)
        of_cpe_3 = mine;
    athread_ssync_array();
    if (_MYID == 9)
        simd_storeu(v, of_cpe_3 + 1); /* HERE */
    athread_ssync_array();
    j->out[_MYID] = v[0];
}
#endif
