/* What the compiler calls at every load and store of slave code built for checked mode.
 *
 * The names are those of gcc's -fsanitize=thread; the library behind them is not linked.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "check.h"

const int swemu_instrumented = 1;

static __attribute__((noinline)) void uninitialised(struct cpe *c, const void *p, size_t n, uintptr_t pc)
{
    if (!swemu_reported("SW663", pc, 0))
        swemu_problem(c, pc, "SW663", "LDM keeps what was there before: initialise it in the kernel",
                      "%zu bytes at LDM %#lx are read, but nothing has been written there", n, swemu_ldm_offset(c, p));
}

static __attribute__((noinline)) void far_access(struct cpe *c, const void *p, size_t n, bool write, uintptr_t pc)
{
    char where[256];
    if ((const char *)p >= c->heap && (const char *)p < c->heap + LDM_BYTES) {
        if (c->check->inflight)
            swemu_check_flight(c, p, n, write, pc);
        if (!write && swemu_is_poison((const void *)((uintptr_t)p & ~(uintptr_t)3)))
            uninitialised(c, p, n, pc);
        return;
    }
    if (!swemu_mem_valid(c, p, n)) {
        const struct cpe *other = swemu_ldm_owner(p);
        if (other)
            swemu_fault(c, pc, "SW666", "move data between LDMs with RMA or register communication",
                        "%s the LDM of CPE %d by an ordinary pointer", write ? "a store to" : "a load from", other->id);
        swemu_mem_describe(p, where, sizeof where);
        swemu_fault(c, pc, "SW610", "", "%s %p, out of bounds: %s", write ? "a store to" : "a load from", p, where);
    }
    if (write)
        swemu_commit_overlap(c, p, (const char *)p + n);
    c->direct_accesses++;
    c->direct_bytes += n;
    swemu_check_memory(c, p, n, write ? STORES : LOADS, pc, true);
}

/* What is not an access of the statics at a quiet moment, or reads the poison pattern. */
static __attribute__((noinline)) void slow_access(const void *p, size_t n, bool write, uintptr_t pc)
{
    struct cpe *c = swemu_self;
    if (!c || !c->check)
        return;
    if ((uintptr_t)((const char *)p - c->statics) >= c->statics_size) {
        if ((uintptr_t)((const char *)p - c->stack_lo) >= (uintptr_t)(c->stack_hi - c->stack_lo))
            far_access(c, p, n, write, pc);
        else if (c->check->inflight)
            swemu_check_flight(c, p, n, write, pc);
        return;
    }
    if (c->check->inflight)
        swemu_check_flight(c, p, n, write, pc);
    if (!write && n >= 4 && swemu_is_poison(p) && (n < 8 || swemu_is_poison((const char *)p + 4)))
        uninitialised(c, p, n, pc);
}

/* A word of 4 bytes is poison when it is one half of the pattern; one of 8 bytes when it is the whole. */
static inline __attribute__((always_inline)) bool looks_poisoned(const void *p, size_t n)
{
    uint64_t whole;
    uint32_t half;
    if (n == 8)
        return memcpy(&whole, p, 8), whole == POISON;
    if (n == 4)
        return memcpy(&half, p, 4), half == ((uintptr_t)p & 4 ? POISON_HIGH : POISON_LOW);
    return false;
}

static inline __attribute__((always_inline)) void access_hook(const void *p, size_t n, bool write, uintptr_t pc)
{
    const struct hot *hot = swemu_hot;
    if (UNLIKELY((uintptr_t)p - hot->base >= hot->size) || (!write && UNLIKELY(looks_poisoned(p, n))))
        slow_access(p, n, write, pc);
}

#define HOOKS(N)                                                                                                       \
    void __tsan_read##N(void *p) { access_hook(p, N, false, CALLER()); }                                               \
    void __tsan_write##N(void *p) { access_hook(p, N, true, CALLER()); }                                               \
    void __tsan_unaligned_read##N(void *p) { access_hook(p, N, false, CALLER()); }                                     \
    void __tsan_unaligned_write##N(void *p) { access_hook(p, N, true, CALLER()); }                                     \
    void __tsan_volatile_read##N(void *p) { volatile_hook(p, N, false, CALLER()); }                                    \
    void __tsan_volatile_write##N(void *p) { volatile_hook(p, N, true, CALLER()); }                                    \
    void __tsan_unaligned_volatile_read##N(void *p) { volatile_hook(p, N, false, CALLER()); }                          \
    void __tsan_unaligned_volatile_write##N(void *p) { volatile_hook(p, N, true, CALLER()); }

