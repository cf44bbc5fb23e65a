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

static const char *verb(bool write) { return write ? "a store to" : "a load from"; }

static void check_bounds(struct cpe *c, const void *p, size_t n, bool write, uintptr_t pc)
{
    char where[256];
    if (LIKELY(swemu_mem_valid(c, p, n)))
        return;
    const struct cpe *other = swemu_ldm_owner(p);
    if (other)
        swemu_fault(c, pc, "SW666", "move data between LDMs with RMA or register communication",
                    "%s the LDM of CPE %d by an ordinary pointer", verb(write), other->id);
    swemu_mem_describe(p, where, sizeof where);
    swemu_fault(c, pc, "SW610", "", "%s %p, out of bounds: %s", verb(write), p, where);
}

static __attribute__((noinline)) void memory_access(struct cpe *c, const void *p, size_t n, bool write, uintptr_t pc)
{
    check_bounds(c, p, n, write, pc);
    if (write)
        swemu_commit_overlap(c, p, (const char *)p + n);
    swemu_count_direct(c, pc, n, write);
    swemu_check_memory(c, p, n, write ? STORES : LOADS, pc, true);
}

static bool within(const void *p, const char *lo, size_t size) { return (uintptr_t)p - (uintptr_t)lo < size; }

static bool is_ldm(const struct cpe *c, const void *p)
{
    return within(p, c->statics, c->statics_size) || within(p, c->heap, HEAP_BYTES);
}

static void use(struct cpe *c, const void *p, size_t n, bool write, uintptr_t pc)
{
    if (write)
        swemu_fetched_stored(c, p, n);
    else
        swemu_fetched_used(c, p, n, pc);
}

/* The LDM and the stack: what the shadow does not vouch for. */
static void near_access(struct cpe *c, const void *p, size_t n, bool write, bool valued, uintptr_t pc)
{
    const char *word = (const char *)((uintptr_t)p & ~(uintptr_t)3);
    size_t size = (size_t)((const char *)p + n - word);
    const uint8_t *flags = swemu_check_flags(c, word, 1);
    if (flags && *flags & (NO_PLACE | IN_PART))
        swemu_check_extent(c, p, n, verb(write), pc);
    if (!swemu_places_touch(c, p, n, write ? STORES : LOADS, pc) && c->check->inflight)
        swemu_check_flight(c, p, n, write, pc);
    use(c, p, n, write, pc);
    swemu_shadow_settle(c, word, size, swemu_check_flags(c, word, size), write || valued);
}

/* An access that needs a look: of main memory, of LDM under way or without a value, or the first of its word. */
static __attribute__((noinline)) void slow_access(const void *p, size_t n, bool write, uintptr_t pc)
{
    struct cpe *c = swemu_self;
    if (!c || !c->check)
        return;
    if (is_ldm(c, p))
        near_access(c, p, n, write, false, pc);
    else if (within(p, c->stack_lo, (size_t)(c->stack_hi - c->stack_lo)))
        near_access(c, p, n, write, true, pc);
    else
        memory_access(c, p, n, write, pc);
}

/* What is read has no value: all of its words hold the poison pattern. */
static __attribute__((noinline)) void check_value(const void *p, size_t n, uintptr_t pc)
{
    const char *word = (const char *)((uintptr_t)p & ~(uintptr_t)3);
    struct cpe *c = swemu_self;
    if (!c || !c->check || !is_ldm(c, p))
        return;
    for (; word < (const char *)p + n; word += 4)
        if (!swemu_is_poison(word))
            return;
    uninitialised(c, p, n, pc);
}

/* Whether the shadow vouches for all words of an access. */
static inline __attribute__((always_inline)) bool vouched(const void *p, size_t n)
{
    const uint8_t *first = SHADOW_OF(p), *last = SHADOW_OF((const char *)p + n - 1);
    bool same = true;
    for (; first <= last; first++)
        same &= *first == (uint8_t)__swemu_tag;
    return same;
}

/* Whether words that a get has brought are used for the first time, and nothing else is to be seen. */
static inline __attribute__((always_inline)) bool first_use(const void *p, size_t n)
{
    uint8_t *first = SHADOW_OF(p), *last = SHADOW_OF((const char *)p + n - 1), tag = (uint8_t)__swemu_tag;
    for (const uint8_t *s = first; s <= last; s++)
        if ((*s & ~FRESH) != tag || !tag)
            return false;
    for (uint8_t *s = first; s <= last; s++)
        *s = tag;
    return true;
}

static inline __attribute__((always_inline)) void access_hook(const void *p, size_t n, bool write, uintptr_t pc)
{
    if (LIKELY(vouched(p, n)) || (!write && first_use(p, n)))
        return;
    slow_access(p, n, write, pc);
    if (!write)
        check_value(p, n, pc);
}

static __attribute__((constructor(101))) void start(void) { swemu_shadow_start(); }

#define HOOKS(N)                                                                                                       \
    void __tsan_read##N(void *p) { access_hook(p, N, false, CALLER()); }                                               \
    void __tsan_write##N(void *p) { access_hook(p, N, true, CALLER()); }                                               \
    void __tsan_unaligned_read##N(void *p) { access_hook(p, N, false, CALLER()); }                                     \
    void __tsan_unaligned_write##N(void *p) { access_hook(p, N, true, CALLER()); }                                     \
    void __tsan_volatile_read##N(void *p) { volatile_hook(p, N, false, CALLER()); }                                    \
    void __tsan_volatile_write##N(void *p) { volatile_hook(p, N, true, CALLER()); }                                    \
    void __tsan_unaligned_volatile_read##N(void *p) { volatile_hook(p, N, false, CALLER()); }                          \
    void __tsan_unaligned_volatile_write##N(void *p) { volatile_hook(p, N, true, CALLER()); }

