/* Checked mode: who touched which bytes when, without an order between them.
 *
 * Order is kept by vector clocks: every CPE counts its own releases; a barrier, a message, a lock or a
 * completion passes what one CPE knows to another.  Each 4-byte word of main memory that CPEs touch has
 * a shadow with its last write and last read.  The LDM has a shadow that marks words of transfers under
 * way.  A word of LDM that still holds the poison pattern has never been written.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "check.h"

static struct page *pages[PAGE_BUCKETS];
static uintptr_t site_pcs[65536];
static unsigned site_total = 1;
static const char *const access_names[] = {"a load", "a store", "a DMA get", "a DMA put"};

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

/* ---- clocks ---- */

static void learn(struct cpe *c, const uint32_t *from)
{
    for (int k = 0; k < SWEMU_CPES; k++)
        if (from[k] > c->check->knows[k])
            c->check->knows[k] = from[k];
}

static void tick(struct cpe *c) { c->check->knows[c->pen]++; }

void swemu_check_setup(struct cpe *c)
{
    if (!swemu.checked)
        return;
    c->check = swemu_zeroed(sizeof *c->check);
    c->check->statics = swemu_zeroed(c->statics_size / 4 + 16);
    c->check->knows[c->pen] = 1;
    swemu_shadow_open(c->stack_lo, (size_t)(c->stack_hi - c->stack_lo));
    swemu_shadow_open(c->statics, c->statics_size);
    swemu_shadow_open(c->heap, LDM_BYTES);
}

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
        learn(swemu.cpes[k], all);
        swemu.cpes[k]->check->flushed = swemu.cpes[k]->check->knows[swemu.cpes[k]->pen];
        tick(swemu.cpes[k]);
    }
}

/* The CPE's data cache is written back. */
void swemu_check_flush(struct cpe *c)
{
    if (!swemu.checked)
        return;
    c->check->flushed = c->check->knows[c->pen];
    tick(c);
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
        learn(other, all);
        tick(other);
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
    tick(c);
}

void swemu_check_receive(struct cpe *c, int unused)
{
    (void)unused;
    if (swemu.checked)
        learn(c, c->check->inbox);
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
        learn(c, sync_word(address)->knows);
}

void swemu_check_release(struct cpe *c, const volatile void *address)
{
    if (!swemu.checked)
        return;
    uint32_t *word = sync_word(address)->knows;
    for (int k = 0; k < SWEMU_CPES; k++)
        word[k] = c->check->knows[k] > word[k] ? c->check->knows[k] : word[k];
    tick(c);
}

/* ---- reply words that other CPEs count up ---- */

static struct reply_word *reply_word(struct cpe *c, const volatile void *word)
{
    struct reply_word *r = &c->check->replies[((uintptr_t)word >> 2) % REPLY_WORDS];
    if (r->word != word)
        *r = (struct reply_word){.word = word};
    return r;
}

/* The CPE stores to a word of its LDM; completions that it has not waited for would be lost. */
void swemu_check_reply_store(struct cpe *c, const volatile void *word, uintptr_t pc)
{
    struct reply_word *r = reply_word(c, word);
    if (r->completed > c->check->knows[r->by] && !swemu_reported("SW667", pc, r->pc))
        swemu_problem(c, pc, "SW667", "set it to 0, synchronise, and only then let the others start",
                      "a store to a reply word that CPE %d has counted up already: its completion is lost", r->by);
    r->stored = c->check->knows[c->pen];
    r->pc = pc;
}

static void check_remote_reply(struct cpe *c, const struct xfer *x)
{
    for (uint64_t left = x->targets; left && x->remote_reply; left &= left - 1) {
        struct cpe *to = swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)];
        const char *word = swemu_ldm_translate(c, to, x->remote_reply, 4);
        const struct reply_word *r = reply_word(to, word);
        if (to != c && r->stored > c->check->knows[to->pen] && !swemu_reported("SW667", x->pc, r->pc)) {
            char there[600];
            swemu_locate(r->pc, there, sizeof there);
            swemu_problem(c, x->pc, "SW667", "set it to 0, synchronise, and only then let the others start",
                          "the transfer will count up a reply word of CPE %d that it may still set at %s", to->pen,
                          there);
        }
    }
}

static void note_remote_reply(struct cpe *c, const struct xfer *x)
{
    for (uint64_t left = x->targets; left && x->remote_reply; left &= left - 1) {
        struct cpe *to = swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)];
        struct reply_word *r = reply_word(to, swemu_ldm_translate(c, to, x->remote_reply, 4));
        r->by = c->pen;
        r->completed = to == c ? 0 : c->check->knows[c->pen];
        for (int k = 0; k < SWEMU_CPES; k++)
            to->check->inbox[k] = c->check->knows[k] > to->check->inbox[k] ? c->check->knows[k] : to->check->inbox[k];
    }
    tick(c);
}

