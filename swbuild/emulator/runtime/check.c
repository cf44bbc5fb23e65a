/* Checked mode: who touched which bytes when, without an order between them.
 *
 * Order is kept by vector clocks (clocks.c).  Each 4-byte word of main memory that CPEs touch has a shadow with
 * its last accesses (races.c), and so has each word of LDM that other CPEs may touch (places.c); a get counts as
 * a read once its words are used (fetched.c).  The LDM has flags that mark words of transfers under way.  A word
 * of LDM that still holds the poison pattern has never been written.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "check.h"

extern const int swemu_instrumented __attribute__((weak));

void swemu_check_setup(struct cpe *c)
{
    if (!swemu.checked)
        return;
    c->check = swemu_zeroed(sizeof *c->check);
    c->check->statics = swemu_zeroed(c->statics_size / 4 + 16);
    c->check->knows[c->pen] = 1;
    swemu_shadow_open(c->stack_lo, (size_t)(c->stack_hi - c->stack_lo));
    swemu_shadow_open(c->statics, c->statics_size);
    swemu_shadow_open(c->heap, HEAP_BYTES);
    swemu_places_setup(c);
}

/* ---- reply words that other CPEs count up ---- */

static struct reply_word *reply_word(struct cpe *c, const volatile void *word)
{
    struct reply_word **link = &c->check->replies[((uintptr_t)word >> 2) % REPLY_BUCKETS];
    while (*link && (*link)->word != word)
        link = &(*link)->next;
    if (!*link) {
        *link = swemu_zeroed(sizeof **link);
        (*link)->word = word;
    }
    return *link;
}

static void forget_arrivals(struct arrival **link)
{
    for (struct arrival *a = *link, *older; a; a = older) {
        older = a->older;
        swemu_release(a);
    }
    *link = NULL;
}

/* A transfer of c counts up the word by one: whoever sees that value knows what c knows. */
static void note_arrival(const struct cpe *c, struct reply_word *r)
{
    struct arrival *a = swemu_zeroed(sizeof *a);
    memcpy(a->knows, c->check->knows, sizeof a->knows);
    for (int k = 0; r->latest && k < SWEMU_CPES; k++)
        if (r->latest->knows[k] > a->knows[k])
            a->knows[k] = r->latest->knows[k];
    a->value = *(const volatile int *)r->word + 1;
    a->older = r->latest;
    r->latest = a;
}

/* The CPE goes on because its reply word has come to this value: later completions it knows nothing of. */
void swemu_check_arrivals(struct cpe *c, const volatile void *word, int value)
{
    if (!swemu.checked)
        return;
    struct arrival *a = reply_word(c, word)->latest;
    while (a && a->value > value)
        a = a->older;
    if (!a)
        return;
    swemu_clock_learn(c, a->knows);
    forget_arrivals(&a->older);
}

/* One turn of a loop that waits; where loads are watched they tell what it waits for. */
void swemu_check_turn(struct cpe *c, const volatile void *word)
{
    if (!swemu.checked || &swemu_instrumented)
        return;
    for (int b = 0; b < REPLY_BUCKETS; b++)
        for (struct reply_word *r = c->check->replies[b]; r; r = r->next)
            if (!word || r->word == word)
                swemu_check_arrivals(c, r->word, *(const volatile int *)r->word);
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
    forget_arrivals(&r->latest);
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
        note_arrival(c, r);
    }
    swemu_clock_tick(c);
}

/* ---- main memory ---- */

/* Bytes of a put are written; words that it puts back to where they came from, as they are, count as read. */
static void write_piece(struct cpe *c, const struct xfer *x, const char *mem, const char *data, size_t len, bool record)
{
    size_t run = len;
    for (size_t at = 0; at < len; at += run) {
        bool same = x->returns && memcmp(mem + at, data + at, 4) == 0;
        if (x->returns)
            for (run = 4; at + run < len && (memcmp(mem + at + run, data + at + run, 4) == 0) == same;)
                run += 4;
        swemu_check_memory(c, mem + at, run, same ? DMA_RETURNS : DMA_WRITES, x->pc, record);
    }
}

