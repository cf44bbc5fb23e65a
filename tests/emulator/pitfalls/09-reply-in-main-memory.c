// row 9, machine sw26010, mode eager checked, expect SW617 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[64];
volatile int reply;
void work(struct job *j)
{
    GET(j->in, a, sizeof a); /* HERE */
}
#endif
