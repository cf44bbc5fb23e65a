// row crash, machine sw26010-pro, mode eager late, expect SW641 exit -11
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    if (_MYID == 9)
        *(volatile int *)16 = 1; /* HERE */
}
#endif
