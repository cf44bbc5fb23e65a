/* Checked mode: what gets have brought into the LDM, and whether anybody has used it.
 *
 * A get of a box brings words that nobody wants, too, and other CPEs may write those meanwhile.  So the get
 * of a word counts as a read of main memory, at the time of the get, only once the word is used: loaded, put,
 * or sent.  A word of LDM is FETCHED from the get's completion to its first use, or until it is overwritten.
 * Every get is remembered while words of it lie in the LDM, and by the pages of main memory that it touches,
 * where writes of other CPEs look for it: a write that races with a used word is reported at once, one that
 * races with a word not used yet when that is used.  What is forgotten leaves its used words behind as reads
 * in the shadow of main memory.
 *
 * A put often takes a whole box back of which only some words were changed.  The others count as read, not as
 * written, if main memory still holds the same there: whoever reads or returns them at the same time gets the same.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "check.h"

extern const int swemu_instrumented __attribute__((weak));

/* What a CPE knew at some time; its gets of that time share it. */
struct epoch {
    uint32_t knows[SWEMU_CPES];
    long users;
};

/* Hangs a get into the list of one page. */
struct fetch_link {
    struct fetch_link *next, **back;
    struct fetch *fetch;
};

struct fetch {
    struct cpe *by, *holder;      /* who started it; in whose LDM it is */
    const struct xfer *under_way; /* null once its bytes have moved */
    char *mem, *ldm;
    long pitch;                   /* from one block in main memory to the next */
    int len, bsize;
    const char *lo, *hi;          /* what is left of it in the LDM: nothing else has been brought there */
    uintptr_t pc;
    uint16_t site;
    uint32_t clock;
    struct epoch *epoch;
    struct touched *raced;        /* by word: a write of main memory that nothing orders; null without any */
    size_t link_count;
    struct fetch_link links[];
};

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static const char *lower(const char *a, const char *b) { return a < b ? a : b; }
static const char *higher(const char *a, const char *b) { return a > b ? a : b; }

/* ---- what became of a word ---- */

/* A word with a fate has not been used, and may still be. */
static bool is_unused(const struct cpe *holder, uint8_t flags, const char *word)
{
    uint8_t fate = flags & FATE;
    return fate == RACED || (fate == FETCHED && !(swemu_shadowed && *SHADOW_OF(word) == swemu_tag_of(holder)));
}

static void set_fate(uint8_t *flags, uint8_t fate) { *flags = (uint8_t)((*flags & ~FATE) | fate); }

/* Whether eight fetched words are used, and nothing else is to be said of them. */
static bool are_used(const struct cpe *holder, const uint8_t *flags, const char *word)
{
    return swemu_eight(flags) == EIGHT(FETCHED) && swemu_shadowed &&
           swemu_eight(SHADOW_OF(word)) == EIGHT(swemu_tag_of(holder));
}

/* The shadow will no longer vouch for these words: note which of them were used. */
void swemu_fetched_close(const struct cpe *c, uint8_t *flags, const char *word, size_t words)
{
    for (size_t k = 0; k < words; k++) {
        for (; k + 8 <= words; k += 8)
            if (are_used(c, flags + k, word + 4 * k))
                memset(flags + k, 0, 8);
            else if (swemu_eight(flags + k) & EIGHT(FETCHED))
                break;
        if (k < words && (flags[k] & FATE) == FETCHED && !is_unused(c, flags[k], word + 4 * k))
            set_fate(&flags[k], 0);
    }
}

/* ---- what a CPE knew ---- */

static struct epoch *epoch_now(struct check *k)
{
    struct epoch *e = k->epoch;
    if (!e || memcmp(e->knows, k->knows, sizeof e->knows) != 0) {
        if (e && !e->users)
            swemu_release(e);
        e = k->epoch = swemu_zeroed(sizeof *e);
        memcpy(e->knows, k->knows, sizeof e->knows);
    }
    e->users++;
    return e;
}

static void leave_epoch(struct fetch *f)
{
    if (f->epoch && !--f->epoch->users && f->epoch != f->by->check->epoch)
        swemu_release(f->epoch);
}

/* ---- from words of LDM to those of main memory ---- */

/* Return where the word that lies at p came from, and how many bytes lie behind each other in both places. */
static char *origin(const struct fetch *f, const char *p, size_t *run)
{
    long at = p - f->ldm, block = at / f->bsize;
    *run = (size_t)(smaller((size_t)f->len, (size_t)(block + 1) * (size_t)f->bsize) - (size_t)at);
    return f->mem + block * f->pitch + at % f->bsize;
}

