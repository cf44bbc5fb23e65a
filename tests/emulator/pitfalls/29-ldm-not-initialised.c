// row 29, machine sw26010, mode checked, expect SW663 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double sum;
void work(struct job *j)
{
    sum += _MYID; /* HERE */
    j->out[_MYID] = sum;
}
#endif
