// row 20, machine sw26010, mode eager late checked, expect SW640 exit 87
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    double v = _MYID;
    for (int i = 0; i < 100; i++)
        if (_COL == 0)
            REG_PUTR(v, 7); /* HERE */
}
#endif