typedef void use_of_piece(struct fetch *f, const char *p, const char *mem, size_t n);

static void each_piece(struct fetch *f, const char *lo, const char *hi, use_of_piece *use)
{
    size_t run;
    for (; lo < hi; lo += run) {
        const char *mem = origin(f, lo, &run);
        run = smaller(run, (size_t)(hi - lo));
        use(f, lo, mem, run);
    }
}

/* ---- the gets by pages of main memory ---- */

static uintptr_t page_number(const char *p) { return (uintptr_t)p / PAGE_BYTES; }

/* Hang the get into its pages' lists (without links: say how many it needs). */
static size_t link_pages(struct fetch *f, bool count_only)
{
    size_t count = 0;
    uintptr_t last = 0;
    for (long done = 0, block = 0; done < f->len; done += f->bsize, block++) {
        const char *lo = f->mem + block * f->pitch, *hi = lo + smaller((size_t)(f->len - done), (size_t)f->bsize);
        for (uintptr_t number = page_number(lo); number <= page_number(hi - 1); number++) {
            if (number == last)
                continue;
            last = number;
            if (!count_only) {
                struct fetch_link **head = &swemu_check_page(f->by, number * PAGE_BYTES)->fetches;
                struct fetch_link *link = &f->links[count];
                *link = (struct fetch_link){*head, head, f};
                if (*head)
                    (*head)->back = &link->next;
                *head = link;
            }
            count++;
        }
    }
    return count;
}

static struct fetch *linked(const struct fetch *like)
{
    struct fetch shape = *like;
    size_t count = link_pages(&shape, true);
    struct fetch *f = swemu_alloc(sizeof *f + count * sizeof *f->links);
    if (!f)
        swemu_lacking("no memory for what checked mode keeps of a get", 0, "give more memory, or a higher limit (ulimit -v)");
    *f = shape;
    f->link_count = count;
    link_pages(f, false);
    return f;
}

static void discard(struct fetch *f)
{
    for (size_t k = 0; k < f->link_count; k++) {
        *f->links[k].back = f->links[k].next;
        if (f->links[k].next)
            f->links[k].next->back = f->links[k].back;
    }
    swemu_release(f->raced);
    leave_epoch(f);
    swemu_release(f);
}

/* ---- the gets of one LDM, in the order of their places ---- */

