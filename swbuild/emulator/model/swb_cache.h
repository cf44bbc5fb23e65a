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

/* Whether an address lies in the stack. */
bool swb_cache_of_stack(uint64_t address);

/* Whether another access can be taken in as things are; if not, swb_cache_prepare() makes room. */
bool swb_cache_ready(void);
void swb_cache_prepare(void);

/* One access; what it misses is added to `counts`.  It touches no vector register. */
void swb_cache_access(uint64_t address, bool store, struct swb_cache_counts *counts);

/* Lines, by their low bits, that are the ones used last in their set of the first level: another load of such a line
 * changes nothing.  In the second row are those that were changed, too: no store does anything to them.  Counted code
 * looks here before it calls. */
#define SWB_CACHE_KNOWN 256
extern uint64_t __swemu_host_lines[2][SWB_CACHE_KNOWN];

#endif
