/* The order of what CPEs do, by vector clocks: every CPE counts its own releases; a barrier, a message, a lock or
 * a completion passes what one CPE knows to another. */
#include "check.h"

void swemu_clock_learn(struct cpe *c, const uint32_t *from)
{
    for (int k = 0; k < SWEMU_CPES; k++)
        if (from[k] > c->check->knows[k])
            c->check->knows[k] = from[k];
}

void swemu_clock_tick(struct cpe *c) { c->check->knows[c->pen]++; }

/* At a spawn with nobody running, all that happened before is known to all. */
void swemu_check_spawn(void)
{
    if (!swemu.checked)
        return;
    uint32_t all[SWEMU_CPES] = {0};
    for (int k = 0; k < swemu.count; k++) {
        struct cpe *c = swemu.cpes[k];
        if (all[c->pen] < c->check->knows[c->pen])
            all[c->pen] = c->check->knows[c->pen];
    }
    for (int k = 0; k < swemu.count; k++) {
        swemu_fetched_spawn(swemu.cpes[k]);
        swemu_clock_learn(swemu.cpes[k], all);
        swemu.cpes[k]->check->flushed = swemu.cpes[k]->check->knows[swemu.cpes[k]->pen];
        swemu_clock_tick(swemu.cpes[k]);
    }
}

/* The CPE's data cache is written back. */
void swemu_check_flush(struct cpe *c)
{
    if (!swemu.checked)
        return;
    c->check->flushed = c->check->knows[c->pen];
    swemu_clock_tick(c);
}

/* The CPEs of mask meet. */
void swemu_check_meet(struct cpe *c, uint64_t mask)
{
    if (!swemu.checked)
        return;
    uint32_t all[SWEMU_CPES] = {0};
    struct cpe *const *group = &swemu.cpes[c->cg * SWEMU_CPES];
    for (uint64_t left = mask; left; left &= left - 1)
        for (int k = 0; k < SWEMU_CPES; k++) {
            uint32_t known = group[__builtin_ctzll(left)]->check->knows[k];
            all[k] = known > all[k] ? known : all[k];
        }
    for (uint64_t left = mask; left; left &= left - 1) {
        struct cpe *other = group[__builtin_ctzll(left)];
        swemu_clock_learn(other, all);
        swemu_clock_tick(other);
    }
}

/* One CPE tells some others (a register message, an RMA): they know it when they next wait or receive. */
void swemu_check_send(struct cpe *c, uint64_t to, int unused)
{
    (void)unused;
    if (!swemu.checked)
        return;
    for (uint64_t left = to; left; left &= left - 1) {
        uint32_t *inbox = swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)]->check->inbox;
        for (int k = 0; k < SWEMU_CPES; k++)
            inbox[k] = c->check->knows[k] > inbox[k] ? c->check->knows[k] : inbox[k];
    }
    swemu_clock_tick(c);
}

void swemu_check_receive(struct cpe *c, int unused)
{
    (void)unused;
    if (swemu.checked)
        swemu_clock_learn(c, c->check->inbox);
}

static struct sync_word *sync_word(const volatile void *address)
{
    static struct sync_word *buckets[1024];
    struct sync_word **link = &buckets[((uintptr_t)address >> 2) % 1024];
    while (*link && (*link)->address != address)
        link = &(*link)->next;
    if (!*link) {
        *link = swemu_zeroed(sizeof **link);
        (*link)->address = address;
    }
    return *link;
}

void swemu_check_acquire(struct cpe *c, const volatile void *address)
{
    if (swemu.checked)
        swemu_clock_learn(c, sync_word(address)->knows);
}

void swemu_check_release(struct cpe *c, const volatile void *address)
{
    if (!swemu.checked)
        return;
    uint32_t *word = sync_word(address)->knows;
    for (int k = 0; k < SWEMU_CPES; k++)
        word[k] = c->check->knows[k] > word[k] ? c->check->knows[k] : word[k];
    swemu_clock_tick(c);
}