/* ---- main memory ---- */

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

static void race(struct cpe *c, uintptr_t pc, int kind, uintptr_t address, int other, int other_kind, uintptr_t other_pc)
{
    char where[256], there[600];
    struct mem_block block;
    if (swemu_reported("SW660", pc, other_pc))
        return;
    swemu_locate(other_pc, there, sizeof there);
    if (swemu_mem_find((void *)address, &block))
        snprintf(where, sizeof where, "byte %ld of '%s' (%ld bytes)", (long)((char *)address - block.lo), block.kind,
                 (long)(block.hi - block.lo));
    else
        snprintf(where, sizeof where, "%p", (void *)address);
    swemu_problem(c, pc, "SW660",
                  "order the two with a barrier (after memb or athread_dma_barrier), or give each CPE its own elements",
                  "race on main memory: %s by CPE %d and %s by CPE %d (row %d, column %d) at %s touch the same 4-byte "
                  "word, %s, and nothing orders them", access_names[kind], c->pen, access_names[other_kind], other,
                  other / 8, other % 8, there, where);
}

static uint32_t flushed_by(int pen) { return swemu.cpes[pen]->check->flushed; }

/* With a data cache, what a CPE stores stays there until it flushes. */
static void unflushed(struct cpe *c, uintptr_t pc, int kind, const struct word *w)
{
    char there[600];
    if (swemu_reported("SW668", pc, site_pcs[w->write_site]))
        return;
    swemu_locate(site_pcs[w->write_site], there, sizeof there);
    swemu_problem(c, pc, "SW668", "call flush_slave_cache before others look, or put by DMA",
                  "%s of memory that CPE %d has stored to at %s and not flushed from its data cache",
                  access_names[kind], w->write_cpe, there);
}