/* Return the number of the first get that ends behind p. */
static size_t first_behind(const struct check *k, const char *p)
{
    size_t lo = 0, hi = k->fetch_count;
    while (lo < hi) {
        size_t middle = (lo + hi) / 2;
        if (k->fetches[middle]->hi > p)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

static bool on_stack(const struct fetch *f) { return f->lo >= f->holder->stack_lo && f->lo < f->holder->stack_hi; }

static void grow(struct check *k)
{
    struct fetch **old = k->fetches;
    k->fetch_room = k->fetch_room ? 2 * k->fetch_room : 64;
    k->fetches = swemu_zeroed(k->fetch_room * sizeof *k->fetches);
    if (old)
        memcpy(k->fetches, old, k->fetch_count * sizeof *old);
    swemu_release(old);
}

static void insert(struct check *k, size_t at, struct fetch *f)
{
    if (k->fetch_count == k->fetch_room)
        grow(k);
    memmove(&k->fetches[at + 1], &k->fetches[at], (k->fetch_count - at) * sizeof *k->fetches);
    k->fetches[at] = f;
    k->fetch_count++;
    k->stack_fetches += on_stack(f);
}

static void remove_at(struct check *k, size_t at)
{
    k->stack_fetches -= on_stack(k->fetches[at]);
    discard(k->fetches[at]);
    k->fetch_count--;
    memmove(&k->fetches[at], &k->fetches[at + 1], (k->fetch_count - at) * sizeof *k->fetches);
}

static void record_read(struct fetch *f, const char *p, const char *mem, size_t n)
{
    struct touched read = {f->clock, f->site, (uint8_t)f->by->pen, DMA_READS};
    (void)p;
    swemu_check_earlier_read(f->by, mem, n, read, f->epoch->knows);
}

static bool is_used(const struct fetch *f, const uint8_t *flags, const char *p)
{
    return (*flags & FATE) != LOST && !is_unused(f->holder, *flags, p);
}

/* Return how many of these words, from the first one on, are used. */
static size_t used_words(const struct fetch *f, const uint8_t *flags, const char *p, size_t words)
{
    size_t k = 0;
    while (k + 8 <= words && are_used(f->holder, flags + k, p + 4 * k))
        k += 8;
    while (k < words && is_used(f, flags + k, p + 4 * k))
        k += 1;
    return k;
}

/* Words of a get leave the LDM: those that were used are reads of main memory. */
static void retire(struct fetch *f, const char *lo, const char *hi)
{
    uint8_t *flags = swemu_check_flags(f->holder, lo, (size_t)(hi - lo));
    size_t words = (size_t)(hi - lo) / 4;
    if (f->under_way || !flags)
        return;
    for (size_t k = 0, run; k < words; k += run + 1) {
        run = used_words(f, flags + k, lo + 4 * k, words - k);
        if (run)
            each_piece(f, lo + 4 * k, lo + 4 * (k + run), record_read);
    }
    swemu_change_flags(flags, words, (uint8_t)~FATE, 0);
}

/* Return the rest of a get behind `from`, as a get of its own. */
static struct fetch *rest_behind(const struct fetch *f, const char *from)
{
    struct fetch *rest = linked(f);
    rest->lo = from;
    if (rest->epoch)
        rest->epoch->users++;
    if (f->raced) {
        rest->raced = swemu_zeroed((size_t)f->len / 4 * sizeof *f->raced);
        memcpy(rest->raced, f->raced, (size_t)f->len / 4 * sizeof *f->raced);
    }
    return rest;
}

/* What was fetched to [lo, hi) of the LDM is there no more. */
static void forget(struct check *k, const char *lo, const char *hi)
{
    size_t at = first_behind(k, lo);
    while (at < k->fetch_count && k->fetches[at]->lo < hi) {
        struct fetch *f = k->fetches[at];
        retire(f, higher(lo, f->lo), lower(hi, f->hi));
        if (f->lo < lo && f->hi > hi)
            insert(k, at + 1, rest_behind(f, hi));
        if (f->lo < lo) {
            f->hi = lo;
            at++;
        } else if (f->hi > hi) {
            f->lo = hi;
        } else {
            remove_at(k, at);
        }
    }
}

void swemu_fetched_gone(struct cpe *c, const void *lo, const void *hi)
{
    if (c->check && c->check->fetch_count)
        forget(c->check, lo, hi);
}

/* Whether a get has brought the word at p from mem. */
static bool is_from(const struct check *k, const char *p, const char *mem)
{
    size_t at = first_behind(k, p), run;
    const struct fetch *f = at < k->fetch_count ? k->fetches[at] : NULL;
    return f && f->lo <= p && !f->under_way && origin(f, p, &run) == mem;
}

/* Whether each block of a put begins and ends where a get has brought it from. */
bool swemu_fetched_returns(const struct cpe *c, const struct xfer *x)
{
    int step = x->stride && x->bsize < x->len ? x->bsize : x->len;
    const char *mem = x->mem;
    for (int done = 0, size; done < x->len; done += step, mem += (long)step + x->stride) {
        size = x->len - done < step ? x->len - done : step;
        if (!is_from(c->check, x->ldm + done, mem) || !is_from(c->check, x->ldm + done + size - 4, mem + size - 4))
            return false;
    }
    return true;
}

static bool is_done(const struct fetch *f)
{
    const uint8_t *flags = swemu_check_flags(f->holder, f->lo, (size_t)(f->hi - f->lo));
    for (size_t k = 0; flags && k < (size_t)(f->hi - f->lo) / 4; k++)
        if (is_unused(f->holder, flags[k], f->lo + 4 * k))
            return false;
    return !f->under_way;
}

/* Before the list grows, forget the gets of which all words are used. */
static void make_room(struct check *k)
{
    if (k->fetch_count < k->fetch_room)
        return;
    for (size_t at = k->fetch_count; at-- > 0;)
        if (is_done(k->fetches[at]))
            forget(k, k->fetches[at]->lo, k->fetches[at]->hi);
    if (k->fetch_count > k->fetch_room / 2)
        grow(k);
}

/* ---- races ---- */

static void note_race(struct fetch *f, const char *p, struct touched write)
{
    if (!f->raced)
        f->raced = swemu_zeroed((size_t)f->len / 4 * sizeof *f->raced);
    struct touched *known = &f->raced[(p - f->ldm) / 4];
    if (!known->clock)
        *known = write;
}

/* The get brings words of which its CPE does not know the last write. */
static void look_for_writes(struct fetch *f, const char *p, const char *mem, size_t n)
{
    struct touched write;
    const char *end = mem + n;
    for (const char *at = mem, *stop = end; swemu_check_last_write(f->by, &at, &stop, f->pc, &write); stop = end)
        for (; at < stop; at += 4)
            note_race(f, p + (at - mem), write);
}

static void suspect(uint8_t *flags, const char *word)
{
    set_fate(flags, RACED);
    swemu_shadow_close(word, 4);
}

/* A write meets words of a get that nothing orders before it. */
static void meet(struct fetch *f, const char *p, const char *mem, size_t n, struct cpe *c, struct touched write,
                 uintptr_t pc)
{
    uint8_t *flags = swemu_check_flags(f->holder, p, n);
    for (size_t k = 0; flags && k < n / 4; k++) {
        if (f->under_way || is_unused(f->holder, flags[k], p + 4 * k)) {
            note_race(f, p + 4 * k, write);
            if (!f->under_way)
                suspect(&flags[k], p + 4 * k);
        } else if ((flags[k] & FATE) != LOST) {
            swemu_check_race(c, pc, write.kind, (uintptr_t)mem + 4 * k,
                             &(struct touched){f->clock, f->site, (uint8_t)f->by->pen, DMA_READS}, 0);
        }
    }
}

static void meet_block(struct fetch *f, long block, const char *lo, const char *hi, struct cpe *c, struct touched write,
                       uintptr_t pc)
{
    const char *mem = f->mem + block * f->pitch, *p = f->ldm + block * f->bsize;
    const char *end = lower(p + f->bsize, f->ldm + f->len);
    const char *from = higher(higher(p, f->lo), p + (lo - mem)), *to = lower(lower(end, f->hi), p + (hi - mem));
    if (from < to)
        meet(f, from, mem + (from - p), (size_t)(to - from), c, write, pc);
}

/* A write to [lo, hi) of main memory meets a get: look at the blocks that hold some of it. */
static void meet_blocks(struct fetch *f, const char *lo, const char *hi, struct cpe *c, struct touched write, uintptr_t pc)
{
    long blocks = (f->len - 1) / f->bsize + 1, step = labs(f->pitch);
    const char *base = f->pitch < 0 ? f->mem + (blocks - 1) * f->pitch : f->mem;
    long first = step && lo - base >= f->bsize ? (lo - base - f->bsize) / step + 1 : 0;
    long last = hi <= base ? 0 : step ? (hi - base - 1) / step + 1 : blocks;
    for (long k = first; k < last && k < blocks; k++)
        meet_block(f, f->pitch < 0 ? blocks - 1 - k : k, lo, hi, c, write, pc);
}

/* The CPE writes to [lo, hi) of a page on which these gets are. */
void swemu_fetched_written(struct cpe *c, struct fetch_link *gets, uintptr_t lo, uintptr_t hi, struct touched write,
                           uintptr_t pc)
{
    for (; gets; gets = gets->next) {
        struct fetch *f = gets->fetch;
        if (f->by != c && (f->under_way || f->clock > c->check->knows[f->by->pen]))
            meet_blocks(f, (const char *)lo, (const char *)hi, c, write, pc);
    }
}

static void report(struct cpe *c, const char *p, uintptr_t pc)
{
    size_t at = first_behind(c->check, p), run;
    struct fetch *f = at < c->check->fetch_count ? c->check->fetches[at] : NULL;
    if (!f || f->lo > p || !f->raced || !f->raced[(p - f->ldm) / 4].clock)
        return;
    swemu_check_race(f->by, f->pc, DMA_READS, (uintptr_t)origin(f, p, &run), &f->raced[(p - f->ldm) / 4], pc);
}

/* These bytes of the LDM are used: what was fetched there counts as read. */
void swemu_fetched_used(struct cpe *c, const void *p, size_t n, uintptr_t pc)
{
    if (!c || !c->check)
        return;
    const char *word = (const char *)((uintptr_t)p & ~(uintptr_t)3), *end = (const char *)p + n;
    uint8_t *flags = swemu_check_flags(c, word, 1);
    for (; flags && word < end; flags++, word += 4) {
        if (UNLIKELY((*flags & FATE) == RACED))
            report(c, word, pc);
        if ((*flags & FATE) != LOST)
            set_fate(flags, 0);
    }
}

/* These bytes of the LDM are overwritten; of a word of which some stay, they may still be used. */
void swemu_fetched_stored(struct cpe *c, const void *p, size_t n)
{
    const char *word = (const char *)(((uintptr_t)p + 3) & ~(uintptr_t)3), *end = (const char *)p + n;
    uint8_t *flags = c && c->check ? swemu_check_flags(c, word, 1) : NULL;
    for (; flags && word + 4 <= end; flags++, word += 4)
        if (is_unused(c, *flags, word))
            set_fate(flags, LOST);
}

/* ---- the course of a get ---- */

typedef void holder_action(struct cpe *c, const struct xfer *x, struct cpe *holder, char *ldm);

static void each_holder(struct cpe *c, const struct xfer *x, holder_action *act)
{
    if (!x->targets)
        act(c, x, c, x->ldm);
    for (uint64_t left = x->targets; left; left &= left - 1) {
        struct cpe *to = swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)];
        char *there = swemu_ldm_translate(c, to, x->ldm, (size_t)x->len);
        if (there)
            act(c, x, to, there);
    }
}

