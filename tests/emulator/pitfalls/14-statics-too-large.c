// row 14, machine sw26010, mode link, expect SW620 exit 1
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[8192], b[64];
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    a[0] = b[0] = 1;
}
#endif
