// row otherldm, machine sw26010, mode checked, expect SW666 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double mine[64];
double *volatile of_cpe_3;
void work(struct job *j)
{
    mine[_MYID] = 1; /* known to be in use: the owner may touch it without a further look */
    mine[5] += mine[_MYID];
    if (_MYID == 3)
        of_cpe_3 = mine;
    athread_syn(ARRAY_SCOPE, 0xffff);
    if (_MYID == 9)
        of_cpe_3[5] = 2; /* HERE */
    j->out[_MYID] = mine[_MYID];
}
#endif
