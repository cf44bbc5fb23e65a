/* The host's calls: start the core group, spawn, join. */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "swb_host.h"
#include "swemu.h"

#define STACK_BYTES (8UL << 20) /* model/probes.py knows it */
#define IDLE_BYTES 65536

__thread struct cpe *swemu_self;
__thread int _MYID;
__thread char _CGN, _ROW, _COL, _PEN;

static void set_ids(const struct cpe *c)
{
    _MYID = c->id;
    _CGN = (char)c->cg;
    _PEN = (char)c->pen;
    _ROW = (char)c->row;
    _COL = (char)c->col;
}

static void no_job(void *unused) { (void)unused; }

/* Never inlined, so that the kernel's stack starts at the same depth on every CPE and in every spawn. */
static __attribute__((noinline)) void run_kernel(struct cpe *c)
{
    c->stack_top = (char *)__builtin_frame_address(0);
    swemu_trace_kernel(c, true);
    c->func(c->arg);
    swemu_check_leave(c);
    swemu_drop_stack(c);
    swemu_drain(c);
    swemu_trace_kernel(c, false);
}

/* An idle CPE waits on the same stack: kernels start below, so that what others send to the LDM that was the
 * stack of a kernel hits nothing. */
static void run_job(struct cpe *c)
{
    volatile char *room = __builtin_alloca(IDLE_BYTES);
    room[0] = 0;
    run_kernel(c);
    room[0] = 1; /* the room must still be there */
}

static void *cpe_main(void *data)
{
    struct cpe *c = data;
    swemu_self = c; /* a library's thread-local block exists from its first use on */
    swemu_ldm_setup(c);
    swemu_check_setup(c);
    swemu_self = c; /* again: the block has been poisoned */
    set_ids(c);
    c->func = no_job;
    run_job(c);
    c->func = NULL;
    if (swemu.traps)
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    stack_t alternative = {.ss_sp = swemu_alloc(65536), .ss_size = 65536};
    sigaltstack(&alternative, NULL);
    swemu_lock();
    c->started = true;
    pthread_cond_broadcast(&swemu.host_wake);
    swemu_unlock();
    for (;;) {
        swemu_sched_await(c);
        run_job(c);
        __sync_synchronize();
        swemu_lock();
        c->func = NULL;
        swemu_sched_leave(c);
        swemu_unlock();
    }
    return NULL;
}

static void start_cpe(int id)
{
    struct cpe *c = swemu_zeroed(sizeof *c);
    pthread_attr_t attributes;
    c->id = id;
    c->cg = id / SWEMU_CPES;
    c->pen = id % SWEMU_CPES;
    c->row = c->pen / MESH_COLUMNS;
    c->col = c->pen % MESH_COLUMNS;
    pthread_cond_init(&c->wake, NULL);
    c->stack_lo = swemu_ldm_map(STACK_BYTES);
    if (!c->stack_lo)
        swemu_lacking("no address space for the stacks of " TEXT(MESH_CPES) " CPEs, 8 MiB each", errno,
                      "raise the limit on virtual memory (ulimit -v unlimited)");
    c->stack_hi = c->stack_lo + STACK_BYTES;
    swemu.cpes[id] = c;
    swemu.count++;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, c->stack_lo, STACK_BYTES);
    int error = pthread_create(&c->thread, &attributes, cpe_main, c);
    if (error)
        swemu_lacking("cannot start the thread of a CPE", error,
                      "each of the " TEXT(MESH_CPES) " CPEs is a thread: raise the limits on processes (ulimit -u) and virtual memory "
                      "(ulimit -v)");
    pthread_attr_destroy(&attributes);
}

static void on_crash(int signal, siginfo_t *info, void *context);

static void catch_crashes(void)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        sigaction(signals[k], &action, NULL);
}

static void start_group(void)
{
    int n = swemu.groups * SWEMU_CPES;
    if (swemu.checked)
        swemu_variables_load();
    for (int id = 0; id < n; id++)
        start_cpe(id);
    swemu_lock();
    for (int id = 0; id < n; id++)
        while (!swemu.cpes[id]->started)
            pthread_cond_wait(&swemu.host_wake, &swemu.lock);
    swemu_unlock();
    swemu_ldm_check_size(swemu.cpes[0]);
    swemu_watchdog_start();
}

/* What a kernel leaves is only there after the join: a program that ends before it has no right results. */
static void check_joined(int status)
{
    swemu.ending = !status && swemu.unjoined;
    if (swemu.ending)
        swemu_fault(swemu_self, swemu.spawn_pc, "SW608", "call athread_join before the results are used",
                    "the program ends without a join of this spawn: %d CPEs may still run",
                    __builtin_popcountll(swemu.unjoined));
}

