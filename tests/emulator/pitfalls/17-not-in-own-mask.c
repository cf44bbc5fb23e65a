// row 17, machine sw26010, mode eager checked, expect SW630 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    athread_syn(ROW_SCOPE, 0x0f); /* HERE */
}
#endif
