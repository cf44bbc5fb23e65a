#include "swb_arena.h"
#include "swb_state.h"

void swb_counts_clear(struct swb_counts *counts)
{
    counts->epoch++;
    counts->used = 0;
}

/* Return the place of the word, or that where it is to stand: one of another epoch. */
static struct swb_count *find(const struct swb_counts *counts, uint32_t reply)
{
    uint32_t at = reply * 2654435761u >> 7;
    for (;; at++) {
        struct swb_count *slot = &counts->slots[at & (counts->room - 1)];
        if (slot->epoch != counts->epoch || slot->reply == reply)
            return slot;
    }
}

static void widen(struct swb_counts *counts)
{
    struct swb_counts old = *counts;
    counts->room = old.room ? 2 * old.room : 16;
    counts->slots = swb_arena_take(counts->room * sizeof *counts->slots);
    for (uint32_t k = 0; k < old.room; k++)
        if (old.slots[k].epoch == old.epoch)
            *find(counts, old.slots[k].reply) = old.slots[k];
    swb_arena_give(old.slots, old.room * sizeof *old.slots);
}

/* Return the count of the word, made on first use. */
struct swb_count *swb_counts_of(struct swb_counts *counts, uint32_t reply)
{
    if (!counts->epoch)
        counts->epoch = 1;
    if (2 * counts->used >= counts->room)
        widen(counts);
    struct swb_count *found = find(counts, reply);
    if (found->epoch != counts->epoch) {
        *found = (struct swb_count){reply, counts->epoch, 0, 0};
        counts->used++;
    }
    return found;
}