/* A program that ends well although problems were found does not end well. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    check_joined(status);
    swemu_write_counters();
    swemu_trace_close();
    if (swemu.problems && !status)
        swemu_finish(SWEMU_EXIT_FAULT);
}

/* A program that counts what its host does has a profile even if it never starts the CPEs. */
static void serial_exit(int status, void *unused)
{
    if (swemu.initialised)
        return;
    swemu_configure();
    swemu_trace_open();
    at_exit(status, unused);
}

#pragma weak swb_host_any
static __attribute__((constructor)) void expect_serial(void)
{
    if (&swb_host_any && swb_host_any())
        on_exit(serial_exit, NULL);
}

int athread_init(void);
int athread_init(void)
{
    static pthread_t who;
    if (swemu.initialised && !pthread_equal(who, pthread_self()))
        swemu_host_fault(CALLER(), "SW604", "start one MPI rank for each core group",
                         "athread_init by a second thread: one process has one core group here");
    if (swemu.halted)
        swemu_host_fault(CALLER(), "SW604", "call it once, before the first spawn", "athread_init after athread_halt");
    if (swemu.initialised) { /* programs do it; what the machine does is not documented */
        swemu_problem(NULL, CALLER(), "SW604", "call it once, before the first spawn", "athread_init is called twice");
        return 0;
    }
    who = pthread_self();
    swemu_configure();
    swemu.initialised = true;
    catch_crashes();
    swemu_trace_open();
    start_group();
    on_exit(at_exit, NULL);
    return 0;
}

#if HAS_CRTS
int CRTS_init(void);
int CRTS_init(void) { return athread_init(); }
#endif

static void give_job(struct cpe *c, void *func, void *arg)
{
    c->func = (void (*)(void *))(uintptr_t)func;
    c->arg = arg;
    c->state = CPE_READY;
    c->spin_seen = 0;
    c->job = swemu.spawns - 1;
    swemu.busy++;
}

static void spawn(uint64_t pens, int group, void *func, void *arg, uintptr_t pc, const char *what)
{
    if (!swemu.initialised || swemu.halted)
        swemu_host_fault(pc, "SW605", swemu.halted ? "halt only at the end of the program"
                         : "call athread_init once before the first spawn",
                         "%s %s", what, swemu.halted ? "after athread_halt" : "before athread_init");
    if (!func)
        swemu_host_fault(pc, "SW605", "", "%s of a null function", what);
    swemu_lock();
    for (int pen = 0; pen < SWEMU_CPES; pen++)
        if (pens >> pen & 1 && swemu.cpes[group * SWEMU_CPES + pen]->func)
            swemu_host_fault(pc, "SW606", "join the first one before", "%s while CPE %d still runs a kernel (EBUSY)",
                             what, pen);
    if (!swemu.busy)
        swemu_check_spawn();
    swemu_say_what_is_missing();
    swemu_count_spawn(func, pens);
    swemu_trace_host(true, func, pens);
    for (int pen = 0; pen < SWEMU_CPES; pen++)
        if (pens >> pen & 1)
            give_job(swemu.cpes[group * SWEMU_CPES + pen], func, arg);
    swemu.joined = false;
    swemu.unjoined |= pens;
    swemu.spawn_pc = pc;
    swemu_sched_start(pens, group);
}

static uint64_t first(int n) { return n >= SWEMU_CPES ? SWEMU_ALL : (1ULL << n) - 1; }

static bool any_runs(uint64_t pens)
{
    for (int k = 0; k < swemu.count; k++)
        if (pens >> swemu.cpes[k]->pen & 1 && swemu.cpes[k]->func)
            return true;
    return false;
}

static void join(uint64_t pens)
{
    swemu_lock();
    swemu.host_waits = true;
    swemu.partial_join = pens != SWEMU_ALL;
    swemu_trace_host(false, NULL, pens); /* ahead of the waiting: the replay need not wait, too */
    __atomic_add_fetch(&swemu.generation, 1, __ATOMIC_RELAXED); /* loops may wait for what the host has done */
    pthread_cond_broadcast(&swemu.host_wake);
    while (any_runs(pens))
        pthread_cond_wait(&swemu.host_wake, &swemu.lock);
    swemu.host_waits = swemu.partial_join = false;
    swemu.unjoined &= ~pens;
    for (int k = 0; k < swemu.count; k++)
        if (pens >> swemu.cpes[k]->pen & 1)
            swemu_regcomm_leave(swemu.cpes[k]);
    swemu_unlock();
}

