// row partrace, machine sw26010, mode checked, expect SW660 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local int a[16], b[16];
__thread_local volatile int reply;
void work(struct job *j)
{
    for (int i = 0; i < 16; i++)
        a[i] = i;
    reply = 0;
    if (_MYID == 3)
        PUT(a, j->out, sizeof a); /* THERE */
    if (_MYID == 5)
        GET((char *)j->out + 60, b, 4); /* HERE */
    if (_MYID == 3 || _MYID == 5)
        while (reply != 1)
            ;
    if (_MYID == 5)
        j->out[100] = b[0];
}
#endif
