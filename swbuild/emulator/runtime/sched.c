/* Who runs when.
 *
 * With the baton (late, random and checked modes) exactly one CPE runs; it hands on at every call that
 * may wait, in a fixed or seeded order, so a run can be repeated.  Without it (eager mode) the CPEs run
 * in parallel and a spin loop sleeps for a moment instead.
 *
 * A hang is: no CPE can run, no transfer is under way, every spin loop has looked again since the last
 * thing that happened, and the host waits in a join.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "swemu.h"
#include "timing.h"

/* Begin and end of the code of the object that the runtime is in: a program, or a library of kernels. */
extern char __ehdr_start[] __attribute__((visibility("hidden")));
extern char etext[] __attribute__((visibility("hidden")));

uint64_t swemu_random(void)
{
    uint64_t z = (swemu.seed += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/* Something happened that a spin loop may wait for. */
static void advance(void) { __atomic_add_fetch(&swemu.generation, 1, __ATOMIC_RELAXED); }

static unsigned long generation(void) { return __atomic_load_n(&swemu.generation, __ATOMIC_RELAXED); }

static struct timespec after(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    long nano = t.tv_nsec + (long)((seconds - (long)seconds) * 1e9);
    t.tv_sec += (long)seconds + nano / 1000000000L;
    t.tv_nsec = nano % 1000000000L;
    return t;
}

/* Return the next CPE after `from` (in round or seeded order) for which `test` holds, or null. */
static struct cpe *pick(const struct cpe *from, bool (*test)(const struct cpe *))
{
    int found = 0, n = swemu.count;
    int start = from ? from->id + 1 : 0;
    struct cpe *first = NULL;
    for (int k = 0; k < n; k++) {
        struct cpe *c = swemu.cpes[(start + k) % n];
        if (!test(c))
            continue;
        if (swemu.completion != RANDOM)
            return c;
        if (swemu_random() % (uint64_t)++found == 0)
            first = c;
    }
    return first;
}

static bool is_ready(const struct cpe *c) { return c->state == CPE_READY; }

static bool can_look_again(const struct cpe *c)
{
    return c->state == CPE_SPINNING && c->spin_seen != generation();
}

/* Return who gets the baton; null when no CPE has a job that can go on and the host may still act. */
static struct cpe *next_holder(struct cpe *from)
{
    for (;;) {
        struct cpe *c = pick(from, is_ready);
        if (c)
            return c;
        if (!swemu.busy)
            return NULL;
        if ((c = pick(from, can_look_again)))
            return c;
        if (swemu_complete_any()) {
            advance();
            continue;
        }
        if (swemu.host_waits)
            swemu_hang();
        struct timespec t = after(0.001);
        pthread_cond_timedwait(&swemu.host_wake, &swemu.lock, &t);
        advance();
    }
}

/* Without the baton idle CPEs sleep here, so that one call wakes all that a spawn starts. */
static uint32_t spawned;

static void futex(uint32_t *word, int op, uint32_t value, uint32_t who)
{
    syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, who);
}

static uint32_t bit_of(const struct cpe *c) { return 1u << (c->pen % 32); }

static void set_going(struct cpe *c) { __atomic_store_n(&c->go, 1, __ATOMIC_RELEASE); }

/* The CPE that has got the baton is woken here, when it can take the lock at once. */
void swemu_unlock(void)
{
    struct cpe *c = swemu.to_wake;
    swemu.to_wake = NULL;
    pthread_mutex_unlock(&swemu.lock);
    if (c)
        futex(&c->go, FUTEX_WAKE, 1, 0);
}

/* Wait, without the lock, until this CPE may go (on). */
void swemu_sched_await(struct cpe *c)
{
    uint32_t seen = __atomic_load_n(&spawned, __ATOMIC_ACQUIRE);
    while (!__atomic_load_n(&c->go, __ATOMIC_ACQUIRE)) {
        if (swemu.baton)
            futex(&c->go, FUTEX_WAIT, 0, 0);
        else
            futex(&spawned, FUTEX_WAIT_BITSET, seen, bit_of(c));
        seen = __atomic_load_n(&spawned, __ATOMIC_ACQUIRE);
    }
    __atomic_store_n(&c->go, 0, __ATOMIC_RELAXED);
}

static void hand_over(struct cpe *to)
{
    swemu.holder = to;
    swemu_shadow_switch(to);
    if (!to)
        return;
    if (to->state == CPE_SPINNING)
        to->spin_seen = generation();
    to->state = CPE_RUNNING;
    swemu.handovers++;
    set_going(to);
    swemu.to_wake = to;
}

static void pass_to(struct cpe *c, struct cpe *next)
{
    if (next == c) {
        hand_over(c);
        swemu.to_wake = NULL;
        c->go = 0;
        return;
    }
    hand_over(next);
    swemu_unlock();
    swemu_sched_await(c);
    swemu_lock();
}

static void pass_baton(struct cpe *c) { pass_to(c, next_holder(c)); }

/* These CPEs have got a job.  Releases the lock. */
void swemu_sched_start(uint64_t pens, int group)
{
    struct cpe *const *cpes = &swemu.cpes[group * SWEMU_CPES];
    if (swemu.baton) {
        if (!swemu.holder)
            hand_over(next_holder(NULL));
        swemu_unlock();
        return;
    }
    uint32_t who = 0;
    for (uint64_t left = pens; left; left &= left - 1) {
        struct cpe *c = cpes[__builtin_ctzll(left)];
        c->state = CPE_RUNNING;
        set_going(c);
        who |= bit_of(c);
    }
    __atomic_add_fetch(&spawned, 1, __ATOMIC_RELEASE);
    swemu_unlock();
    futex(&spawned, FUTEX_WAKE_BITSET, INT32_MAX, who);
}

/* In eager mode nobody but a CPE can release a blocked CPE: if all are blocked, it is a hang. */
static void check_all_blocked(void)
{
    for (int k = 0; k < swemu.count; k++) {
        enum cpe_state s = __atomic_load_n(&swemu.cpes[k]->state, __ATOMIC_RELAXED);
        if (s != CPE_IDLE && s != CPE_BLOCKED)
            return;
    }
    swemu_hang();
}

/* Wait until another CPE wakes this one. */
void swemu_sched_block(struct cpe *c, const char *what, uintptr_t pc)
{
    c->blocked_in = what;
    c->pc = pc;
    c->state = CPE_BLOCKED;
    advance();
    swemu_regcomm_tell(c);
    if (swemu.baton) {
        pass_baton(c);
    } else {
        check_all_blocked();
        while (c->state == CPE_BLOCKED)
            pthread_cond_wait(&c->wake, &swemu.lock);
        c->state = CPE_RUNNING;
    }
    c->blocked_in = NULL;
}

void swemu_sched_wake(struct cpe *c)
{
    if (c->state != CPE_BLOCKED)
        return;
    c->state = CPE_READY;
    advance();
    if (!swemu.baton)
        pthread_cond_signal(&c->wake);
}

/* Let another CPE run, if one can. */
void swemu_sched_yield(struct cpe *c)
{
    c->state = CPE_READY;
    advance();
    pass_baton(c);
}

/* Let this CPE run, or another one if it cannot; with the baton alone. */
void swemu_sched_yield_to(struct cpe *c, struct cpe *to)
{
    c->state = CPE_READY;
    advance();
    pass_to(c, is_ready(to) ? to : next_holder(c));
}

/* The job is done. */
void swemu_sched_leave(struct cpe *c)
{
    c->state = CPE_IDLE;
    advance();
    swemu_regcomm_tell(c);
    swemu.busy--;
    if (swemu.baton)
        hand_over(next_holder(c));
    else if (swemu.busy)
        check_all_blocked();
    if (!swemu.busy || swemu.partial_join)
        pthread_cond_broadcast(&swemu.host_wake);
}

/* The n-th look of a loop was fruitless: sleep for a small part of the time that it has waited, 20 ms at most. */
static void nap(unsigned n)
{
    enum { YIELDS = 32, DOUBLING = 32, SHORTEST = 50000, LONGEST = 20000000 };
    if (n < YIELDS) {
        sched_yield();
        return;
    }
    unsigned doubled = (n - YIELDS) / DOUBLING;
    long wait = doubled < 9 ? SHORTEST << doubled : LONGEST;
    struct timespec t = {0, wait < LONGEST ? wait : LONGEST};
    nanosleep(&t, NULL);
}

/* Wake those who wait for messages, or for room for them, and have not been told yet. */
static void tell_others(struct cpe *c)
{
    if (!c->asleep[0] && !c->asleep[1] && !c->room_untold)
        return;
    swemu_lock();
    swemu_regcomm_tell(c);
    swemu_unlock();
}

static void relax_eager(struct cpe *c, unsigned n, const volatile void *word, uintptr_t pc)
{
    if (n == 0) {
        c->pc = pc;
        c->spin_word = word;
        advance();
        tell_others(c);
    }
    __atomic_add_fetch(&c->turns, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&c->state, CPE_SPINNING, __ATOMIC_RELAXED);
    nap(n);
    __atomic_store_n(&c->state, CPE_RUNNING, __ATOMIC_RELAXED);
    __sync_synchronize();
}

static void relax_baton(struct cpe *c, unsigned n, const volatile void *word, uintptr_t pc)
{
    swemu_lock();
    c->pc = pc;
    c->spin_word = word;
    if (n == 0)
        advance();
    if (swemu_complete_one(c, word)) {
        advance();
        if (swemu.completion == RANDOM ? swemu_random() % 4 == 0 : c->gave)
            swemu_sched_yield(c);
        c->gave = false;
    } else {
        if (n == 0)
            c->spin_seen = generation() - 1;
        else
            c->spin_seen = generation();
        c->state = CPE_SPINNING;
        c->blocked_in = "spin loop";
        swemu_trace_spin(c, word);
        pass_baton(c);
        c->blocked_in = NULL;
    }
    swemu_unlock();
}

static void relax(struct cpe *c, unsigned n, const volatile void *word, uintptr_t pc)
{
    if (swemu.baton)
        relax_baton(c, n, word, pc);
    else
        relax_eager(c, n, word, pc);
}

/* One turn of a loop that waits; on the host: sleep for a moment. */
void swemu_relax_at(unsigned n, const volatile void *word, uintptr_t pc)
{
    struct cpe *c = swemu_self;
    if (c) {
        relax(c, n, word, pc);
        swemu_check_turn(c, word);
    } else {
        nap(n);
    }
}

/* One turn of a spin loop of slave code. */
void __swemu_relax(unsigned n, const volatile void *word);
void __swemu_relax(unsigned n, const volatile void *word) { swemu_relax_at(n, word, CALLER()); }

/* A point where another CPE may run (random mode draws lots). */
void swemu_pause(struct cpe *c)
{
    if (swemu.completion == RANDOM && swemu_random() % 4)
        return;
    swemu_lock();
    swemu_sched_yield(c);
    swemu_unlock();
}

/* Wait until the reply word is at least `value`. */
int __swemu_wait_value(const volatile void *reply, int value);
int __swemu_wait_value(const volatile void *reply, int value)
{
    struct cpe *c = swemu_enter(CALLER(), "wait_value");
    struct site *s = swemu_site(c, CALLER(), OP_WAIT);
    s->calls++;
    const volatile int *word = reply;
    for (unsigned n = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) < value; n++)
        relax(c, n, word, CALLER());
    swemu_check_arrivals(c, word, value);
    return 0;
}

