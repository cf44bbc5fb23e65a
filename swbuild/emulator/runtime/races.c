/* Checked mode: the shadow of memory, main memory and watched words of the LDM alike, and races on it.
 *
 * Each 4-byte word that CPEs touch has its last write and two last reads here, with the clock of who did
 * it.  An access is a race when the CPE does not know that clock.
 */
#define _GNU_SOURCE
#include <string.h>

#include "check.h"

static struct page *pages[PAGE_BUCKETS];
static uintptr_t site_pcs[65536];
static unsigned site_total = 1;
static const char *const access_names[] = {"a load",           "a store",          "a DMA get",   "a DMA put",
                                           "a transfer from it", "a transfer into it", "an RMA get", "an RMA put",
                                           "a DMA put of what was there"};

/* ---- sites: 16-bit names of program places ---- */

uint16_t swemu_check_site(uintptr_t pc)
{
    static uint16_t table[8192];
    size_t at = (pc * 0x9e3779b97f4a7c15ULL) >> 51;
    for (; table[at]; at = (at + 1) % 8192)
        if (site_pcs[table[at]] == pc)
            return table[at];
    if (site_total >= 8000)
        return 0;
    site_pcs[site_total] = pc;
    return table[at] = (uint16_t)site_total++;
}

struct page *swemu_check_page(struct cpe *c, uintptr_t address)
{
    uintptr_t number = address / PAGE_BYTES;
    if (LIKELY(c->check->last_page && c->check->last_page->number == number))
        return c->check->last_page;
    struct page **link = &pages[(number * 0x9e3779b97f4a7c15ULL) >> (64 - PAGE_BITS)];
    while (*link && (*link)->number != number)
        link = &(*link)->next;
    if (!*link) {
        *link = swemu_zeroed(sizeof **link);
        (*link)->number = number;
    }
    return c->check->last_page = *link;
}

static const char *const fixes[] = {
    "order the two with a barrier (after memb or athread_dma_barrier), or give each CPE its own elements",
    "let the owner say that the buffer is free (a barrier, or a message back) before the next transfer; give each sender "
    "its own part",
};

static void describe(uintptr_t address, const struct cpe *owner, char *where, size_t size)
{
    struct mem_block block;
    if (owner)
        swemu_ldm_describe(owner, (void *)address, where, size);
    else if (swemu_mem_find((void *)address, &block))
        snprintf(where, size, "byte %ld of '%s' (%ld bytes)", (long)((char *)address - block.lo), block.kind,
                 (long)(block.hi - block.lo));
    else
        snprintf(where, size, "%p", (void *)address);
}

/* `other` has touched the word before; what a get has fetched of it counts since its use, if one is given. */
void swemu_check_race(struct cpe *c, uintptr_t pc, int kind, uintptr_t address, const struct touched *other,
                      uintptr_t use)
{
    const struct cpe *owner = swemu_ldm_owner((void *)address);
    const char *code = owner ? "SW669" : "SW660";
    char where[256], of[64] = "", there[600], used[600], what_for[640] = "";
    if (swemu_reported(code, pc, site_pcs[other->site]))
        return;
    swemu_locate(site_pcs[other->site], there, sizeof there);
    describe(address, owner, where, sizeof where);
    if (owner)
        snprintf(of, sizeof of, " of CPE %d", owner->pen);
    if (use && use != pc) {
        swemu_locate(use, used, sizeof used);
        snprintf(what_for, sizeof what_for, "; what was fetched is used at %s", used);
    }
    swemu_problem(c, pc, code, fixes[owner != NULL],
                  "race on %s: %s by CPE %d and %s by CPE %d (row %d, column %d) at %s touch the same 4-byte "
                  "word, %s%s, and nothing orders them%s", owner ? "LDM" : "main memory", access_names[kind], c->pen,
                  access_names[other->kind], other->cpe, other->cpe / MESH_COLUMNS, other->cpe % MESH_COLUMNS, there, where, of, what_for);
}

static uint32_t flushed_by(int pen) { return swemu.cpes[pen]->check->flushed; }

/* With a data cache, what a CPE stores to main memory stays there until it flushes. */
static void unflushed(struct cpe *c, uintptr_t pc, int kind, const struct touched *last)
{
    char there[600];
    if (swemu_reported("SW668", pc, site_pcs[last->site]))
        return;
    swemu_locate(site_pcs[last->site], there, sizeof there);
    swemu_problem(c, pc, "SW668", "call flush_slave_cache before others look, or put by DMA",
                  "%s of memory that CPE %d has stored to at %s and not flushed from its data cache",
                  access_names[kind], last->cpe, there);
}

static bool unordered(const struct cpe *c, const struct touched *t) { return t->clock > c->check->knows[t->cpe]; }

/* A read takes the place of one that it follows, so that both of two CPEs at once are remembered. */
static struct touched *place_of_read(struct word *w, uint8_t cpe, const uint32_t *knew)
{
    return w->reads[0].cpe == cpe || w->reads[0].clock <= knew[w->reads[0].cpe] ? &w->reads[0] : &w->reads[1];
}

static void note_read(struct word *w, struct touched read, const uint32_t *knew)
{
    struct touched *place = place_of_read(w, read.cpe, knew);
    if (place->cpe != read.cpe || place->clock <= read.clock)
        *place = read;
}

/* What a CPE does to some words. */
struct act {
    struct cpe *c;
    struct touched now;
    uintptr_t pc;
    const uint32_t *knew;
    bool record;
};

static void look_at_cache(const struct act *a, const struct word *w, uintptr_t address)
{
    if (UNLIKELY(w->write.kind == STORES && swemu.cache && w->write.clock > flushed_by(w->write.cpe)) &&
        (a->now.kind == DMA_READS || w->write.cpe != a->c->pen) && !swemu_ldm_owner((void *)address))
        unflushed(a->c, a->pc, a->now.kind, &w->write);
}

