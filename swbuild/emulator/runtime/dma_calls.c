/* DMA: the calls of slave code, by function, by descriptor, and by instruction. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "swemu.h"

static uint64_t rows(int mask)
{
    uint64_t cpes = 0;
    for (int row = 0; row < MESH_ROWS; row++)
        if (mask >> row & 1)
            cpes |= SWEMU_ROW(row);
    return cpes;
}

/* Modes without CRTS: 1 is broadcast to the rows of the mask; the order of the data in 2 to 4 is not published. */
static void start(struct cpe *c, struct xfer x, int mode, int mask, uintptr_t pc, const char *what)
{
    if (mode != 0 && !(mode == 1 && !HAS_CRTS && x.kind == XFER_GET))
        swemu_fault(c, pc, "SW618", "use PE_MODE",
                    "%s: mode %d is not emulated (the order of its data is not published)", what, mode);
    if (!x.reply)
        swemu_fault(c, pc, "SW617", "pass the address of a __thread_local int", "%s without a reply word", what);
    if (mode == 1)
        x.targets = rows(mask);
    struct xfer *made = swemu_dma_prepare(c, x, pc);
    swemu_trace_dma(c, made, mode, mask);
    if (mode == 1) {
        swemu_check_unreserve(c, made);
        made->remote_reply = made->reply;
        made->reply = NULL;
    }
    swemu_issue(c, made);
}

int slave_athread_get(int mode, void *src, void *dest, int len, void *reply, char mask, int stride, int bsize);
int slave_athread_get(int mode, void *src, void *dest, int len, void *reply, char mask, int stride, int bsize)
{
    struct cpe *c = swemu_enter(CALLER(), "athread_get");
    struct xfer x = {.kind = XFER_GET, .mem = src, .ldm = dest, .len = len, .bsize = bsize, .stride = stride,
                     .reply = reply};
    start(c, x, mode, mask & 0xff, CALLER(), "athread_get");
    return 0;
}

int slave_athread_put(int mode, void *src, void *dest, int len, void *reply, int stride, int bsize);
int slave_athread_put(int mode, void *src, void *dest, int len, void *reply, int stride, int bsize)
{
    struct cpe *c = swemu_enter(CALLER(), "athread_put");
    struct xfer x = {.kind = XFER_PUT, .mem = dest, .ldm = src, .len = len, .bsize = bsize, .stride = stride,
                     .reply = reply};
    start(c, x, mode, 0, CALLER(), "athread_put");
    return 0;
}

/* A dma_desc of dma.h, which marks it in `set`. */
struct descriptor {
    unsigned int size, bsize, stride, set;
    unsigned char op, mode, mask, unused[5];
    volatile void *reply;
};

enum { DESCRIPTOR_OF_C = 0x5d3a0000 };

/* The machine's own descriptor, which assembly writes; of the reply's address it has 16 bits. */
struct packed_descriptor {
    unsigned size : 24, : 8, bsize : 20, : 4, op : 4, mode : 4;
    unsigned short reply;
    unsigned char unused, mask;
    unsigned int stride;
};

/* Return the LDM word whose address ends in these 16 bits, or null: of the statics and the stack there is one. */
static volatile void *word_at(const struct cpe *c, unsigned low)
{
    const char *from[] = {__builtin_frame_address(0), c->statics, c->heap};
    const char *to[] = {c->stack_top, c->statics + c->statics_size, c->heap + c->heap_used};
    for (int k = 0; k < 3; k++) {
        const char *p = from[k] + ((low - (uintptr_t)from[k]) & 0xffff);
        if (p + 4 <= to[k])
            return (volatile void *)(uintptr_t)p;
    }
    return NULL;
}

static struct descriptor unpacked(const struct cpe *c, const void *d)
{
    struct packed_descriptor p;
    memcpy(&p, d, sizeof p);
    return (struct descriptor){.size = p.size, .bsize = p.bsize, .stride = p.stride, .op = p.op, .mode = p.mode,
                               .mask = p.mask, .reply = word_at(c, p.reply)};
}

int __swemu_dma_start(const struct descriptor *given, void *mem, void *ldm);
int __swemu_dma_start(const struct descriptor *given, void *mem, void *ldm)
{
    struct cpe *c = swemu_enter(CALLER(), "dma");
    const struct descriptor own = given->set == DESCRIPTOR_OF_C ? *given : unpacked(c, given), *d = &own;
    struct xfer x = {.kind = d->op % 2 ? XFER_GET : XFER_PUT, .mem = mem, .ldm = ldm, .len = (int)d->size,
                     .bsize = (int)d->bsize, .stride = (int)d->stride, .reply = (volatile int *)d->reply};
    if (d->op == 5) {
        swemu_drain(c);
        return 0;
    }
    start(c, x, d->mode, d->mask, CALLER(), "dma");
    return 0;
}

int __swemu_dma(int put, int wait, void *dst, void *src, int len, void *reply, int bsize, int stride);
int __swemu_dma(int put, int wait, void *dst, void *src, int len, void *reply, int bsize, int stride)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter(pc, "athread_dma");
    struct xfer x = {.kind = put ? XFER_PUT : XFER_GET, .mem = put ? dst : src, .ldm = put ? src : dst, .len = len,
                     .bsize = bsize, .stride = stride, .reply = reply};
    unsigned long serial = c->serial;
    if (!wait) {
        start(c, x, 0, 0, pc, put ? "athread_dma_iput" : "athread_dma_iget");
        return 0;
    }
    struct xfer *made = swemu_dma_prepare(c, x, pc);
    swemu_trace_dma(c, made, 0, 0);
    swemu_issue(c, made);
    swemu_complete_serial(c, serial);
    swemu_trace_wait(c, pc, NULL, NULL);
    return 0;
}

int slave_athread_dma_barrier(void);
int slave_athread_dma_barrier(void)
{
    struct cpe *c = swemu_enter(CALLER(), "athread_dma_barrier");
    swemu_drain(c);
    swemu_trace_wait(c, CALLER(), NULL, NULL);
    __sync_synchronize();
    return 0;
}

void __swemu_flush(void);
void __swemu_flush(void)
{
    struct cpe *c = swemu_enter(CALLER(), "flush_slave_cache");
    swemu_commit_staged(c);
    swemu_check_flush(c);
    __sync_synchronize();
}

void __swemu_memb(void);
void __swemu_memb(void)
{
    struct cpe *c = swemu_self;
    if (c)
        swemu_commit_staged(c);
    __sync_synchronize();
}
