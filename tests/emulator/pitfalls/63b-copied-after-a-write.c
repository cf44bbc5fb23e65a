// row partrace, machine sw26010, mode checked, expect SW660 exit 86
// The same, but the element is only copied within the LDM.
#include "pitfall.h"
#ifdef SLAVE
#include <string.h>
__thread_local double box[32], one[1], copy[32];
__thread_local volatile int reply;
static void wait_for(int n)
{
    while (reply != n)
        ;
}
void work(struct job *j)
{
    reply = 0;
    if (_MYID == 2) {
        GET(j->in, box, sizeof box); /* HERE */
        wait_for(1);
    }
    if (_MYID == 10) { /* keeps its column waiting until CPE 3 is done */
        GET(j->in, one, 8);
        wait_for(1);
    }
    if (_MYID == 3) {
        one[0] = 1;
        PUT(one, j->in + 7, 8); /* THERE */
        wait_for(1);
    }
    if (_COL == 2)
        athread_syn(COL_SCOPE, 0xff);
    if (_MYID == 2) {
        memcpy(copy, box, sizeof box);
        j->out[0] = copy[8];
    }
}
#endif