static void touch(struct cpe *c, struct word *w, int kind, uint16_t site, uintptr_t pc, uintptr_t address, bool record)
{
    const uint32_t *knows = c->check->knows;
    bool write = kind & 1;
    if (UNLIKELY(w->write_clock > knows[w->write_cpe]))
        race(c, pc, kind, address, w->write_cpe, w->write_kind, site_pcs[w->write_site]);
    if (write && UNLIKELY(w->read_clock > knows[w->read_cpe]))
        race(c, pc, kind, address, w->read_cpe, w->read_kind, site_pcs[w->read_site]);
    if (UNLIKELY(w->write_kind == STORES && swemu.cache && w->write_clock > flushed_by(w->write_cpe)) &&
        (kind == DMA_READS || w->write_cpe != c->pen))
        unflushed(c, pc, kind, w);
    if (!record)
        return;
    if (write) {
        w->write_clock = knows[c->pen];
        w->write_cpe = (uint8_t)c->pen;
        w->write_kind = (uint8_t)kind;
        w->write_site = site;
    } else {
        w->read_clock = knows[c->pen];
        w->read_cpe = (uint8_t)c->pen;
        w->read_kind = (uint8_t)kind;
        w->read_site = site;
    }
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

/* The CPE touches [address, address + len) of main memory. */
void swemu_check_memory(struct cpe *c, const void *start, size_t len, int kind, uintptr_t pc, bool record)
{
    uintptr_t at = (uintptr_t)start & ~(uintptr_t)3, end = ((uintptr_t)start + len + 3) & ~(uintptr_t)3;
    uint16_t site = site_name(pc);
    while (at < end) {
        struct page *page = page_of(c, at);
        size_t group = at % PAGE_BYTES / GROUP_BYTES;
        uintptr_t next = (at & ~(uintptr_t)(GROUP_BYTES - 1)) + GROUP_BYTES, stop = end < next ? end : next;
        bool whole = stop - at == GROUP_BYTES;
        if (whole && LIKELY(!is_split(page, group))) {
            touch(c, &page->groups[group], kind, site, pc, at, record);
            at = stop;
            continue;
        }
        if (!is_split(page, group))
            split(page, group);
        for (; at < stop; at += 4)
            touch(c, &page->words[at % PAGE_BYTES / 4], kind, site, pc, at, record);
        if (whole && record)
            join(page, group);
    }
}

static void each_piece(struct cpe *c, const struct xfer *x, int kind, bool record)
{
    const char *mem = x->mem;
    int step = x->stride && x->bsize < x->len ? x->bsize : x->len;
    for (int done = 0; done < x->len; done += step, mem += step + x->stride)
        swemu_check_memory(c, mem, (size_t)(x->len - done < step ? x->len - done : step), kind, x->pc, record);
}

/* ---- LDM words of transfers under way ---- */

/* Return the flags of the words from p on; null when they are not all in one part of the LDM. */
uint8_t *swemu_check_flags(struct cpe *c, const void *p, size_t len)
{
    const char *a = p;
    switch (swemu_ldm_place(c, p, len)) {
    case IN_STATICS:
        return &c->check->statics[(a - c->statics) / 4];
    case IN_HEAP:
        return &c->check->heap[(a - c->heap) / 4];
    case IN_STACK:
        return c->stack_top - a <= LDM_BYTES ? &c->check->stack[(LDM_BYTES - (c->stack_top - a)) / 4] : NULL;
    default:
        return NULL;
    }
}

/* A transfer on these words starts (sign 1), or is done. */
static void mark(struct cpe *c, const volatile void *start, long len, uint8_t flag, int sign)
{
    const void *p = (const void *)((uintptr_t)start & ~(uintptr_t)3);
    uint8_t *f = swemu_check_flags(c, p, (size_t)len);
    uint8_t keep = sign > 0 ? 0xff : (uint8_t)~flag, add = sign > 0 ? flag : 0;
    for (long k = 0; f && k < (len + 3) / 4; k++)
        f[k] = (uint8_t)((f[k] & keep) | add);
    if (f && sign > 0)
        swemu_shadow_close(p, (size_t)len);
    c->check->inflight += sign;
}

/* The bytes of a transfer have moved: look at its words no more, if they are written. */
static void settle(struct cpe *c, const volatile void *start, long len)
{
    const void *p = (const void *)start;
    const uint8_t *f = swemu_check_flags(c, p, (size_t)len);
    if (f)
        swemu_shadow_settle(c, p, (size_t)len, f, false);
}

static const struct xfer *owner(struct cpe *c, const void *p, uint8_t flag)
{
    const char *a = (const char *)((uintptr_t)p & ~(uintptr_t)3);
    const struct xfer *head = &c->pending.head;
    for (const struct xfer *x = head->next; x && x != head; x = x->next) {
        if (flag == REPLY ? (const char *)x->reply == a : a >= x->ldm && a < x->ldm + x->len)
            return x;
    }
    return NULL;
}

static void flight_problem(struct cpe *c, const void *p, const char *what, uint8_t flags, uintptr_t pc)
{
    char there[600];
    uint8_t flag = flags & COMING ? COMING : flags & GOING ? GOING : REPLY;
    const struct xfer *x = owner(c, p, flag);
    if (swemu_reported("SW661", pc, x ? x->pc : 0))
        return;
    snprintf(there, sizeof there, "another CPE");
    if (x)
        swemu_locate(x->pc, there, sizeof there);
    if (flag == REPLY)
        swemu_problem(c, pc, "SW662", "wait for the transfers before the reply word is used again",
                      "%s the reply word at LDM %#lx, but the transfer started at %s will still add to it", what,
                      swemu_ldm_offset(c, p), there);
    else
        swemu_problem(c, pc, "SW661", "wait for the reply word before the buffer is touched",
                      "%s LDM %#lx, but the %s started at %s is still under way", what, swemu_ldm_offset(c, p),
                      flag == COMING ? "transfer into it" : "put from it", there);
}

void swemu_check_flight(struct cpe *c, const void *p, size_t n, bool write, uintptr_t pc)
{
    const uint8_t *f = swemu_check_flags(c, p, n);
    for (size_t k = 0; f && k < (n + 3) / 4; k++)
        if (UNLIKELY(f[k] & (write ? COMING | GOING | REPLY : COMING))) {
            flight_problem(c, (const char *)p + 4 * k, write ? "a store to" : "a load from", f[k], pc);
            return;
        }
}

static void check_overlap(struct cpe *c, const struct xfer *x)
{
    uint8_t bad = x->kind == XFER_GET || x->kind == XFER_RMA_GET ? COMING | GOING : COMING;
    const uint8_t *f = swemu_check_flags(c, x->ldm, (size_t)x->len);
    for (int k = 0; f && k < x->len / 4; k++)
        if (UNLIKELY(f[k] & bad)) {
            flight_problem(c, x->ldm + 4 * k, "a transfer is started on", f[k] & bad, x->pc);
            return;
        }
}

static void check_written(struct cpe *c, const struct xfer *x)
{
    if (swemu_ldm_place(c, x->ldm, (size_t)x->len) == IN_STACK)
        return;
    for (int k = 0; k < x->len; k += 4) {
        if (LIKELY(!swemu_is_poison(x->ldm + k)))
            continue;
        if (!swemu_reported("SW663", x->pc, 0))
            swemu_problem(c, x->pc, "SW663", "write every byte of the buffer, or put less",
                          "a put sends LDM that nothing has been written to: byte %d of %d", k, x->len);
        return;
    }
}

static void mark_remote(struct cpe *c, const struct xfer *x, int sign)
{
    for (uint64_t left = x->targets; left; left &= left - 1) {
        struct cpe *to = swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)];
        char *there = swemu_ldm_translate(c, to, x->kind == XFER_GET ? x->ldm : x->remote, (size_t)x->len);
        if (there)
            mark(to, there, x->len, x->kind == XFER_RMA_GET ? GOING : COMING, sign);
    }
}

