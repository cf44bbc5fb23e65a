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
                                           "a transfer from it", "a transfer into it", "an RMA get", "an RMA put"};

/* ---- sites: 16-bit names of program places ---- */

static uint16_t site_name(uintptr_t pc)
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

static struct page *page_of(struct cpe *c, uintptr_t address)
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

static void race(struct cpe *c, uintptr_t pc, int kind, uintptr_t address, const struct touched *other)
{
    const struct cpe *owner = swemu_ldm_owner((void *)address);
    const char *code = owner ? "SW669" : "SW660";
    char where[256], of[64] = "", there[600];
    if (swemu_reported(code, pc, site_pcs[other->site]))
        return;
    swemu_locate(site_pcs[other->site], there, sizeof there);
    describe(address, owner, where, sizeof where);
    if (owner)
        snprintf(of, sizeof of, " of CPE %d", owner->pen);
    swemu_problem(c, pc, code, fixes[owner != NULL],
                  "race on %s: %s by CPE %d and %s by CPE %d (row %d, column %d) at %s touch the same 4-byte "
                  "word, %s%s, and nothing orders them", owner ? "LDM" : "main memory", access_names[kind], c->pen,
                  access_names[other->kind], other->cpe, other->cpe / 8, other->cpe % 8, there, where, of);
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
static struct touched *place_of_read(const struct cpe *c, struct word *w)
{
    return w->reads[0].cpe == c->pen || !unordered(c, &w->reads[0]) ? &w->reads[0] : &w->reads[1];
}

/* Return whether the access races with an earlier one. */
static bool touch(struct cpe *c, struct word *w, int kind, uint16_t site, uintptr_t pc, uintptr_t address, bool record)
{
    const struct touched *before = NULL;
    bool write = kind & 1;
    if (UNLIKELY(unordered(c, &w->write)))
        before = &w->write;
    for (int k = 0; k < 2 && write && !before; k++)
        if (UNLIKELY(unordered(c, &w->reads[k])))
            before = &w->reads[k];
    if (UNLIKELY(before != NULL))
        race(c, pc, kind, address, before);
    if (UNLIKELY(w->write.kind == STORES && swemu.cache && w->write.clock > flushed_by(w->write.cpe)) &&
        (kind == DMA_READS || w->write.cpe != c->pen) && !swemu_ldm_owner((void *)address))
        unflushed(c, pc, kind, &w->write);
    if (record)
        *(write ? &w->write : place_of_read(c, w)) =
            (struct touched){c->check->knows[c->pen], site, (uint8_t)c->pen, (uint8_t)kind};
    return before != NULL;
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

/* The CPE touches [start, start + len) of memory; return whether that races with what another has done. */
bool swemu_check_memory(struct cpe *c, const void *start, size_t len, int kind, uintptr_t pc, bool record)
{
    uintptr_t at = (uintptr_t)start & ~(uintptr_t)3, end = ((uintptr_t)start + len + 3) & ~(uintptr_t)3;
    uint16_t site = site_name(pc);
    bool raced = false;
    while (at < end) {
        struct page *page = page_of(c, at);
        size_t group = at % PAGE_BYTES / GROUP_BYTES;
        uintptr_t next = (at & ~(uintptr_t)(GROUP_BYTES - 1)) + GROUP_BYTES, stop = end < next ? end : next;
        bool whole = stop - at == GROUP_BYTES;
        if (whole && LIKELY(!is_split(page, group))) {
            raced |= touch(c, &page->groups[group], kind, site, pc, at, record);
            at = stop;
            continue;
        }
        if (!is_split(page, group))
            split(page, group);
        for (; at < stop; at += 4)
            raced |= touch(c, &page->words[at % PAGE_BYTES / 4], kind, site, pc, at, record);
        if (whole && record)
            join(page, group);
    }
    return raced;
}
