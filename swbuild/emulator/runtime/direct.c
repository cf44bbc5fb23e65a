/* Loads and stores of main memory without DMA: counted by the place where they stand.
 *
 * Checked code tells of them by its hooks.  Counted code calls __swemu_direct ahead of each access whose
 * address is not that of a variable or of the stack by its form (model/probes.py).
 */
#include "swb_count.h"
#include "swemu.h"

#pragma weak swb_count_any
extern const int swemu_instrumented __attribute__((weak));

/* Whether this program tells of its accesses. */
bool swemu_counts_direct(void) { return &swemu_instrumented || (&swb_count_any && swb_count_any()); }

void swemu_count_direct(struct cpe *c, uintptr_t pc, size_t bytes, bool write)
{
    struct site *s = swemu_site(c, pc, write ? OP_STORE : OP_LOAD);
    s->calls++;
    s->bytes += bytes;
    if (swemu.trace && !s->untold++) {
        s->next_untold = c->untold;
        c->untold = s;
    }
}

static bool is_own(const struct cpe *c, const char *p)
{
    return (p >= c->stack_lo && p < c->stack_hi) || (p >= c->heap && p < c->heap + HEAP_BYTES);
}

/* Counted code is about to access memory that is neither a variable of its own nor its stack. */
void swb_count_direct(const void *p, unsigned what, uintptr_t pc)
{
    struct cpe *c = swemu_self;
    if (!c || is_own(c, p))
        return;
    if (what & SWB_PROBE_LOAD)
        swemu_touch(p, what & SWB_PROBE_BYTES, false);
    if (what & SWB_PROBE_STORE)
        swemu_touch(p, what & SWB_PROBE_BYTES, true);
    if (what & SWB_PROBE_LOAD)
        swemu_count_direct(c, pc, what & SWB_PROBE_BYTES, false);
    if (what & SWB_PROBE_STORE)
        swemu_count_direct(c, pc, what & SWB_PROBE_BYTES, true);
}