/* A volatile access of main memory is taken for a flag by which CPEs order each other. */
static __attribute__((noinline)) void volatile_hook(const void *p, size_t n, bool write, uintptr_t pc)
{
    struct cpe *c = swemu_self;
    if (!c || !c->check)
        return;
    if (swemu_ldm_place(c, p, 1) != NOWHERE) {
        access_hook(p, n, write, pc);
        if (write)
            swemu_check_reply_store(c, p, pc);
        else
            swemu_check_receive(c, 0);
    } else if (write) {
        swemu_check_release(c, p);
    } else {
        swemu_check_acquire(c, p);
    }
}

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)

void __tsan_init(void) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void *at, void *value) { (void)at, (void)value; }
void __tsan_vptr_read(void *at) { (void)at; }

void __tsan_func_entry(void *call)
{
    struct cpe *c = swemu_self;
    if (c)
        swemu_ldm_sample_stack(c, __builtin_frame_address(0), (uintptr_t)call);
}

static void range(const void *p, unsigned long n, bool write, uintptr_t pc)
{
    for (unsigned long k = 0; k < n; k += 4)
        access_hook((const char *)p + k, n - k < 4 ? n - k : 4, write, pc);
}

void __tsan_read_range(void *p, unsigned long n) { range(p, n, false, CALLER()); }
void __tsan_write_range(void *p, unsigned long n) { range(p, n, true, CALLER()); }

/* ---- C library functions that slave code calls on its data ---- */

void *slave_memcpy(void *to, const void *from, size_t n)
{
    range(from, n, false, CALLER());
    range(to, n, true, CALLER());
    return memcpy(to, from, n);
}

void *slave_memmove(void *to, const void *from, size_t n)
{
    range(from, n, false, CALLER());
    range(to, n, true, CALLER());
    return memmove(to, from, n);
}

void *slave_memset(void *to, int value, size_t n)
{
    range(to, n, true, CALLER());
    return memset(to, value, n);
}

/* ---- atomics ---- */

static void atomic_hook(const volatile void *p)
{
    struct cpe *c = swemu_self;
    if (c && c->check) {
        swemu_check_acquire(c, p);
        swemu_check_release(c, p);
    }
}

#define ATOMICS(B, T)                                                                                                  \
    T __tsan_atomic##B##_load(const volatile T *p, int o) { (void)o; atomic_hook(p); return __atomic_load_n(p, 5); }    \
    void __tsan_atomic##B##_store(volatile T *p, T v, int o) { (void)o; atomic_hook(p); __atomic_store_n(p, v, 5); }    \
    T __tsan_atomic##B##_exchange(volatile T *p, T v, int o) { (void)o; atomic_hook(p); return __atomic_exchange_n(p, v, 5); } \
    T __tsan_atomic##B##_fetch_add(volatile T *p, T v, int o) { (void)o; atomic_hook(p); return __atomic_fetch_add(p, v, 5); } \
    T __tsan_atomic##B##_fetch_sub(volatile T *p, T v, int o) { (void)o; atomic_hook(p); return __atomic_fetch_sub(p, v, 5); } \
    T __tsan_atomic##B##_fetch_and(volatile T *p, T v, int o) { (void)o; atomic_hook(p); return __atomic_fetch_and(p, v, 5); } \
    T __tsan_atomic##B##_fetch_or(volatile T *p, T v, int o) { (void)o; atomic_hook(p); return __atomic_fetch_or(p, v, 5); } \
    T __tsan_atomic##B##_fetch_xor(volatile T *p, T v, int o) { (void)o; atomic_hook(p); return __atomic_fetch_xor(p, v, 5); } \
    int __tsan_atomic##B##_compare_exchange_strong(volatile T *p, T *e, T v, int o, int f)                             \
    { (void)o; (void)f; atomic_hook(p); return __atomic_compare_exchange_n(p, e, v, 0, 5, 5); }                         \
    int __tsan_atomic##B##_compare_exchange_weak(volatile T *p, T *e, T v, int o, int f)                               \
    { (void)o; (void)f; atomic_hook(p); return __atomic_compare_exchange_n(p, e, v, 0, 5, 5); }
ATOMICS(8, uint8_t) ATOMICS(16, uint16_t) ATOMICS(32, uint32_t) ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int order) { (void)order; __sync_synchronize(); }
void __tsan_atomic_signal_fence(int order) { (void)order; }
