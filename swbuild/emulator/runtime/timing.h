/* Model time while the program runs: its events go to the replay as they come.  All but swemu_timing_hold with the
 * trace's lock held. */
#ifndef SWEMU_TIMING_H
#define SWEMU_TIMING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "swb_trace.h"

struct cpe;

/* `flags`: those of a trace's header. */
void swemu_timing_open(uint32_t flags);

/* Take over the next records of a CPE or the host.  Return whether it is far ahead of the others. */
bool swemu_timing_feed(const struct swb_trace_record *records, int count);

/* Make known what the host's block of this number asks of it. */
void swemu_timing_block(uint32_t number, const char *mix);

/* Return the CPE, or the host, whose records the replay lacks. */
int swemu_timing_lacks(void);

/* No more records come; `names` writes what their numbers mean. */
void swemu_timing_close(void (*names)(FILE *to));

/* A CPE that is far ahead lets those run whose records the replay lacks. */
void swemu_timing_hold(struct cpe *c);

#endif
