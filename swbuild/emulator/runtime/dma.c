/* DMA: static checks at issue, bytes at completion.
 *
 * A get reads main memory when it completes, a put reads the LDM when it completes; the reply word
 * grows by one right after.  Past its reply the bytes of a put may still be on their way: in the late
 * and random modes they are staged and reach memory at a fence (memb, a DMA barrier, a
 * synchronisation, the end of the kernel), or when the same CPE transfers that memory again.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "swemu.h"

static void list_init(struct xfer_list *l)
{
    if (!l->head.next)
        l->head.next = l->head.prev = &l->head;
}

static void list_add(struct xfer_list *l, struct xfer *x)
{
    list_init(l);
    x->prev = l->head.prev;
    x->next = &l->head;
    x->prev->next = x->next->prev = x;
    l->count++;
}

static void list_remove(struct xfer_list *l, struct xfer *x)
{
    x->prev->next = x->next;
    x->next->prev = x->prev;
    l->count--;
}

struct xfer *swemu_xfer_new(void)
{
    struct xfer *x = swemu_alloc(sizeof *x);
    if (!x)
        swemu_lacking("no memory for a transfer", 0, "give more memory, or a higher limit (ulimit -v)");
    return x;
}

static void bump(struct cpe *c, volatile int *reply)
{
    if (!reply)
        return;
    __atomic_add_fetch(reply, 1, __ATOMIC_SEQ_CST);
    swemu_trace_completed(c, reply);
}

/* From the begin of one block to that of the next: negative where the gap is, and larger than a block. */
static long pitch(const struct xfer *x) { return (long)x->bsize + x->stride; }

static bool in_blocks(const struct xfer *x) { return x->stride && x->bsize < x->len; }

/* Call `move` for every contiguous piece: memory side, packed side, bytes. */
static void each_block(const struct xfer *x, char *packed, void (*move)(char *mem, char *packed, size_t n))
{
    if (!in_blocks(x)) {
        move(x->mem, packed, (size_t)x->len);
        return;
    }
    char *mem = x->mem;
    for (int done = 0; done < x->len; done += x->bsize, mem += pitch(x))
        move(mem, packed + done, (size_t)(x->len - done < x->bsize ? x->len - done : x->bsize));
}

static void to_ldm(char *mem, char *packed, size_t n) { memcpy(packed, mem, n); }
static void to_memory(char *mem, char *packed, size_t n) { memcpy(mem, packed, n); }

static void touch_read(char *mem, char *packed, size_t n) { (void)packed, swemu_touch(mem, n, false); }
static void touch_written(char *mem, char *packed, size_t n) { (void)packed, swemu_touch(mem, n, true); }

static char *last_block(const struct xfer *x) { return x->mem + (x->len - 1) / x->bsize * pitch(x); }

static char *memory_end(const struct xfer *x)
{
    if (!in_blocks(x))
        return x->mem + x->len;
    return pitch(x) < 0 ? x->mem + x->bsize : last_block(x) + (x->len - (x->len - 1) / x->bsize * x->bsize);
}

static char *memory_start(const struct xfer *x) { return in_blocks(x) && pitch(x) < 0 ? last_block(x) : x->mem; }

static void free_xfer(struct xfer *x)
{
    if (x->staged)
        swemu_release(x->staged);
    swemu_release(x);
}

static void commit(struct cpe *c, struct xfer *x)
{
    list_remove(&c->staged, x);
    swemu_check_commit(c, x);
    each_block(x, x->staged, to_memory);
    free_xfer(x);
}

void swemu_commit_staged(struct cpe *c)
{
    while (c->staged.count)
        commit(c, c->staged.head.next);
}

/* Commit what this CPE has put to [lo, hi) and anything that it put before that. */
void swemu_commit_overlap(struct cpe *c, const char *lo, const char *hi)
{
    if (!c->staged.count)
        return;
    struct xfer *last = NULL;
    for (struct xfer *x = c->staged.head.next; x != &c->staged.head; x = x->next)
        if (memory_start(x) < hi && lo < memory_end(x))
            last = x;
    while (last) {
        struct xfer *x = c->staged.head.next;
        bool end = x == last;
        commit(c, x);
        if (end)
            break;
    }
}

static void each_target(const struct cpe *c, const struct xfer *x, void (*act)(const struct cpe *, const struct xfer *,
                                                                              struct cpe *))
{
    for (uint64_t left = x->targets; left; left &= left - 1)
        act(c, x, swemu.cpes[c->cg * SWEMU_CPES + __builtin_ctzll(left)]);
}

static void deliver(const struct cpe *c, const struct xfer *x, struct cpe *to)
{
    char *there = swemu_ldm_translate(c, to, x->kind == XFER_GET ? x->ldm : x->remote, (size_t)x->len);
    if (x->kind == XFER_RMA_GET)
        memmove(x->ldm, there, (size_t)x->len);
    else if (x->kind == XFER_RMA_PUT)
        memmove(there, x->ldm, (size_t)x->len);
    else
        each_block(x, there, to_ldm);
    if (x->remote_reply)
        bump(to, (volatile int *)swemu_ldm_translate(c, to, x->remote_reply, 4));
}

