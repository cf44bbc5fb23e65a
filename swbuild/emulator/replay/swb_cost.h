/* What things cost: the formulas of swbuild/machine/cost, in C.  A test compares the two over a grid. */
#ifndef SWB_COST_H
#define SWB_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "swb_numbers.h"

/* requests.py: how a DMA descriptor falls on the memory controller's requests. */
struct swb_requests {
    uint64_t blocks, touched, full, merges, doubled;
};

struct swb_requests swb_requests_of(uint64_t address, uint64_t length, uint64_t block, uint64_t gap, uint64_t request);

/* transfers.py: the controller's work for a transfer, how long it takes at least, what lies behind the controller. */
double swb_work(const struct swb_numbers *numbers, bool is_put, const struct swb_requests *requests);
double swb_earliest_finish(const struct swb_numbers *numbers, bool is_put, const struct swb_requests *requests);
double swb_exposed(const struct swb_numbers *numbers, bool is_put, const struct swb_requests *requests);

/* host.py: the host's cycles of one pass of a block whose mix is `text`; negative for what is no mix. */
double swb_mix_cycles(const struct swb_numbers *numbers, const char *text);

/* host.py: the host's cycles that lines from the second level, from memory and back to it take. */
double swb_stalled(const struct swb_numbers *numbers, uint32_t second, uint32_t filled, uint32_t written);

#endif
