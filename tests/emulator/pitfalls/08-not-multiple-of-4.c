// row 8, machine sw26010, mode eager late checked, expect SW613 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    GET((char *)j->in + 2, a, 64); /* HERE */
}
#endif
