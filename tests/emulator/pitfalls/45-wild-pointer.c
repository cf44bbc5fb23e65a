// row wild, machine sw26010-pro, mode checked, expect SW610 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    double *volatile wild = (double *)0x7ff5a5a57fa5a5a0; /* what a pointer reads as that was never set */
    if (_MYID == 9)
        *wild = j->n; /* HERE */
}
#endif
