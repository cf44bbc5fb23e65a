// row overrun, machine sw26010, mode checked, expect SW623 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local char text[5], more[5];
void work(struct job *j)
{
    for (int i = 0; i < 5; i++)
        text[i] = more[i] = 'x';
    text[4 + (j->n > 1)] = 0; /* HERE */
    j->out[_MYID] = text[0] + more[0];
}
#endif
