// row 29, machine sw26010, mode checked, expect SW664 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
__thread_local volatile int reply;
void work(struct job *j)
{
    GET(j->in, a, sizeof a); /* HERE */
    while (reply < 1)
        ;
}
#endif