/* Move the bytes of a transfer that is not (or no longer) in a list, and answer. */
static void finish(struct cpe *c, struct xfer *x)
{
    swemu_check_done(c, x);
    if (x->kind == XFER_GET && !x->targets) {
        swemu_commit_overlap(c, memory_start(x), memory_end(x));
        each_block(x, x->ldm, to_ldm);
    } else if (x->kind == XFER_PUT) {
        if (swemu.completion == EAGER) {
            each_block(x, x->ldm, to_memory);
        } else {
            x->staged = swemu_alloc((size_t)x->len);
            memcpy(x->staged, x->ldm, (size_t)x->len);
            list_add(&c->staged, x);
        }
    } else {
        each_target(c, x, deliver);
        c->gave = true;
    }
    swemu_check_moved(c, x);
    if (swemu.completion == EAGER)
        __sync_synchronize();
    bump(c, x->reply);
    if (!x->staged)
        free_xfer(x);
}

void swemu_complete(struct cpe *c, struct xfer *x)
{
    list_remove(&c->pending, x);
    finish(c, x);
}

static struct xfer *choose(struct cpe *c, const volatile void *word)
{
    struct xfer *x = c->pending.head.prev;
    if (swemu.oldest_first) {
        for (x = c->pending.head.next; word && x != &c->pending.head; x = x->next)
            if (x->reply == word)
                return x;
        return c->pending.head.next;
    }
    if (swemu.completion == RANDOM) {
        for (uint64_t k = swemu_random() % (uint64_t)c->pending.count; k; k--)
            x = x->prev;
        return x;
    }
    for (; word && x != &c->pending.head; x = x->prev)
        if (x->reply == word)
            return x;
    return c->pending.head.prev;
}

/* Complete one transfer of this CPE (late: the one whose reply it looks at, else the youngest). */
bool swemu_complete_one(struct cpe *c, const volatile void *word)
{
    if (!c->pending.count)
        return false;
    struct xfer *x = choose(c, word);
    if (c == swemu_self)
        swemu_trace_wait(c, c->pc, x, NULL);
    swemu_complete(c, x);
    return true;
}

/* Complete the transfer with this number, if it is still under way. */
void swemu_complete_serial(struct cpe *c, unsigned long serial)
{
    for (struct xfer *x = c->pending.head.next; x && x != &c->pending.head; x = x->next)
        if (x->serial == serial) {
            swemu_complete(c, x);
            return;
        }
}

/* Nobody can run: let one transfer of anybody arrive. */
bool swemu_complete_any(void)
{
    for (int k = 0; k < swemu.count; k++)
        if (swemu_complete_one(swemu.cpes[k], NULL))
            return true;
    return false;
}

/* Random mode: at any call to the runtime, something may have arrived meanwhile. */
void swemu_maybe_complete(struct cpe *c)
{
    if (swemu.completion != RANDOM)
        return;
    while (c->pending.count && swemu_random() % 3 == 0)
        swemu_complete(c, choose(c, NULL));
    while (c->staged.count && swemu_random() % 3 == 0)
        commit(c, c->staged.head.next);
}

/* Everything that this CPE has under way arrives. */
void swemu_drain(struct cpe *c)
{
    while (c->pending.count)
        swemu_complete(c, c->pending.head.next);
    swemu_commit_staged(c);
}

/* The kernel has returned: what is under way to or from its stack has nowhere to go. */
void swemu_drop_stack(struct cpe *c)
{
    for (struct xfer *x = c->pending.head.next, *next; x && x != &c->pending.head; x = next) {
        next = x->next;
        if (swemu_ldm_place(c, x->ldm, 1) != IN_STACK && swemu_ldm_place(c, (const void *)x->reply, 1) != IN_STACK)
            continue;
        if (!swemu_reported("SW665", x->pc, 0))
            swemu_problem(c, x->pc, "SW665", "wait for every transfer before the kernel returns",
                          "the kernel has returned while a transfer of its stack is under way");
        swemu_check_done(c, x);
        list_remove(&c->pending, x);
        free_xfer(x);
    }
}

/* Start a checked transfer (owned by the callee). */
void swemu_issue(struct cpe *c, struct xfer *x)
{
    x->serial = c->serial++;
    if (swemu.completion == EAGER) {
        finish(c, x);
        return;
    }
    list_add(&c->pending, x);
    swemu_maybe_complete(c);
}

/* ---- static checks ---- */

static const char *verb(const struct xfer *x) { return x->kind == XFER_GET ? "DMA get" : "DMA put"; }

static int tail_told;

