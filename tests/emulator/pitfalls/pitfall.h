/* What the small programs share: a job, LDM buffers, and a host that spawns `work` once. */
#ifndef PITFALL_H
#define PITFALL_H
#define N 4096
struct job {
    double *in, *out;
    int n;
};
#ifdef SLAVE
#include <slave.h>
#define GET(from, to, bytes) athread_get(PE_MODE, (from), (to), (bytes), (void *)&reply, 0, 0, 0)
#define PUT(from, to, bytes) athread_put(PE_MODE, (from), (to), (bytes), (void *)&reply, 0, 0)
#else
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>
extern void SLAVE_FUN(work)(struct job *);
#ifndef OWN_MAIN
int main(void)
{
    struct job job = {malloc(N * sizeof(double)), malloc(N * sizeof(double)), N};
    for (int i = 0; i < N; i++) {
        job.in[i] = i;
        job.out[i] = 0;
    }
    athread_init();
    athread_spawn(work, &job);
    athread_join();
#ifdef RESULT /* what a correct program leaves */
    for (int k = 0; k < 64; k++)
        if (job.out[k] != (RESULT))
            return printf("out[%d] is %g\n", k, job.out[k]), 1;
#endif
    free(job.in);
    free(job.out);
    return 0;
}
#endif
#endif
#endif
