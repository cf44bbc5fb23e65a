// row 36, machine sw26010, mode eager checked, expect SW641 exit -8
// environment SWBUILD_EMU_FPE=1
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    volatile double zero = j->in[0];
    j->out[_MYID] = 1 / zero; /* HERE */
}
#endif