static void check_shape(struct cpe *c, const struct xfer *x)
{
    if (x->len <= 0)
        swemu_fault(c, x->pc, "SW611", "guard the call", "%s of %d bytes", verb(x), x->len);
    if (x->len > DMA_LONGEST)
        swemu_fault(c, x->pc, "SW612", "split the transfer", "%s of %d bytes: one transfer carries at most %d",
                    verb(x), x->len, DMA_LONGEST);
    if (x->len % 4 || (uintptr_t)x->mem % 4 || (uintptr_t)x->ldm % 4)
        swemu_fault(c, x->pc, "SW613", "align both addresses and the length to 4 bytes",
                    "%s with memory address %p, LDM address %p and length %d: not all are multiples of 4", verb(x),
                    (void *)x->mem, (void *)x->ldm, x->len);
    if (!x->stride)
        return;
    if (x->bsize <= 0)
        swemu_fault(c, x->pc, "SW614", "give the size of a block in bytes", "strided %s with blocks of %d bytes",
                    verb(x), x->bsize);
    if (x->len % x->bsize && (swemu.checked || !tail_told++) && !swemu_reported("SW614", x->pc, 0))
        swemu_problem(c, x->pc, "SW614", "make the length a multiple of the block size",
                      "strided %s of %d bytes in blocks of %d: what the machine does with the tail is not documented",
                      verb(x), x->len, x->bsize);
    if (x->bsize > DMA_LARGEST_BLOCK)
        swemu_fault(c, x->pc, "SW612", "use smaller blocks", "strided %s: blocks of %d bytes, the limit is %d",
                    verb(x), x->bsize, DMA_LARGEST_BLOCK);
    if (x->kind == XFER_PUT && in_blocks(x) && labs(pitch(x)) < x->bsize)
        swemu_fault(c, x->pc, "SW614", "make the gap 0 or more, or -2 blocks or less",
                    "strided DMA put of blocks of %d bytes with gaps of %d: the blocks overlap in memory, and which of "
                    "them comes last is not documented", x->bsize, x->stride);
    if (x->bsize % 4 || x->stride % 4)
        swemu_fault(c, x->pc, "SW613", "align the block size and the gap to 4 bytes",
                    "strided %s with blocks of %d and gaps of %d bytes: not multiples of 4", verb(x), x->bsize,
                    x->stride);
}

/*
 * A get may take in the rest of the word in which something in memory ends: whole words are all that moves, and no
 * page ends within one.
 */
static bool in_memory(struct cpe *c, const struct xfer *x, const char *mem, size_t len)
{
    return LIKELY(swemu_mem_valid(c, mem, len)) || (x->kind == XFER_GET && swemu_mem_valid(c, mem, len - 3));
}

static void check_memory(struct cpe *c, const struct xfer *x)
{
    char where[256];
    char *mem = x->mem;
    int step = in_blocks(x) ? x->bsize : x->len;
    for (int done = 0; done < x->len; done += step, mem += pitch(x)) {
        if (in_memory(c, x, mem, (size_t)(x->len - done < step ? x->len - done : step)))
            continue;
        if (swemu_ldm_place(c, mem, 1) != NOWHERE)
            swemu_fault(c, x->pc, "SW615", "the order of the arguments is (memory, LDM) in athread_get and "
                        "(LDM, memory) in athread_put", "%s: the main-memory side %p lies in the LDM", verb(x),
                        (void *)mem);
        swemu_mem_describe(mem, where, sizeof where);
        swemu_fault(c, x->pc, "SW610", x->stride ? "stride is the gap between two blocks, not the pitch of the rows"
                    : "compare the length with the array",
                    "%s of %d bytes (blocks %d, gap %d) from %p: block %d, [%p, %p), is out of bounds: %s", verb(x),
                    x->len, x->bsize, x->stride, (void *)x->mem, done / step, (void *)mem, (void *)(mem + step), where);
    }
}

static void check_ldm(struct cpe *c, const struct xfer *x)
{
    if (swemu_ldm_place(c, x->ldm, (size_t)x->len) == NOWHERE)
        swemu_fault(c, x->pc, "SW616", "declare the buffer with __thread_local, or make it larger",
                    "%s: LDM side [%p, %p) is not inside the LDM of this CPE", verb(x), (void *)x->ldm,
                    (void *)(x->ldm + x->len));
    swemu_check_extent(c, x->ldm, (size_t)x->len, x->kind == XFER_GET ? "a DMA get into" : "a DMA put of", x->pc);
    if (!x->reply)
        return;
    if (swemu_ldm_place(c, (const void *)x->reply, 4) == NOWHERE)
        swemu_fault(c, x->pc, "SW617", "declare the reply word with __thread_local",
                    "%s: the reply word %p is not in the LDM", verb(x), (void *)x->reply);
    if ((uintptr_t)x->reply % 4)
        swemu_fault(c, x->pc, "SW617", "", "%s: the reply word %p is not aligned to 4 bytes", verb(x),
                    (void *)x->reply);
}

struct xfer *swemu_dma_prepare(struct cpe *c, struct xfer x, uintptr_t pc)
{
    x.pc = pc;
    c->pc = pc;
    if (!x.stride || x.bsize >= x.len)
        x.stride = 0, x.bsize = x.len;
    check_shape(c, &x);
    check_ldm(c, &x);
    check_memory(c, &x);
    struct xfer *made = swemu_xfer_new();
    *made = x;
    swemu_count_transfer(c, made, x.kind == XFER_GET ? OP_GET : OP_PUT);
    each_block(made, made->ldm, x.kind == XFER_GET ? touch_read : touch_written);
    swemu_check_issue(c, made);
    return made;
}
