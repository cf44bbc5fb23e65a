/* Counting the model cycles of slave code: what the runtime needs of swb_count.c. */
#ifndef SWB_COUNT_H
#define SWB_COUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Whether any slave file of the program was compiled for counting (trace header, flag bit 0). */
bool swb_count_any(void);

/* Give the calling CPE's thread counters of its own; call before its first slave function. */
void swb_count_start(void);

/* Return the model cycles that the calling CPE has computed since its last call of this function. */
uint64_t swb_count_take(void);

/* Write the profile's "lines": a JSON array of {"file", "line", "passes", "cycles"} over all CPEs. */
void swb_count_write(FILE *out);

#endif
