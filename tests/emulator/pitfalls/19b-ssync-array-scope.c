// row 19b, machine sw26010-pro, mode eager checked, expect SW631 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    athread_ssync(ARRAY_SCOPE, 0xffff); /* HERE */
}
#endif
