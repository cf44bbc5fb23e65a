// machine sw26010 sw26010-pro
// Blocks with gaps: none, of a row, and negative ones that walk backwards or get one block again and again.
#define RESULT (3 + 24 + 2 + 9)
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[4], b[8], c[4], d[6];
__thread_local volatile int reply;
static void strided(double *from, double *to, int bytes, int gap, int block)
{
    reply = 0;
    athread_get(PE_MODE, from, to, bytes, (void *)&reply, 0, gap, block);
    while (reply != 1)
        ;
}
void work(struct job *j)
{
    strided(j->in, a, 32, 0, 8);            /* gap 0: in one piece */
    strided(j->in, b, 64, 48, 16);          /* two of each eight */
    strided(j->in + 8, c, 32, -24, 8);      /* every second one, backwards */
    strided(j->in + 8, d, 48, -16, 16);     /* the same two again and again */
    reply = 0;
    athread_put(PE_MODE, c, j->out + 1024 + 8 * _MYID + 6, 32, (void *)&reply, -24, 8);
    while (reply != 1)
        ;
    j->out[_MYID] = a[3] + b[6] + c[3] + d[5];
}
#endif