static void start(struct cpe *c, const struct xfer *x, struct cpe *holder, char *ldm)
{
    bool in_blocks = x->stride && x->bsize < x->len;
    struct fetch like = {.by = c, .holder = holder, .under_way = x, .mem = x->mem, .ldm = ldm, .len = x->len,
                         .bsize = in_blocks ? x->bsize : x->len, .lo = ldm, .hi = ldm + x->len, .pc = x->pc,
                         .site = swemu_check_site(x->pc)};
    like.pitch = in_blocks ? (long)x->bsize + x->stride : 0;
    forget(holder->check, like.lo, like.hi);
    make_room(holder->check);
    struct fetch *f = linked(&like);
    insert(holder->check, first_behind(holder->check, f->lo), f);
    each_piece(f, f->lo, f->hi, look_for_writes);
}

/* A get is started. */
void swemu_fetched_start(struct cpe *c, const struct xfer *x) { each_holder(c, x, start); }

static void flag_words(struct fetch *f)
{
    uint8_t *flags = swemu_check_flags(f->holder, f->lo, (size_t)(f->hi - f->lo));
    size_t words = (size_t)(f->hi - f->lo) / 4;
    if (flags)
        swemu_change_flags(flags, words, (uint8_t)~FATE, FETCHED);
    for (size_t k = 0; flags && f->raced && k < words; k++)
        if (f->raced[(f->lo - f->ldm) / 4 + (long)k].clock)
            set_fate(&flags[k], RACED);
    if (!&swemu_instrumented) /* nobody tells of its uses */
        swemu_fetched_used(f->holder, f->lo, (size_t)(f->hi - f->lo), f->pc);
}

