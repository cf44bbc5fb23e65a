/* RMA: copies between the LDMs of one core group, at the same LDM address. */
#include <string.h>

#include "swemu.h"

#if HAS_RMA
static const char *const where[] = {"outside the LDM", "", "on the stack", "on the ldm_malloc heap"};

/* The other side uses the initiator's LDM address: only statics have the same one everywhere. */
static void check_remote(struct cpe *c, const void *p, int len, const char *what, uintptr_t pc)
{
    enum place place = swemu_ldm_place(c, p, (size_t)len);
    if (place == IN_STATICS || (place == IN_HEAP && !swemu.checked))
        return;
    swemu_fault(c, pc, "SW651", "use a file-scope __thread_local variable: it has one address on all CPEs",
                "RMA: the remote %s %p is %s", what, p, where[place]);
}

static void check(struct cpe *c, const struct xfer *x)
{
    if (x->len <= 0 || x->len > DMA_LONGEST)
        swemu_fault(c, x->pc, "SW652", "", "RMA of %d bytes: the length must be from 4 to %d", x->len, DMA_LONGEST);
    if (x->len % 4 || (uintptr_t)x->ldm % 4 || (uintptr_t)x->remote % 4)
        swemu_fault(c, x->pc, "SW653", "align both addresses and the length to 4 bytes",
                    "RMA between LDM addresses %p and %p of %d bytes: not all are multiples of 4", (void *)x->ldm,
                    (void *)x->remote, x->len);
    if (swemu_ldm_place(c, x->ldm, (size_t)x->len) == NOWHERE)
        swemu_fault(c, x->pc, "SW651", "RMA moves between LDMs; main memory needs DMA",
                    "RMA: the local side %p is not in the LDM", (void *)x->ldm);
    check_remote(c, x->remote, x->len, "buffer", x->pc);
    swemu_check_extent(c, x->ldm, (size_t)x->len, "an RMA with", x->pc);
    swemu_check_extent(c, x->remote, (size_t)x->len, "an RMA with", x->pc);
    if (x->remote_reply)
        check_remote(c, (const void *)x->remote_reply, 4, "reply word", x->pc);
    if (x->reply && swemu_ldm_place(c, (const void *)x->reply, 4) == NOWHERE)
        swemu_fault(c, x->pc, "SW651", "declare the reply word with __thread_local",
                    "RMA: the reply word %p is not in the LDM", (void *)x->reply);
}

static struct xfer *start(struct cpe *c, struct xfer x, enum site_op op)
{
    c->pc = x.pc;
    check(c, &x);
    struct xfer *made = swemu_xfer_new();
    *made = x;
    swemu_count_transfer(c, made, op);
    swemu_trace_rma(c, made, op);
    swemu_check_issue(c, made);
    return made;
}

static void go(struct cpe *c, struct xfer *x, bool wait)
{
    unsigned long serial = c->serial;
    swemu_issue(c, x);
    if (wait) {
        swemu_complete_serial(c, serial);
        swemu_trace_wait(c, c->pc, NULL, NULL);
        if (swemu.baton)
            swemu_pause(c);
    }
}

int __swemu_rma(int op, int wait, void *local, void *l_reply, int len, int target, void *remote, void *r_reply);
int __swemu_rma(int op, int wait, void *local, void *l_reply, int len, int target, void *remote, void *r_reply)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter(pc, "athread_rma");
    if (target < 0 || target >= SWEMU_CPES)
        swemu_fault(c, pc, "SW654", "CPEs of a core group count from 0 to " TEXT(LAST_CPE), "RMA with CPE %d", target);
    struct xfer x = {.kind = op ? XFER_RMA_GET : XFER_RMA_PUT, .ldm = local, .remote = remote, .len = len,
                     .reply = l_reply, .remote_reply = r_reply, .targets = 1ULL << target, .pc = pc, .bsize = len};
    go(c, start(c, x, op ? OP_RMA_GET : OP_RMA_PUT), wait);
    return 0;
}

