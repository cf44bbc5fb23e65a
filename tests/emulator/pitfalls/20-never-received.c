// row 20, machine sw26010, mode checked, expect SW650 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    double v = _MYID;
    if (_ROW == 0)
        REG_PUTC(v, 7);
}
#endif
