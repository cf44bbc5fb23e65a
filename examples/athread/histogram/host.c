/* Histogram with atomic operations on main memory: host side. */
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>
#include "histogram.h"

#define CHUNKS 150

extern void SLAVE_FUN(histogram)(struct histogram *);
static int next, bins[BINS], expected[BINS];

int main(void)
{
    struct histogram h;
    unsigned state = 1;
    int i, wrong = 0;
    h.keys = malloc(CHUNKS * CHUNK * sizeof(unsigned));
    h.chunks = CHUNKS;
    h.next = &next;
    h.bins = bins;
    for (i = 0; i < CHUNKS * CHUNK; i++) {
        state = state * 1664525u + 1013904223u;
        h.keys[i] = state >> 8;
        expected[h.keys[i] % BINS]++;
    }
    athread_init();
    athread_spawn(histogram, &h);
    athread_join();
    athread_halt();
    for (i = 0; i < BINS; i++)
        wrong += bins[i] != expected[i];
    printf("histogram of %d keys: %d wrong\n", CHUNKS * CHUNK, wrong);
    return wrong != 0;
}
