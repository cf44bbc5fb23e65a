/* Counting what host code does: what the runtime needs of swb_host.c. */
#ifndef SWB_HOST_H
#define SWB_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "swb_cache.h"

/* Whether any host file of the program was compiled for counting (trace header, flag bit 2). */
bool swb_host_any(void);

/* What a block has done since it was last told of; `number` counts the blocks that ever did something, from 0. */
typedef void swb_host_teller(uint32_t number, uint64_t passes, const struct swb_cache_counts *counts);

/* Tell of every block that has run since the last call, in the order of their numbers. */
void swb_host_tell(swb_host_teller *teller);

/* Return the mix of operations of the block of this number, which has been told. */
const char *swb_host_mix(uint32_t number);

/* Write a line "block MIX FILE:LINE", with `ahead` ahead of it, for every numbered block. */
void swb_host_write_names(FILE *out, const char *ahead);

#endif
