/* Counting the model cycles of slave code: what the runtime needs of swb_count.c. */
#ifndef SWB_COUNT_H
#define SWB_COUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a probe says of the access behind it; probes.py has these numbers, too. */
enum { SWB_PROBE_BYTES = 0xff, SWB_PROBE_LOAD = 0x100, SWB_PROBE_STORE = 0x200 };

/* Whether any slave file of the program was compiled for counting (trace header, flag bit 0). */
bool swb_count_any(void);

/* Give the calling CPE's thread counters of its own; call before its first slave function. */
void swb_count_start(void);

/* Say where the calling CPE's stack and statics end: below lie 8 MiB that are no main memory. */
void swb_count_place(char *top);

/* The runtime's own, if it is there: called ahead of each access of other memory. */
void swb_count_direct(const void *p, unsigned what, uintptr_t pc) __attribute__((weak));

/* Return the model cycles that the calling CPE has computed since its last call of this function. */
uint64_t swb_count_take(void);

/* Write the profile's "lines": a JSON array of {"file", "line", "passes", "cycles"} over all CPEs. */
void swb_count_write(FILE *out);

#endif