int __swemu_wait_equal(const volatile void *reply, int value);
int __swemu_wait_equal(const volatile void *reply, int value)
{
    struct cpe *c = swemu_enter(CALLER(), "dma_wait");
    swemu_site(c, CALLER(), OP_WAIT)->calls++;
    const volatile int *word = reply;
    for (unsigned n = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; n++)
        relax(c, n, word, CALLER());
    swemu_check_arrivals(c, word, value);
    return 0;
}

/* Return the calling CPE; a slave-only function that the host calls is a fault. */
static inline __attribute__((always_inline)) struct cpe *entered(uintptr_t pc, const char *what)
{
    struct cpe *c = swemu_self;
    if (UNLIKELY(!c))
        swemu_host_fault(pc, "SW602", "call it from slave code", "%s was called on the host", what);
    __atomic_store_n(&c->calls, c->calls + 1, __ATOMIC_RELAXED);
    swemu_ldm_sample_stack(c, __builtin_frame_address(0), pc);
    if (UNLIKELY(c->far_ahead))
        swemu_timing_hold(c);
    return c;
}

struct cpe *swemu_enter(uintptr_t pc, const char *what)
{
    struct cpe *c = entered(pc, what);
    tell_others(c);
    return c;
}

struct cpe *swemu_enter_message(uintptr_t pc) { return entered(pc, "register communication"); }

