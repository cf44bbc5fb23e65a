// row partrace, machine sw26010, mode checked, expect SW660 exit 86
// Two CPEs have every second element each, and put all of the box back: the last one wins.
#include "pitfall.h"
#ifdef SLAVE
__thread_local double box[32], one[1];
__thread_local volatile int reply;
static void wait_for(int n)
{
    while (reply != n)
        ;
}
void work(struct job *j)
{
    reply = 0;
    if (_MYID < 2) {
        GET(j->in, box, sizeof box); /* OR */
        wait_for(1);
        for (int i = _MYID; i < 32; i += 2)
            box[i] += 1;
        PUT(box, j->in, sizeof box); /* HERE */
        wait_for(2);
    }
}
#endif
