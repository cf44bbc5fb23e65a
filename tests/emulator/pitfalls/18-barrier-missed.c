// row 18, machine sw26010, mode eager late checked, expect SW640 exit 87
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    if (_MYID != 13)
        athread_syn(ARRAY_SCOPE, 0xffff); /* HERE */
}
#endif
