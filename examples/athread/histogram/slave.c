/* Each CPE takes chunks from a common counter, counts in its LDM, and adds its counts to the common bins. */
#include <slave.h>
#include <string.h>
#include "histogram.h"

__thread_local struct histogram h;
__thread_local unsigned keys[CHUNK];
__thread_local int counts[BINS];
__thread_local volatile int reply;

static int take(int *next)
{
    int mine;
    asm volatile("faaw %0, 0(%1)" : "=r"(mine) : "r"(next) : "memory");
    return mine;
}

void histogram(struct histogram *job)
{
    int i, chunk;
    reply = 0;
    athread_get(PE_MODE, job, &h, sizeof h, (void *)&reply, 0, 0, 0);
    while (reply != 1)
        ;
    memset(counts, 0, sizeof counts);
    while ((chunk = take(h.next)) < h.chunks) {
        reply = 0;
        athread_get(PE_MODE, h.keys + chunk * CHUNK, keys, sizeof keys, (void *)&reply, 0, 0, 0);
        while (reply != 1)
            ;
        for (i = 0; i < CHUNK; i++)
            counts[keys[i] % BINS]++;
    }
    for (i = 0; i < BINS; i++)
        if (counts[i])
            updt_addw(counts[i], &h.bins[i]);
}
