// row copy, machine sw26010, mode checked, expect SW663 exit 86
#include "pitfall.h"
#ifdef SLAVE
#include <string.h>
__thread_local double a[64];
void work(struct job *j)
{
    memcpy(&j->out[_MYID], &a[3], sizeof a[3]); /* HERE */
}
#endif