static uint64_t set_of(const struct cpe *c, int which, int mask)
{
    uint64_t set = 0;
    if (which == 0)
        return SWEMU_ALL;
    if (!mask)
        mask = 1 << (which == 1 ? c->row : c->col);
    for (int k = 0; k < SWEMU_CPES; k++)
        if (mask >> (which == 1 ? k / MESH_COLUMNS : k % MESH_COLUMNS) & 1)
            set |= 1ULL << k;
    return set;
}

int __swemu_rma_bcast(int which, int wait, void *dst, void *src, int len, int mask, void *l_reply, void *r_reply);
int __swemu_rma_bcast(int which, int wait, void *dst, void *src, int len, int mask, void *l_reply, void *r_reply)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter(pc, "athread_rma_bcast");
    struct xfer x = {.kind = XFER_RMA_PUT, .ldm = src, .remote = dst, .len = len, .reply = l_reply,
                     .remote_reply = r_reply, .targets = set_of(c, which, mask), .pc = pc, .bsize = len};
    go(c, start(c, x, OP_BCAST), wait);
    return 0;
}

int __swemu_rma_coll(int which, void *dst, void *src, int len, int root);
int __swemu_rma_coll(int which, void *dst, void *src, int len, int root)
{
    static const char *const names[] = {"athread_rma_bcast_coll", "athread_rma_row_bcast_coll",
                                        "athread_rma_col_bcast_coll"};
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter(pc, names[which]);
    int me = which == 0 ? c->pen : which == 1 ? c->col : c->row;
    if (root < 0 || root >= (which == 0 ? SWEMU_CPES : which == 1 ? MESH_COLUMNS : MESH_ROWS))
        swemu_fault(c, pc, "SW654", "", "%s: there is no root %d", names[which], root);
    uint64_t set = set_of(c, which, 0);
    swemu_sync(c, set, 16 + which, names[which], pc);
    if (me == root) {
        struct xfer x = {.kind = XFER_RMA_PUT, .ldm = src, .remote = dst, .len = len, .targets = set, .pc = pc,
                         .bsize = len};
        go(c, start(c, x, OP_BCAST), true);
    }
    swemu_sync(c, set, 24 + which, names[which], pc);
    return 0;
}

int __swemu_dma_bcast(int which, int collective, void *dst, void *src, int len, int bsize, int stride, void *reply,
                      int root);
int __swemu_dma_bcast(int which, int collective, void *dst, void *src, int len, int bsize, int stride, void *reply,
                      int root)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter(pc, "athread_dma_bcast");
    int me = which == 0 ? c->pen : which == 1 ? c->col : c->row;
    uint64_t set = set_of(c, which, 0);
    struct xfer x = {.kind = XFER_GET, .mem = src, .ldm = dst, .len = len, .bsize = bsize, .stride = stride,
                     .targets = set, .remote_reply = reply};
    if (collective)
        swemu_sync(c, set, 32 + which, "athread_dma_bcast_coll", pc);
    if (!collective || me == root)
        go(c, swemu_dma_prepare(c, x, pc), collective);
    if (collective)
        swemu_sync(c, set, 40 + which, "athread_dma_bcast_coll", pc);
    return 0;
}

int slave_athread_rma_barrier(void);
int slave_athread_rma_barrier(void)
{
    swemu_drain(swemu_enter(CALLER(), "athread_rma_barrier"));
    return 0;
}

static int drain_and_sync(uintptr_t pc, const char *what)
{
    struct cpe *c = swemu_enter(pc, what);
    swemu_drain(c);
    swemu_sync(c, SWEMU_ALL, 1, what, pc);
    return 0;
}

int slave_athread_rma_all_barrier(void);
int slave_athread_rma_all_barrier(void) { return drain_and_sync(CALLER(), "athread_rma_all_barrier"); }
int slave_athread_dma_all_barrier(void);
int slave_athread_dma_all_barrier(void) { return drain_and_sync(CALLER(), "athread_dma_all_barrier"); }