/* ---- the fall-back for loops that wait without calling the runtime ---- */

/* Begin and end of the slave code's neighbour: the build puts the runtime's own code there. */
extern char __start_swemu_text[] __attribute__((weak)), __stop_swemu_text[] __attribute__((weak));

/* Whether pc lies in the program itself: neither in the runtime nor in a library, which hold locks. */
static bool in_program(uintptr_t pc)
{
    if (!__start_swemu_text || (pc >= (uintptr_t)__start_swemu_text && pc < (uintptr_t)__stop_swemu_text))
        return false;
    return pc >= (uintptr_t)__ehdr_start && pc < (uintptr_t)etext;
}

enum { PATIENCE = 10, PLACES = 16, NEAR = 128 };
static uintptr_t spin_places[PLACES];
static int spin_place_count, taker_quiet;

/* A loop that has run for long without a call is taken for a spin loop, and known again by its place. */
static bool is_spin(uintptr_t pc)
{
    for (int k = 0; k < spin_place_count; k++)
        if (pc + NEAR >= spin_places[k] && pc <= spin_places[k] + NEAR)
            return true;
    if (taker_quiet < PATIENCE)
        return false;
    if (spin_place_count < PLACES)
        spin_places[spin_place_count++] = pc;
    return true;
}

static void take_away(int signal, siginfo_t *info, void *context)
{
    struct cpe *c = swemu_self;
    int error = errno;
    uintptr_t pc = 0;
    (void)signal, (void)info;
#ifdef __x86_64__
    pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
    (void)context;
#endif
    if (c && c->state == CPE_RUNNING && in_program(pc) && is_spin(pc))
        relax(c, 1, NULL, pc + 1);
    errno = error;
}

