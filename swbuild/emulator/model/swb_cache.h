/* The management core's data caches: two levels, write-back, write-allocate, least recently used line out.
 *
 * Addresses are taken page by page: the pages of a program are numbered as it first touches them, and the
 * number, not the address, says where in the second level a page's lines lie.  So what is counted is the same
 * wherever the system has put the program. */
#ifndef SWB_CACHE_H
#define SWB_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct swb_cache_counts {
    uint64_t second; /* lines that the first level lacked and the second had */
    uint64_t filled; /* lines that came from main memory */
    uint64_t written; /* changed lines that went back to it */
};

/* Say where the stack begins: addresses around are taken relative to it. */
void swb_cache_stack(const void *top);

/* One access; what it misses is added to `counts`. */
void swb_cache_access(uint64_t address, bool store, struct swb_cache_counts *counts);

#endif