/* ---- collectives ---- */

static void combine(char *to, const char *from, int units, int type, int op)
{
#define EACH(T, EXPR)                                                                                                  \
    for (int k = 0; k < units; k++) {                                                                                  \
        T a = ((T *)to)[k], b = ((const T *)from)[k];                                                                  \
        ((T *)to)[k] = (T)(EXPR);                                                                                      \
    }                                                                                                                  \
    return
#define ARITHMETIC(T)                                                                                                  \
    if (op == 0) { EACH(T, a + b); }                                                                                   \
    if (op == 5) { EACH(T, a < b ? a : b); }                                                                           \
    if (op == 6) { EACH(T, a > b ? a : b); }
#define BITS(T)                                                                                                        \
    if (op == 1) { EACH(T, a & b); }                                                                                   \
    if (op == 2) { EACH(T, a | b); }                                                                                   \
    if (op == 3) { EACH(T, a ^ b); }                                                                                   \
    if (op == 4) { EACH(T, ~(a ^ b)); }
    switch (type) {
    case 4: units *= 16; /* fall through */
    case 0: ARITHMETIC(int) BITS(int) break;
    case 1: ARITHMETIC(long) BITS(long) break;
    case 5: units *= 8; /* fall through */
    case 2: ARITHMETIC(float) break;
    case 6: units *= 8; /* fall through */
    default: ARITHMETIC(double) break;
    }
}

static int unit_bytes(int type)
{
    static const int bytes[] = {4, 8, 4, 8, 64, 32, 64};
    return bytes[type];
}

int __swemu_reduce(const void *src, void *dst, int units, int type, int op);
int __swemu_reduce(const void *src, void *dst, int units, int type, int op)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter(pc, "athread_redurt");
    if (type < 0 || type > 6 || op < 0 || op > 6)
        swemu_fault(c, pc, "SW655", "", "athread_redurt: unknown type %d or operation %d", type, op);
    size_t bytes = (size_t)units * (size_t)unit_bytes(type);
    static char sums[SWEMU_MAX_CGS][LDM_BYTES];
    if (swemu_ldm_place(c, src, bytes) == NOWHERE || swemu_ldm_place(c, dst, bytes) == NOWHERE)
        swemu_fault(c, pc, "SW655", "", "athread_redurt: source and destination must lie in the LDM");
    c->published = src;
    swemu_fetched_used(c, src, bytes, pc);
    swemu_sync(c, SWEMU_ALL, 48, "athread_redurt", pc);
    if (c->pen == 0) {
        memcpy(sums[c->cg], src, bytes);
        for (int k = 1; k < SWEMU_CPES; k++)
            combine(sums[c->cg], swemu.cpes[c->cg * SWEMU_CPES + k]->published, units, type, op);
    }
    swemu_sync(c, SWEMU_ALL, 49, "athread_redurt", pc);
    memcpy(dst, sums[c->cg], bytes);
    swemu_fetched_stored(c, dst, bytes);
    swemu_sync(c, SWEMU_ALL, 50, "athread_redurt", pc);
    return 0;
}

int slave_athread_alltoall(void *src, void *dst, int unit);
int slave_athread_alltoall(void *src, void *dst, int unit)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter(pc, "athread_alltoall");
    c->published = src;
    swemu_fetched_used(c, src, (size_t)unit * SWEMU_CPES, pc);
    swemu_sync(c, SWEMU_ALL, 51, "athread_alltoall", pc);
    for (int k = 0; k < SWEMU_CPES; k++) {
        const char *from = swemu.cpes[c->cg * SWEMU_CPES + k]->published;
        memcpy((char *)dst + k * unit, from + c->pen * unit, (size_t)unit);
    }
    swemu_fetched_stored(c, dst, (size_t)unit * SWEMU_CPES);
    swemu_sync(c, SWEMU_ALL, 52, "athread_alltoall", pc);
    return 0;
}
#endif
