// row bounds, machine sw26010-pro, mode checked, expect SW610 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    if (_MYID == 9)
        j->out[N + 1] = 1; /* HERE */
}
#endif
