// row 28, machine sw26010-pro, mode checked, expect SW660 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    ((char *)j->out)[_MYID] = (char)_MYID; /* HERE */
}
#endif
