// row 3, machine sw26010, mode checked, expect SW665 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
__thread_local volatile int reply;
void work(struct job *j)
{
    reply = 0;
    GET(j->in, a, sizeof a); /* HERE */
}
#endif