/* The bytes of a put are written, or (without `record`) will be. */
static void write_memory(struct cpe *c, const struct xfer *x, bool record)
{
    const char *mem = x->mem, *data = x->staged ? x->staged : x->ldm;
    int step = x->stride && x->bsize < x->len ? x->bsize : x->len;
    for (int done = 0; done < x->len; done += step, mem += (long)step + x->stride)
        write_piece(c, x, mem, data + done, (size_t)(x->len - done < step ? x->len - done : step), record);
}

/* ---- LDM words of transfers under way ---- */

/* Return where a transfer of `from` touches the LDM of `to`. */
static char *remote_side(const struct cpe *from, const struct cpe *to, const struct xfer *x)
{
    return swemu_ldm_translate(from, to, x->kind == XFER_GET ? x->ldm : x->remote, (size_t)x->len);
}

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
    if (f && sign > 0)
        swemu_fetched_close(c, f, p, (size_t)(len + 3) / 4);
    if (f)
        swemu_change_flags(f, (size_t)(len + 3) / 4, keep, add);
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

/* Return the transfer of another CPE that touches p in the LDM of c. */
static const struct xfer *remote_owner(const struct cpe *c, const char *p)
{
    for (int k = 0; k < swemu.count; k++) {
        const struct xfer *head = &swemu.cpes[k]->pending.head;
        for (const struct xfer *x = head->next; x && x != head; x = x->next) {
            const char *there = x->targets >> c->pen & 1 ? remote_side(swemu.cpes[k], c, x) : NULL;
            if (there && p >= there && p < there + x->len)
                return x;
        }
    }
    return NULL;
}

static void flight_problem(struct cpe *c, const void *p, const char *what, uint8_t flags, uintptr_t pc)
{
    char there[600];
    uint8_t flag = flags & COMING ? COMING : flags & GOING ? GOING : REPLY;
    const struct xfer *x = owner(c, p, flag);
    if (!x && flag != REPLY)
        x = remote_owner(c, p);
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

/* Return whether a transfer is under way that the access must not meet. */
bool swemu_check_flight(struct cpe *c, const void *p, size_t n, bool write, uintptr_t pc)
{
    const uint8_t *f = swemu_check_flags(c, p, n);
    for (size_t k = 0; f && k < (n + 3) / 4; k++)
        if (UNLIKELY(f[k] & (write ? COMING | GOING | REPLY : COMING))) {
            flight_problem(c, (const char *)p + 4 * k, write ? "a store to" : "a load from", f[k], pc);
            return true;
        }
    return false;
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
        char *there = remote_side(c, to, x);
        if (there)
            mark(to, there, x->len, x->kind == XFER_RMA_GET ? GOING : COMING, sign);
    }
}

/* The words of its own LDM that a transfer reads or writes, as accesses of its CPE. */
static void touch_own(struct cpe *c, const struct xfer *x)
{
    static const int kinds[] = {
        [XFER_GET] = LDM_FILLS, [XFER_PUT] = LDM_SENDS, [XFER_RMA_GET] = LDM_FILLS, [XFER_RMA_PUT] = LDM_SENDS};
    swemu_places_touch(c, x->ldm, (size_t)x->len, kinds[x->kind], x->pc);
    if (kinds[x->kind] == LDM_SENDS)
        swemu_fetched_used(c, x->ldm, (size_t)x->len, x->pc);
    else if (x->kind == XFER_RMA_GET)
        swemu_fetched_stored(c, x->ldm, (size_t)x->len);
}

/* The words of another CPE's LDM that an RMA reads or overwrites. */
static void use_remote(struct cpe *to, const char *there, const struct xfer *x)
{
    if (x->kind == XFER_RMA_GET)
        swemu_fetched_used(to, there, (size_t)x->len, x->pc);
    else if (x->kind == XFER_RMA_PUT)
        swemu_fetched_stored(to, there, (size_t)x->len);
}

/* The words of other CPEs' LDM: of statics and heap, for stacks are used in ways that nobody knows.  Return
 * whether that races with what others have done. */
