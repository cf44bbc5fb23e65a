/* Cycle counters. */
#include <time.h>

#include "swemu.h"

unsigned long __swemu_cycles(void);
unsigned long __swemu_cycles(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double hz = IS_PRO ? 2.25 : 1.45;
    return (unsigned long)((double)(t.tv_sec * 1000000000L + t.tv_nsec) * hz);
}
