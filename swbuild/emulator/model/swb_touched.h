/* What counted host code tells the runtime of the memory that it touches, if the runtime is there: see touched.c. */
#ifndef SWB_TOUCHED_H
#define SWB_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a line at this address can be taken in as things are; if not, swb_touched_prepare() makes room for it. */
bool swb_touched_ready(uint64_t address) __attribute__((weak));
void swb_touched_prepare(void) __attribute__((weak));

/* The host's cache looks at a line of main memory.  It touches no vector register. */
void swb_touched_line(uint64_t address, bool store) __attribute__((weak));

#endif