static void check_count(struct cpe *c, const struct xfer *x)
{
    if (x->reply && swemu_is_poison((const void *)x->reply) && !swemu_reported("SW664", x->pc, 0))
        swemu_problem(c, x->pc, "SW664", "set it to 0 before the transfer is started",
                      "the reply word has never been set: it will not count from 0");
}

/* A transfer is started. */
void swemu_check_issue(struct cpe *c, const struct xfer *x)
{
    if (!swemu.checked)
        return;
    check_count(c, x);
    bool own = x->kind == XFER_PUT || x->kind == XFER_RMA_PUT || x->kind == XFER_RMA_GET || !x->targets;
    if (own) {
        check_overlap(c, x);
        mark(c, x->ldm, x->len, x->kind == XFER_PUT || x->kind == XFER_RMA_PUT ? GOING : COMING, 1);
    }
    if (x->targets)
        mark_remote(c, x, 1);
    if (x->reply)
        mark(c, x->reply, 4, REPLY, 1);
    if (x->kind == XFER_PUT || x->kind == XFER_GET)
        each_piece(c, x, x->kind == XFER_PUT ? DMA_WRITES : DMA_READS, false);
    if (x->kind == XFER_PUT || x->kind == XFER_RMA_PUT)
        check_written(c, x);
    check_remote_reply(c, x);
}

/* The reply word of a broadcast is not the issuer's alone. */
void swemu_check_unreserve(struct cpe *c, const struct xfer *x)
{
    if (swemu.checked)
        mark(c, x->reply, 4, REPLY, -1);
}

static bool reply_in_use(const struct cpe *c, const struct xfer *done)
{
    const struct xfer *head = &c->pending.head;
    for (const struct xfer *x = head->next; x && x != head; x = x->next)
        if (x != done && x->reply == done->reply)
            return true;
    return false;
}

/* Its bytes are about to move. */
void swemu_check_done(struct cpe *c, const struct xfer *x)
{
    if (!swemu.checked)
        return;
    bool own = x->kind == XFER_PUT || x->kind == XFER_RMA_PUT || x->kind == XFER_RMA_GET || !x->targets;
    if (own)
        mark(c, x->ldm, x->len, x->kind == XFER_PUT || x->kind == XFER_RMA_PUT ? GOING : COMING, -1);
    if (x->targets) {
        mark_remote(c, x, -1);
        note_remote_reply(c, x);
    }
    if (x->reply) {
        mark(c, x->reply, 4, REPLY, -1);
        if (reply_in_use(c, x)) {
            mark(c, x->reply, 4, REPLY, 1);
            c->check->inflight--;
        }
    }
    if (x->kind == XFER_GET)
        each_piece(c, x, DMA_READS, true);
    if (x->kind == XFER_PUT)
        each_piece(c, x, DMA_WRITES, swemu.completion == EAGER);
}

/* Its bytes have moved. */
void swemu_check_moved(struct cpe *c, const struct xfer *x)
{
    if (!swemu.checked)
        return;
    if (!x->targets || x->kind != XFER_GET)
        settle(c, x->ldm, x->len);
    for (uint64_t left = x->targets; left; left &= left - 1) {
        struct cpe *to = swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)];
        char *there = swemu_ldm_translate(c, to, x->kind == XFER_GET ? x->ldm : x->remote, (size_t)x->len);
        if (there)
            settle(to, there, x->len);
    }
}

/* The bytes of a put reach memory. */
void swemu_check_commit(struct cpe *c, const struct xfer *x)
{
    if (swemu.checked)
        each_piece(c, x, DMA_WRITES, true);
}

/* The kernel returns: nothing may be under way. */
void swemu_check_leave(struct cpe *c)
{
    if (!swemu.checked || !c->pending.count)
        return;
    const struct xfer *x = c->pending.head.next;
    if (!swemu_reported("SW665", x->pc, 0))
        swemu_problem(c, x->pc, "SW665", "wait for every transfer before the kernel returns",
                      "the kernel returns while %d transfer%s under way; this is the first", c->pending.count,
                      c->pending.count == 1 ? " is" : "s are");
}