/* A reply word, or a flag that other CPEs put here. */
static void volatile_ldm(struct cpe *c, const void *p, size_t n, bool write, uintptr_t pc)
{
    const char *word = (const char *)((uintptr_t)p & ~(uintptr_t)3);
    swemu_check_extent(c, p, n, verb(write), pc);
    if (c->check->inflight)
        swemu_check_flight(c, p, n, write, pc);
    use(c, p, n, write, pc);
    if (write) {
        swemu_check_reply_store(c, p, pc);
        return;
    }
    check_value(p, n, pc);
    swemu_check_arrivals(c, word, *(const volatile int *)word);
    swemu_check_acquire(c, p);
}

/* A volatile access of main memory is taken for a flag by which CPEs order each other. */
static __attribute__((noinline)) void volatile_hook(const void *p, size_t n, bool write, uintptr_t pc)
{
    struct cpe *c = swemu_self;
    if (!c || !c->check)
        return;
    if (swemu_ldm_place(c, p, 1) != NOWHERE) {
        volatile_ldm(c, p, n, write, pc);
        return;
    }
    if (!within(p, c->stack_lo, (size_t)(c->stack_hi - c->stack_lo)))
        check_bounds(c, p, n, write, pc);
    if (write)
        swemu_check_release(c, p);
    else
        swemu_check_acquire(c, p);
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
    if (!c)
        return;
    swemu_ldm_sample_stack(c, __builtin_frame_address(0), (uintptr_t)call);
    swemu_fetched_frame(c, __builtin_frame_address(0));
}

/* A vector, a structure or a copy; of which a part may have no value, and be used by nobody. */
static void range(const void *p, unsigned long n, bool write, uintptr_t pc)
{
    if (!n || LIKELY(vouched(p, n)))
        return;
    for (unsigned long k = 0; k < n; k += 4)
        if (write || !first_use((const char *)p + k, n - k < 4 ? n - k : 4))
            slow_access((const char *)p + k, n - k < 4 ? n - k : 4, write, pc);
    if (!write)
        check_value(p, n, pc);
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

int slave_memcmp(const void *a, const void *b, size_t n)
{
    range(a, n, false, CALLER());
    range(b, n, false, CALLER());
    return memcmp(a, b, n);
}

void *slave_memset(void *to, int value, size_t n)
{
    range(to, n, true, CALLER());
    return memset(to, value, n);
}

/* ---- atomics ---- */

static void atomic_hook(const volatile void *p, size_t n, uintptr_t pc)
{
    struct cpe *c = swemu_self;
    if (c && c->check) {
        swemu_fetched_used(c, (const void *)p, n, pc);
        swemu_check_acquire(c, p);
        swemu_check_release(c, p);
    }
}

#define ATOMICS(B, T)                                                                                                  \
    T __tsan_atomic##B##_load(const volatile T *p, int o) { (void)o; atomic_hook(p, B / 8, CALLER()); return __atomic_load_n(p, 5); }    \
    void __tsan_atomic##B##_store(volatile T *p, T v, int o) { (void)o; atomic_hook(p, B / 8, CALLER()); __atomic_store_n(p, v, 5); }    \
    T __tsan_atomic##B##_exchange(volatile T *p, T v, int o) { (void)o; atomic_hook(p, B / 8, CALLER()); return __atomic_exchange_n(p, v, 5); } \
    T __tsan_atomic##B##_fetch_add(volatile T *p, T v, int o) { (void)o; atomic_hook(p, B / 8, CALLER()); return __atomic_fetch_add(p, v, 5); } \
    T __tsan_atomic##B##_fetch_sub(volatile T *p, T v, int o) { (void)o; atomic_hook(p, B / 8, CALLER()); return __atomic_fetch_sub(p, v, 5); } \
    T __tsan_atomic##B##_fetch_and(volatile T *p, T v, int o) { (void)o; atomic_hook(p, B / 8, CALLER()); return __atomic_fetch_and(p, v, 5); } \
    T __tsan_atomic##B##_fetch_or(volatile T *p, T v, int o) { (void)o; atomic_hook(p, B / 8, CALLER()); return __atomic_fetch_or(p, v, 5); } \
    T __tsan_atomic##B##_fetch_xor(volatile T *p, T v, int o) { (void)o; atomic_hook(p, B / 8, CALLER()); return __atomic_fetch_xor(p, v, 5); } \
    int __tsan_atomic##B##_compare_exchange_strong(volatile T *p, T *e, T v, int o, int f)                             \
    { (void)o; (void)f; atomic_hook(p, B / 8, CALLER()); return __atomic_compare_exchange_n(p, e, v, 0, 5, 5); }                         \
    int __tsan_atomic##B##_compare_exchange_weak(volatile T *p, T *e, T v, int o, int f)                               \
    { (void)o; (void)f; atomic_hook(p, B / 8, CALLER()); return __atomic_compare_exchange_n(p, e, v, 0, 5, 5); }
ATOMICS(8, uint8_t) ATOMICS(16, uint16_t) ATOMICS(32, uint32_t) ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int order) { (void)order; __sync_synchronize(); }
void __tsan_atomic_signal_fence(int order) { (void)order; }
