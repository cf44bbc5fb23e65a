/* Rows are dealt out to the CPEs in turn: three rows in, the middle one's new values out. */
#include <slave.h>
#include "stencil.h"

__thread_local struct stencil job;
__thread_local double in[3][WIDTH], out[WIDTH];
__thread_local volatile int reply;

static void wait_for(int n)
{
    while (reply != n)
        ;
}

void stencil(struct stencil *s)
{
    int i, j;
    reply = 0;
    athread_get(PE_MODE, s, &job, sizeof job, (void *)&reply, 0, 0, 0);
    wait_for(1);
    for (i = 1 + _MYID; i <= job.rows; i += 64) {
        reply = 0;
        athread_get(PE_MODE, (void *)(job.from + (i - 1) * WIDTH), in, sizeof in, (void *)&reply, 0, 0, 0);
        wait_for(1);
        for (j = 1; j < WIDTH - 1; j++)
            out[j] = 0.2 * (in[1][j] + in[0][j] + in[2][j] + in[1][j - 1] + in[1][j + 1]);
        reply = 0;
        athread_put(PE_MODE, out + 1, job.to + i * WIDTH + 1, (WIDTH - 2) * sizeof(double), (void *)&reply, 0, 0);
        wait_for(1);
    }
}
