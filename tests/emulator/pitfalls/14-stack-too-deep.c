// row 14, machine sw26010, mode eager checked, expect SW621 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[7000];
__thread_local volatile int reply;
static void deeper(struct job *j)
{
    double b[2000];
    reply = 0;
    GET(j->in, b, sizeof b); /* HERE */
    while (reply != 1)
        ;
    j->out[_MYID * 64] = b[7] + a[0];
}
void work(struct job *j)
{
    a[0] = 1;
    deeper(j); /* OR */
}
#endif
