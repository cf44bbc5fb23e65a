// row partrace, machine sw26010, mode checked, expect SW660 exit 86
// A box is broadcast while a CPE writes an element of it, which one of the others uses.
#include "pitfall.h"
#ifdef SLAVE
__thread_local double box[32];
__thread_local volatile int reply;
void work(struct job *j)
{
    reply = 0;
    athread_syn(ARRAY_SCOPE, 0xffff);
    if (_MYID == 5)
        athread_get(BCAST_MODE, j->in, box, sizeof box, (void *)&reply, 0xff, 0, 0); /* OR */ /* HERE */
    if (_MYID == 3)
        j->in[7] = 1; /* THERE */
    while (reply != 1)
        ;
    j->out[_MYID] = box[_MYID == 40 ? 7 : 8];
}
#endif