static void arrive(struct cpe *c, const struct xfer *x, struct cpe *holder, char *ldm)
{
    const struct check *k = holder->check;
    for (size_t at = first_behind(k, ldm); at < k->fetch_count && k->fetches[at]->lo < ldm + x->len; at++) {
        struct fetch *f = k->fetches[at];
        if (f->under_way != x)
            continue;
        each_piece(f, f->lo, f->hi, look_for_writes);
        f->under_way = NULL;
        f->clock = c->check->knows[c->pen];
        f->epoch = epoch_now(c->check);
        flag_words(f);
    }
}

/* The bytes of a get are about to move. */
void swemu_fetched_arrive(struct cpe *c, const struct xfer *x) { each_holder(c, x, arrive); }

/* A spawn with nobody running: all gets are known to all, but for races that were found already. */
void swemu_fetched_spawn(struct cpe *c)
{
    struct check *k = c->check;
    for (size_t at = k->fetch_count; at-- > 0;)
        if (!k->fetches[at]->raced || on_stack(k->fetches[at]))
            forget(k, k->fetches[at]->lo, k->fetches[at]->hi);
}

/* The CPE enters a function, whose frame ends here: what was fetched to the stack below is gone. */
void swemu_fetched_frame(struct cpe *c, const void *frame)
{
    if (UNLIKELY(c->check && c->check->stack_fetches))
        forget(c->check, c->stack_lo, frame);
}
