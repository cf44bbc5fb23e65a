/* Cycle counters, atomics, locks, printing. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "swemu.h"

/* A clock that runs: cycles of the CPE since some moment.  Model time comes from the trace, not from here. */
unsigned long __swemu_cycles(void);
unsigned long __swemu_cycles(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long)((double)t.tv_sec * CPE_HERTZ + (double)t.tv_nsec * (CPE_HERTZ / 1e9));
}

/* Control registers that slave code reads: the CPE's number with its core group's, its row, its column, cycles. */
long __swemu_csr(int number);
long __swemu_csr(int number)
{
    struct cpe *c = swemu_self;
    if (number == 4)
        return (long)__swemu_cycles();
    if (!c)
        return 0;
    if (number >= 0x90)
        return swemu_lenma_csr(c, number);
    return number == 0 ? c->cg << 6 | c->pen : number == 1 ? c->row : number == 2 ? c->col : 0;
}

long __swemu_fetch_add(volatile void *word, long n, int bytes);
long __swemu_fetch_add(volatile void *word, long n, int bytes)
{
    struct cpe *c = swemu_enter(CALLER(), "an atomic operation");
    swemu_site(c, CALLER(), OP_ATOMIC)->calls++;
    swemu_trace_atomic(c, CALLER(), word);
    if ((uintptr_t)word % (uintptr_t)bytes)
        swemu_fault(c, CALLER(), "SW670", "", "atomic operation of %d bytes on the unaligned address %p", bytes,
                    (void *)(uintptr_t)word);
    swemu_fetched_used(c, (const void *)(uintptr_t)word, (size_t)bytes, CALLER());
    swemu_check_acquire(c, word);
    long old = bytes == 4 ? __atomic_fetch_add((volatile int *)word, (int)n, __ATOMIC_SEQ_CST)
                          : __atomic_fetch_add((volatile long *)word, n, __ATOMIC_SEQ_CST);
    swemu_check_release(c, word);
    if (swemu.baton)
        swemu_pause(c);
    return old;
}

/* ---- locks: on a CPE they let others run, on the host they sleep ---- */

static int lock(volatile long *word, uintptr_t pc)
{
    for (unsigned n = 0; __atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE); n++)
        swemu_relax_at(n, word, pc);
    if (swemu_self)
        swemu_check_acquire(swemu_self, word);
    return 0;
}

static int unlock(volatile long *word)
{
    if (swemu_self) {
        swemu_commit_staged(swemu_self);
        swemu_check_release(swemu_self, word);
    }
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    return 0;
}

int slave_athread_lock(volatile long *word);
int slave_athread_lock(volatile long *word) { return lock(word, CALLER()); }
int slave_athread_unlock(volatile long *word);
int slave_athread_unlock(volatile long *word) { return unlock(word); }
int athread_mutex_lock(volatile int64_t *word);
int athread_mutex_lock(volatile int64_t *word) { return lock((volatile long *)word, CALLER()); }
int athread_mutex_unlock(volatile int64_t *word);
int athread_mutex_unlock(volatile int64_t *word) { return unlock((volatile long *)word); }
int athread_mutex_trylock(volatile int64_t *word);
int athread_mutex_trylock(volatile int64_t *word) { return __atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) ? -1 : 0; }

int slave_athread_get_tid(void);
int slave_athread_get_tid(void) { return swemu_self ? swemu_self->pen : 0; }

int slave_ordered_printf(const char *format, ...);
int slave_ordered_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = vprintf(format, arguments);
    va_end(arguments);
    return written;
}

#if !HAS_CRTS
void *malloc_cross(size_t size);
void *malloc_cross(size_t size) { return malloc(size); }
#endif

/* The compiler has warned of the loop that calls this. */
void __swemu_not_volatile(void);
void __swemu_not_volatile(void) {}

/* A vector access, or one in assembly, at an address that is not a multiple of its width. */
void __swemu_unaligned(const volatile void *p, unsigned long alignment);
void __swemu_unaligned(const volatile void *p, unsigned long alignment)
{
    struct cpe *c = swemu_enter(CALLER(), "simd_load");
    if (!swemu.checked && swemu_ldm_place(c, (const void *)p, 1) == NOWHERE)
        return; /* programs that load vectors from unaligned main memory were run on the machine */
    swemu_fault(c, CALLER(), "SW671",
                alignment > 8 ? "align the array to the vector size, or use simd_loadu and simd_storeu"
                              : "loads and stores in assembly need addresses that are multiples of their width",
                "%s access to %p, which is not a multiple of %lu (UNALIGN exception)", alignment > 8 ? "vector" : "an",
                (void *)(uintptr_t)p, alignment);
}