#if HAS_CRTS
int __real_athread_spawn(void *func, void *arg, int flush);
int __real_athread_spawn(void *func, void *arg, int flush)
{
    (void)flush;
    spawn(first(swemu.active_limit), 0, func, arg, CALLER(), "athread_spawn");
    return 0;
}
#else
int __real_athread_spawn(void *func, void *arg);
int __real_athread_spawn(void *func, void *arg)
{
    spawn(first(swemu.active_limit), 0, func, arg, CALLER(), "athread_spawn");
    return 0;
}

int __real_athread_spawn_group(unsigned long mask, void *func, void *arg);
int __real_athread_spawn_group(unsigned long mask, void *func, void *arg)
{
    spawn(mask, 0, func, arg, CALLER(), "athread_spawn_group");
    return 0;
}

int athread_join_group(unsigned long mask);
int athread_join_group(unsigned long mask)
{
    join(mask);
    return 0;
}

int athread_try_join_group(unsigned long mask);
int athread_try_join_group(unsigned long mask)
{
    swemu_lock();
    bool runs = any_runs(mask);
    swemu_unlock();
    return runs ? -EBUSY : 0;
}

int athread_halt(void);
int athread_halt(void)
{
    if (swemu.busy || swemu.unjoined)
        swemu_host_fault(CALLER(), "SW607", "join first", "athread_halt without a join of the last spawn");
    swemu.halted = true;
    return 0;
}
#endif

int athread_join(void);
int athread_join(void)
{
    if (!swemu.initialised || swemu.joined)
        swemu_host_fault(CALLER(), "SW608", "every join belongs to one spawn", "athread_join without a spawn (EINVAL)");
    join(SWEMU_ALL);
    swemu.joined = true;
    return 0;
}

int __real_athread_create(int id, void *func, void *arg);
int __real_athread_create(int id, void *func, void *arg)
{
    if (id < 0 || id >= SWEMU_CPES)
        return -EINVAL;
    spawn(1ULL << id, 0, func, arg, CALLER(), "athread_create");
    return 0;
}

int athread_wait(int id);
int athread_wait(int id)
{
    if (id < 0 || id >= SWEMU_CPES)
        return -EINVAL;
    join(1ULL << id);
    return 0;
}

int athread_end(int id);
int athread_end(int id) { return id >= 0 && id < SWEMU_CPES ? 0 : -EINVAL; }

static unsigned long idle(void)
{
    unsigned long mask = 0;
    for (int k = 0; k < SWEMU_CPES && swemu.cpes[k]; k++)
        if (!swemu.cpes[k]->func)
            mask |= 1UL << k;
    return mask;
}

unsigned long athread_idle(void);
unsigned long athread_idle(void) { return idle(); }
unsigned long athread_idle_group(void);
unsigned long athread_idle_group(void) { return idle(); }

int athread_get_max_threads(void);
int athread_get_max_threads(void) { return SWEMU_CPES; }
int athread_get_num_threads(void);
int athread_get_num_threads(void) { return swemu.active_limit ? swemu.active_limit : SWEMU_CPES; }

int athread_set_num_threads(int n);
int athread_set_num_threads(int n)
{
    if (n < 1 || n > SWEMU_CPES)
        return -EINVAL;
    if (swemu.busy)
        return -EAGAIN;
    swemu.active_limit = n;
    return 0;
}

int slave_athread_get_id(int core);
int slave_athread_get_id(int core) { return core < 0 ? _MYID : core; }
int slave_athread_get_core(int id);
int slave_athread_get_core(int id) { return id < 0 ? _PEN : id; }

static uintptr_t pc_of(const void *context)
{
#ifdef __x86_64__
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
    (void)context;
    return 0;
#endif
}

/* A host that ends without a join takes the kernel's arguments away: that is the mistake, not what follows. */
static void let_host_end(void)
{
    const struct timespec while_it_gets_there = {0, 100000000};
    if (!swemu.host_waits)
        nanosleep(&while_it_gets_there, NULL);
    while (swemu.ending)
        pause();
}

static void on_crash(int signal, siginfo_t *info, void *context)
{
    struct cpe *c = swemu_self;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    static int reporting;
    while (__atomic_exchange_n(&reporting, 1, __ATOMIC_SEQ_CST))
        pause();
    if (c)
        let_host_end();
    const void *pointer;
    if (c && swemu_shadow_faulted(context, &pointer))
        swemu_fault(c, pc_of(context) + 1, "SW610", "", "an access of %p, out of bounds: nothing is mapped there",
                    pointer);
    if (c)
        swemu_report_crash(c, signal, info->si_addr, context);
    sigaction(signal, &plain, NULL);
    raise(signal);
}
