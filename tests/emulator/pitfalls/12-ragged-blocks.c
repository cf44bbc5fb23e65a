// row 12, machine sw26010, mode checked, expect SW614 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
__thread_local volatile int reply;
void work(struct job *j)
{
    reply = 0;
    athread_get(PE_MODE, j->in, a, 40 * 8, (void *)&reply, 0, 64, 16 * 8); /* HERE */
    while (reply != 1)
        ;
}
#endif
