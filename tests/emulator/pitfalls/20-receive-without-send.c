// row 20, machine sw26010, mode eager late checked, expect SW640 exit 87
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    double v = _MYID;
    if (_COL == 0)
        REG_PUTR(v, 1);
    if (_COL == 1) {
        REG_GETR(v);
        REG_GETR(v); /* HERE */
    }
}
#endif
