// row race, machine sw26010, mode checked, expect SW660 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
__thread_local volatile int reply;
void work(struct job *j)
{
    for (int i = 0; i < 64; i++)
        a[i] = i;
    reply = 0;
    PUT(a, j->out + 32 * _MYID, sizeof a); /* HERE */
    while (reply != 1)
        ;
}
#endif