/* Return whether the access races with an earlier one. */
static inline bool touch(const struct act *a, struct word *w, uintptr_t address)
{
    const struct touched *before = NULL;
    bool write = a->now.kind & 1;
    if (UNLIKELY(unordered(a->c, &w->write)))
        before = &w->write;
    for (int k = 0; k < 2 && write && !before; k++)
        if (UNLIKELY(unordered(a->c, &w->reads[k])))
            before = &w->reads[k];
    if (UNLIKELY(before != NULL))
        swemu_check_race(a->c, a->pc, a->now.kind, address, before, 0);
    look_at_cache(a, w, address);
    if (a->record && write)
        w->write = a->now;
    else if (a->record)
        note_read(w, a->now, a->knew);
    return before != NULL;
}

static inline bool add_read(const struct act *a, struct word *w, uintptr_t address)
{
    (void)address;
    note_read(w, a->now, a->knew);
    return false;
}

static bool is_split(const struct page *page, size_t group) { return page->split[group / 64] >> group % 64 & 1; }

static void split(struct page *page, size_t group)
{
    if (!page->words)
        page->words = swemu_zeroed(PAGE_BYTES / 4 * sizeof *page->words);
    for (size_t k = 0; k < GROUP_WORDS; k++)
        page->words[group * GROUP_WORDS + k] = page->groups[group];
    page->split[group / 64] |= 1ULL << group % 64;
}

/* All words of a split group have been touched: if they have come to the same state, it is their group's. */
static void join(struct page *page, size_t group)
{
    const struct word *words = &page->words[group * GROUP_WORDS];
    for (size_t k = 1; k < GROUP_WORDS; k++)
        if (memcmp(&words[k], &words[0], sizeof *words) != 0)
            return;
    page->groups[group] = words[0];
    page->split[group / 64] &= ~(1ULL << group % 64);
}

/* Do it to every word of [at, end); return whether it was a race anywhere. */
static inline __attribute__((always_inline)) bool walk(const struct act *a, uintptr_t at, uintptr_t end,
                                                       bool (*what)(const struct act *, struct word *, uintptr_t))
{
    bool raced = false;
    while (at < end) {
        struct page *page = swemu_check_page(a->c, at);
        size_t group = at % PAGE_BYTES / GROUP_BYTES;
        uintptr_t next = (at & ~(uintptr_t)(GROUP_BYTES - 1)) + GROUP_BYTES, stop = end < next ? end : next;
        bool whole = stop - at == GROUP_BYTES;
        if ((whole || !a->record) && LIKELY(!is_split(page, group))) {
            raced |= what(a, &page->groups[group], at);
            at = stop;
            continue;
        }
        if (!is_split(page, group))
            split(page, group);
        for (; at < stop; at += 4)
            raced |= what(a, &page->words[at % PAGE_BYTES / 4], at);
        if (whole && a->record)
            join(page, group);
    }
    return raced;
}

/* A write meets what others have fetched. */
static void meet_fetches(const struct act *a, uintptr_t at, uintptr_t end)
{
    for (uintptr_t next; at < end; at = next) {
        const struct page *page = swemu_check_page(a->c, at);
        next = (page->number + 1) * PAGE_BYTES;
        if (UNLIKELY(page->fetches != NULL))
            swemu_fetched_written(a->c, page->fetches, at, end < next ? end : next, a->now, a->pc);
    }
}

static uintptr_t word_at(const void *p) { return (uintptr_t)p & ~(uintptr_t)3; }

/* The CPE touches [start, start + len) of memory; return whether that races with what another has done. */
bool swemu_check_memory(struct cpe *c, const void *start, size_t len, int kind, uintptr_t pc, bool record)
{
    uintptr_t at = word_at(start), end = word_at((const char *)start + len + 3);
    struct touched now = {c->check->knows[c->pen], swemu_check_site(pc), (uint8_t)c->pen, (uint8_t)kind};
    struct act a = {c, now, pc, c->check->knows, record};
    if (kind & 1)
        meet_fetches(&a, at, end);
    return walk(&a, at, end, touch);
}

/* The CPE has read [start, start + len) at a time when it knew less. */
void swemu_check_earlier_read(struct cpe *c, const void *start, size_t len, struct touched read, const uint32_t *knew)
{
    struct act a = {c, read, 0, knew, true};
    walk(&a, word_at(start), word_at((const char *)start + len), add_read);
}

/* The CPE gets what lies between: narrow that to the first words of which it does not know the last write;
 * false when it knows all of them. */
bool swemu_check_last_write(struct cpe *c, const char **start, const char **end, uintptr_t pc, struct touched *write)
{
    const struct act a = {.c = c, .now.kind = DMA_READS, .pc = pc};
    for (uintptr_t at = (uintptr_t)*start, stop; at < (uintptr_t)*end; at = stop) {
        struct page *page = swemu_check_page(c, at);
        size_t group = at % PAGE_BYTES / GROUP_BYTES;
        bool one = is_split(page, group);
        const struct word *w = one ? &page->words[at % PAGE_BYTES / 4] : &page->groups[group];
        stop = one ? at + 4 : (at & ~(uintptr_t)(GROUP_BYTES - 1)) + GROUP_BYTES;
        look_at_cache(&a, w, at);
        if (LIKELY(!unordered(c, &w->write)))
            continue;
        *write = w->write;
        *end = stop < (uintptr_t)*end ? (const char *)stop : *end;
        *start = (const char *)at;
        return true;
    }
    return false;
}