static bool touch_remote(struct cpe *c, const struct xfer *x)
{
    int kind = x->kind == XFER_GET ? LDM_FILLS : x->kind == XFER_RMA_GET ? RMA_READS : RMA_WRITES;
    bool raced = false;
    for (uint64_t left = x->targets; left; left &= left - 1) {
        struct cpe *to = swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)];
        char *there = remote_side(c, to, x);
        if (there)
            use_remote(to, there, x);
        if (!there || swemu_ldm_place(to, there, 1) == IN_STACK)
            continue;
        swemu_places_share(to, there, (size_t)x->len);
        raced |= swemu_check_memory(c, there, (size_t)x->len, kind, x->pc, true);
    }
    return raced;
}

/* A transfer of others is on the same words, and its end is known to nobody. */
static void check_remote_overlap(struct cpe *c, const struct xfer *x)
{
    uint8_t bad = x->kind == XFER_RMA_GET ? COMING : COMING | GOING;
    for (uint64_t left = x->targets; left; left &= left - 1) {
        struct cpe *to = swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)];
        char *there = remote_side(c, to, x);
        const uint8_t *f = there ? swemu_check_flags(to, there, (size_t)x->len) : NULL;
        for (int k = 0; f && k < x->len / 4; k++)
            if (UNLIKELY(f[k] & bad)) {
                flight_problem(to, there + 4 * k, "a transfer of another CPE is started on", f[k] & bad, x->pc);
                return;
            }
    }
}

/* A short message may be a flag that the other CPE polls: who sees it knows what the sender knew. */
static void release_flags(struct cpe *c, const struct xfer *x)
{
    enum { LONGEST_FLAG = 64 };
    for (uint64_t left = x->targets; left && x->kind == XFER_RMA_PUT && x->len <= LONGEST_FLAG; left &= left - 1) {
        const struct cpe *to = swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)];
        const char *there = remote_side(c, to, x);
        for (int k = 0; there && k < x->len; k += 4)
            swemu_check_release(c, there + k);
    }
}

static void check_count(struct cpe *c, const struct xfer *x)
{
    if (x->reply && swemu_is_poison((const void *)x->reply) && !swemu_reported("SW664", x->pc, 0))
        swemu_problem(c, x->pc, "SW664", "set it to 0 before the transfer is started",
                      "the reply word has never been set: it will not count from 0");
}

/* A transfer is started. */
void swemu_check_issue(struct cpe *c, struct xfer *x)
{
    if (!swemu.checked)
        return;
    x->returns = x->kind == XFER_PUT && swemu_fetched_returns(c, x);
    check_count(c, x);
    bool own = x->kind == XFER_PUT || x->kind == XFER_RMA_PUT || x->kind == XFER_RMA_GET || !x->targets;
    if (own) {
        check_overlap(c, x);
        touch_own(c, x);
        mark(c, x->ldm, x->len, x->kind == XFER_PUT || x->kind == XFER_RMA_PUT ? GOING : COMING, 1);
    }
    if (x->targets) {
        if (!touch_remote(c, x))
            check_remote_overlap(c, x);
        mark_remote(c, x, 1);
    }
    if (x->reply)
        mark(c, x->reply, 4, REPLY, 1);
    if (x->kind == XFER_GET)
        swemu_fetched_start(c, x);
    if (x->kind == XFER_PUT)
        write_memory(c, x, false);
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
    if (x->kind == XFER_GET)
        swemu_fetched_arrive(c, x);
    if (own) {
        touch_own(c, x);
        mark(c, x->ldm, x->len, x->kind == XFER_PUT || x->kind == XFER_RMA_PUT ? GOING : COMING, -1);
    }
    if (x->targets) {
        touch_remote(c, x);
        mark_remote(c, x, -1);
        release_flags(c, x);
        note_remote_reply(c, x);
    }
    if (x->reply) {
        mark(c, x->reply, 4, REPLY, -1);
        if (reply_in_use(c, x)) {
            mark(c, x->reply, 4, REPLY, 1);
            c->check->inflight--;
        }
    }
    if (x->kind == XFER_PUT)
        write_memory(c, x, swemu.completion == EAGER);
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
        char *there = remote_side(c, to, x);
        if (there)
            settle(to, there, x->len);
    }
}

/* The bytes of a put reach memory. */
void swemu_check_commit(struct cpe *c, const struct xfer *x)
{
    if (swemu.checked)
        write_memory(c, x, true);
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