/* The processor time of a CPE's thread, in nanoseconds. */
static long worked(const struct cpe *c)
{
    clockid_t clock;
    struct timespec t;

    if (!c || pthread_getcpuclockid(c->thread, &clock) || clock_gettime(clock, &t))
        return 0;
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* With the baton: when its holder has not come by for a while, it is made to take a turn of a spin loop.  What counts
   is the time that it has worked: it may have to wait for the processor, or for who reads the events. */
static void *taker(void *unused)
{
    struct sigaction action = {.sa_sigaction = take_away, .sa_flags = SA_SIGINFO | SA_RESTART};
    const struct cpe *seen = NULL;
    unsigned long calls = 0;
    long time = 0;
    (void)unused;
    sigaction(SIGURG, &action, NULL);
    for (;;) {
        struct timespec t = {0, spin_place_count ? 1000000 : 30000000};
        nanosleep(&t, NULL);
        swemu_lock();
        struct cpe *c = swemu.holder;
        unsigned long now = swemu.handovers + (c ? __atomic_load_n(&c->calls, __ATOMIC_RELAXED) + __atomic_load_n(&c->turns, __ATOMIC_RELAXED) : 0);
        long until = worked(c);
        bool same_place = c && c == seen && now == calls;
        taker_quiet = same_place ? taker_quiet + (until - time >= t.tv_nsec / 2) : 0;
        time = until;
        seen = c;
        calls = now;
        if (taker_quiet >= (spin_place_count ? 1 : PATIENCE) && c->state == CPE_RUNNING)
            pthread_kill(c->thread, SIGURG);
        swemu_unlock();
    }
    return NULL;
}

/* Eager mode: notice that for some seconds nobody did anything but spin or wait in a barrier. */
static void *watchdog(void *unused)
{
    (void)unused;
    unsigned long seen = 0;
    double quiet = 0;
    for (;;) {
        struct timespec t = {0, 100000000};
        nanosleep(&t, NULL);
        swemu_lock();
        unsigned long now = generation();
        bool idle = swemu.busy && swemu.host_waits && now == seen;
        for (int k = 0; idle && k < swemu.count; k++) {
            enum cpe_state s = __atomic_load_n(&swemu.cpes[k]->state, __ATOMIC_RELAXED);
            unsigned long turns = __atomic_load_n(&swemu.cpes[k]->turns, __ATOMIC_RELAXED);
            idle = s != CPE_READY && (s != CPE_RUNNING || turns != swemu.cpes[k]->turns_seen);
            swemu.cpes[k]->turns_seen = turns;
        }
        quiet = idle ? quiet + 0.1 : 0;
        seen = now;
        if (quiet >= swemu.hang_seconds)
            swemu_hang();
        swemu_unlock();
    }
    return NULL;
}

void swemu_watchdog_start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, swemu.baton ? taker : watchdog, NULL) == 0)
        pthread_detach(thread);
}
