// machine sw26010 sw26010-pro
// Every CPE has one element of each row: it fetches rows as boxes, changes its elements, and puts only those.
#define RESULT (k + 32 * 64. + 3)
#include "pitfall.h"
#ifdef SLAVE
#include <string.h>
enum { ROWS = 32, STEP = 4, ROW = 64 };
__thread_local double box[2][STEP * ROW], own[STEP];
__thread_local volatile int reply;
static void wait_for(int n)
{
    while (reply != n)
        ;
}
/* The same on the stack, which other functions use then. */
static double on_stack(const double *from, int me)
{
    double here[ROW];
    reply = 0;
    GET((void *)from, here, sizeof here);
    wait_for(1);
    return here[me];
}
static double other_frame(int n)
{
    volatile double here[ROW];
    double sum = 0;
    for (int i = 0; i < ROW; i++)
        here[i] = n;
    for (int i = 0; i < ROW; i++)
        sum += here[i] - n;
    return sum;
}
void work(struct job *j)
{
    int me = _MYID;
    double sum = 0;
    for (int row = 0; row < ROWS; row += STEP) {
        double *now = box[row / STEP % 2], *at = j->in + row * ROW;
        reply = 0;
        GET(at, now, STEP * ROW * 8);
        wait_for(1);
        for (int i = 0; i < STEP; i++)
            own[i] = now[i * ROW + me] += 1;
        for (int i = 0; i < STEP; i++)
            PUT(&own[i], at + i * ROW + me, 8);
        wait_for(1 + STEP);
    }
    for (int step = 0; step < 2; step++) { /* in blocks, into ldm_malloc: rows from me on, as wide as it goes */
        double *block = ldm_malloc(2 * ROW * 8);
        reply = 0;
        athread_get(PE_MODE, j->in, block, 2 * ROW * 8, (void *)&reply, 0, ROW * 8, ROW * 8);
        wait_for(1);
        block[me] += 1;
        block[ROW + me] += 1;
        athread_put(PE_MODE, block + me, j->in + me, 8, (void *)&reply, 0, 0);
        athread_put(PE_MODE, block + ROW + me, j->in + 2 * ROW + me, 8, (void *)&reply, 0, 0);
        wait_for(3);
        memset(block, 0, 2 * ROW * 8); /* what nobody used is overwritten */
        for (int i = 0; i < 2 * ROW; i++)
            sum += block[i];
        ldm_free(block, 2 * ROW * 8);
        asm volatile("memb");
    }
    sum += on_stack(j->in, me) - (me + 3) + other_frame(7);
    asm volatile("memb");
    j->out[me] = sum + j->in[me] + ROWS * ROW;
}
#endif
