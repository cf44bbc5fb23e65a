/* Calls the assembly function whose number the command line gives, on every CPE, and compares what it leaves.
 * A further word says that the results do not matter.  The test writes programs.h: PROGRAM(number, name, value of y) for each. */
struct job {
    double in[4096], out[4096]; /* in[k] is k */
    int which;
};

#ifdef SLAVE
#include <slave.h>
#include <stdio.h>
#define PROGRAM(number, name, value) \
    extern void name(const double *x, double *y, struct job *j, long me);
#include "programs.h"
#undef PROGRAM
__thread_local double x[64] __attribute__((aligned(32)));
__thread_local double y[64] __attribute__((aligned(32)));
__thread_local volatile int reply;

double twice(double value) { return 2 * value; }

void work(struct job *j)
{
    for (int i = 0; i < 64; i++)
        x[i] = i + 100 * _MYID;
    switch (j->which) {
#define PROGRAM(number, name, value) \
    case number: name(x, y, j, _MYID); break;
#include "programs.h"
    }
    reply = 0;
    athread_put(PE_MODE, y, &j->out[64 * _MYID], 512, (void *)&reply, 0, 0);
    while (reply != 1)
        ;
}
#else
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>
extern void SLAVE_FUN(work)(struct job *);
static struct job job;

static double expected(int which, int i, int me)
{
    double x = i + 100 * me;
    switch (which) {
#define PROGRAM(number, name, value) \
    case number: return value;
#include "programs.h"
    }
    return x;
}

int main(int argc, char **argv)
{
    job.which = atoi(argv[1]);
    for (int k = 0; k < 4096; k++)
        job.in[k] = k;
    athread_init();
    athread_spawn(work, &job);
    athread_join();
    for (int k = 0; argc < 3 && k < 4096; k++)
        if (job.out[k] != expected(job.which, k % 64, k / 64)) {
            printf("y[%d] of CPE %d is %g, not %g\n", k % 64, k / 64, job.out[k], expected(job.which, k % 64, k / 64));
            return 1;
        }
    athread_halt();
    return 0;
}
#endif
