/* The emulated core group: types and functions that the parts of the runtime share.
 *
 * One thread per CPE lives from athread_init to the end of the process, so that its thread-local
 * variables are its LDM.  In the deterministic modes (late, random, checked) a baton goes round: one
 * CPE runs at a time.  In eager mode all of them run, and transfers complete at issue.
 */
#ifndef SWEMU_H
#define SWEMU_H

#include <elf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "machine.h"

#define SWEMU_CPES MESH_CPES
#define SWEMU_MAX_CGS MAX_GROUPS
#define SWEMU_MAX_CPES (SWEMU_CPES * SWEMU_MAX_CGS)
/* Sets of the CPEs of a group: all, the first row, and a row. */
#define SWEMU_ALL (~0ULL >> (64 - MESH_CPES))
#define SWEMU_FIRST_ROW (~0ULL >> (64 - MESH_COLUMNS))
#define SWEMU_ROW(row) (SWEMU_FIRST_ROW << (row) * MESH_COLUMNS)
#define SWEMU_HEAP_SPREAD 2 /* in checked mode, a red zone as long as itself lies behind each block */
#define HEAP_BYTES (SWEMU_HEAP_SPREAD * LDM_BYTES)
#define SWEMU_EXIT_FAULT 86
#define SWEMU_EXIT_HANG 87
#define SWEMU_EXIT_LACKING 99

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CALLER() ((uintptr_t)__builtin_return_address(0))

enum completion { EAGER, LATE, RANDOM };
enum cpe_state { CPE_IDLE, CPE_READY, CPE_RUNNING, CPE_BLOCKED, CPE_SPINNING };
enum xfer_kind { XFER_GET, XFER_PUT, XFER_RMA_GET, XFER_RMA_PUT };
enum place { NOWHERE, IN_STATICS, IN_STACK, IN_HEAP };

struct cpe;

/* One transfer under way, or a put whose bytes have left the LDM but have not reached memory. */
struct xfer {
    struct xfer *next, *prev;
    enum xfer_kind kind;
    char *mem, *ldm;
    int len, bsize, stride;
    volatile int *reply;        /* the issuer's reply word, or null */
    uint64_t targets;           /* CPEs of the group that receive (or hand out, for an RMA get) */
    volatile int *remote_reply; /* as an address of the issuer's own LDM */
    char *remote;               /* RMA: likewise */
    char *staged;               /* put past its reply: the bytes to be written */
    uintptr_t pc;
    unsigned long serial;
    bool returns;               /* put: goes to where a get has brought it from (known in checked mode) */
    uint32_t ordinal;           /* counts the transfers of its reply word, for the trace */
};

struct xfer_list {
    struct xfer head;
    int count;
};

/* Counters of one call site in one kernel. */
struct site {
    uintptr_t pc;
    void *kernel;
    int op; /* enum site_op */
    unsigned long calls, bytes, blocks, requests, partial, misaligned, waits;
    unsigned long untold, told_bytes; /* loads and stores: calls that the trace has not, bytes that it has */
    struct site *next, *next_untold;
};

enum site_op { OP_GET, OP_PUT, OP_RMA_GET, OP_RMA_PUT, OP_BCAST, OP_BARRIER, OP_WAIT, OP_SEND, OP_RECV, OP_ATOMIC,
               OP_LOAD, OP_STORE, OPS };

#define SITE_BUCKETS 64

struct cpe {
    int id, cg, pen, row, col;
    pthread_t thread;
    pthread_cond_t wake;
    enum cpe_state state;
    bool started;
    uint32_t go;                 /* baton (or, without it, job) handed over: a futex */
    void (*func)(void *);
    void *arg;
    const char *blocked_in;      /* what it waits for, for the hang report */
    uintptr_t pc;                /* where it last called the runtime */
    unsigned long spin_seen;     /* generation at its last fruitless look */
    volatile const void *spin_word;
    unsigned long calls;         /* of the runtime */
    unsigned long turns, turns_seen; /* of its spin loops, and what the watchdog saw of them */

    char *statics;
    size_t statics_size, statics_init;
    char *stack_lo, *stack_hi, *stack_top; /* the thread's stack; the kernel's starts at stack_top and goes down */
    char *heap;
    size_t heap_used, heap_peak, stack_peak;
    struct ldm_block *blocks;

    struct xfer_list pending, staged;
    unsigned long serial;
    uint64_t arrived_mask;       /* barrier it waits in */
    int arrived_kind;
    struct { char *lo, *hi; } known[4]; /* blocks of main memory that were looked up last */
    int known_next;
    unsigned long heap_seen;
    struct site *sites[SITE_BUCKETS];
    unsigned long barriers, job;
    uint64_t waits_room;         /* receivers whose FIFO it wants to send to */
    int waits_column;
    uint64_t asleep[2];          /* receivers whom nobody has woken yet for its messages in a row or a column */
    bool room_untold;            /* the same of senders, and of the messages that it has received */
    const void *published;       /* its part of a collective */
    bool gave;                   /* a transfer of its has come to others, who may have waited for it */
    struct site *untold;         /* of loads and stores of main memory that the trace does not have yet */
    struct check *check;
    struct trace *trace;
    bool far_ahead;              /* of what the timing knows of the others */
    void *registers;             /* of assembly */
};

struct emulator {
    enum completion completion;
    bool checked, baton, trace, poison, stack_in_ldm;
    bool oldest_first;           /* transfers complete in the order of issue, as late as possible */
    bool cache;                  /* the CPEs have a data cache */
    bool traps;                  /* floating-point exceptions end the program */
    bool array_waits;            /* all CPEs wait for the host */
    unsigned long problems;
    uint64_t seed;
    int groups, active_limit;
    bool initialised, halted, joined;
    uint64_t unjoined;           /* CPEs that were started, and not joined since */
    uintptr_t spawn_pc;
    volatile bool ending;        /* the program ends without a join, and that is being told */
    volatile bool host_waits;    /* the host is in join */
    int running;                 /* CPEs with a job that are neither blocked nor spinning */
    int busy;                    /* CPEs with a job */
    unsigned long generation;    /* grows whenever something happened that a spin loop may wait for */
    unsigned long spawns, handovers;
    double hang_seconds;
    const char *counters_path, *trace_path, *model_path;
    pthread_mutex_t lock;
    pthread_cond_t host_wake;
    struct cpe *holder, *to_wake; /* who has the baton; who has got it and still sleeps */
    bool partial_join;           /* the host waits for some of the CPEs */
    struct cpe *cpes[SWEMU_MAX_CPES];
    int count;
};

extern struct emulator swemu;
extern __thread struct cpe *swemu_self;

/* config.c */
void swemu_configure(void);

/* sched.c: all with swemu.lock held */
void swemu_sched_start(uint64_t pens, int group);
void swemu_sched_await(struct cpe *c);
void swemu_sched_block(struct cpe *c, const char *what, uintptr_t pc);
void swemu_sched_wake(struct cpe *c);
void swemu_sched_leave(struct cpe *c);
void swemu_sched_yield(struct cpe *c);
void swemu_sched_yield_to(struct cpe *c, struct cpe *to);
void swemu_watchdog_start(void);
uint64_t swemu_random(void);
static inline void swemu_lock(void) { pthread_mutex_lock(&swemu.lock); }
void swemu_unlock(void);
struct cpe *swemu_enter(uintptr_t pc, const char *what);
struct cpe *swemu_enter_message(uintptr_t pc); /* the same, but those waiting for messages are not told yet */
void swemu_relax_at(unsigned n, const volatile void *word, uintptr_t pc);
void swemu_pause(struct cpe *c);

/* dma.c */
void swemu_complete(struct cpe *c, struct xfer *x);
bool swemu_complete_one(struct cpe *c, const volatile void *word);
bool swemu_complete_any(void);
void swemu_commit_staged(struct cpe *c);
void swemu_commit_overlap(struct cpe *c, const char *lo, const char *hi);
void swemu_drain(struct cpe *c);
void swemu_drop_stack(struct cpe *c);
void swemu_maybe_complete(struct cpe *c);
void swemu_issue(struct cpe *c, struct xfer *x);
struct xfer *swemu_xfer_new(void);
void swemu_complete_serial(struct cpe *c, unsigned long serial);
struct xfer *swemu_dma_prepare(struct cpe *c, struct xfer x, uintptr_t pc);

/* ldm.c */
char *swemu_ldm_map(size_t size);
enum place swemu_ldm_place(const struct cpe *c, const void *p, size_t len);
long swemu_ldm_offset(const struct cpe *c, const void *p);
char *swemu_ldm_translate(const struct cpe *from, const struct cpe *to, const volatile void *p, size_t len);
void swemu_ldm_setup(struct cpe *c);
void swemu_ldm_check_size(struct cpe *c);
void swemu_ldm_sample_stack(struct cpe *c, const void *sp, uintptr_t pc);
size_t swemu_ldm_static_size(const struct cpe *c);
size_t swemu_ldm_peak(const struct cpe *c);
const struct cpe *swemu_ldm_owner(const void *p);
void swemu_ldm_describe(const struct cpe *c, const void *p, char *buffer, size_t size);
bool swemu_ldm_block(const struct cpe *c, const void *p, char **lo, char **hi);

/* variables.c */
void swemu_variables_load(void);
size_t swemu_zone_bytes(void);

/* mem.c */
bool swemu_in_program(void);
struct mem_block { char *lo, *hi; const char *kind; };
bool swemu_mem_find(const void *p, struct mem_block *out);
bool swemu_mem_valid(struct cpe *c, const void *p, size_t len);
void *swemu_alloc(size_t size);
void *swemu_zeroed(size_t size);
void swemu_release(void *p);
void swemu_mem_describe(const void *p, char *buffer, size_t size);

/* symbols.c */
void swemu_each_symbol(void (*take)(const Elf64_Sym *symbol, const char *name, void *data), void *data);

/* sync.c */
void swemu_sync(struct cpe *c, uint64_t mask, int kind, const char *what, uintptr_t pc);

/* report.c */
void swemu_fault(struct cpe *c, uintptr_t pc, const char *code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6), noreturn));
void swemu_host_fault(uintptr_t pc, const char *code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn));
/* The computer does not give what emulating needs: no fault of the program. */
void swemu_lacking(const char *what, int error, const char *hint) __attribute__((noreturn));
/* In checked mode: report and go on; the exit status tells. */
void swemu_problem(struct cpe *c, uintptr_t pc, const char *code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
#define swemu_warn(c, ...) (swemu.checked ? swemu_problem(c, __VA_ARGS__) : (void)0)
bool swemu_reported(const char *code, uintptr_t pc, uintptr_t other);
void swemu_hang(void) __attribute__((noreturn));
void swemu_report_crash(struct cpe *c, int signal, const void *address, void *context);
void swemu_locate(uintptr_t pc, char *buffer, size_t size);
void swemu_keep_asking(bool kept);
void swemu_finish(int status) __attribute__((noreturn));
const char *swemu_function_name(void *function, char *buffer, size_t size);

/* check.c */
void swemu_check_setup(struct cpe *c);
void swemu_check_spawn(void);
void swemu_check_flush(struct cpe *c);
void swemu_check_reply_store(struct cpe *c, const volatile void *word, uintptr_t pc);
void swemu_check_meet(struct cpe *c, uint64_t mask);
void swemu_check_send(struct cpe *c, uint64_t to, int column);
void swemu_check_receive(struct cpe *c, int column);
void swemu_check_arrivals(struct cpe *c, const volatile void *word, int value);
void swemu_check_turn(struct cpe *c, const volatile void *word);
void swemu_check_joined(const struct cpe *c);
void swemu_check_acquire(struct cpe *c, const volatile void *address);
void swemu_check_release(struct cpe *c, const volatile void *address);
void swemu_check_issue(struct cpe *c, struct xfer *x);
void swemu_check_unreserve(struct cpe *c, const struct xfer *x);
void swemu_check_done(struct cpe *c, const struct xfer *x);
void swemu_check_moved(struct cpe *c, const struct xfer *x);
void swemu_check_commit(struct cpe *c, const struct xfer *x);
void swemu_check_leave(struct cpe *c);

/* fetched.c */
void swemu_fetched_used(struct cpe *c, const void *p, size_t n, uintptr_t pc);
void swemu_fetched_stored(struct cpe *c, const void *p, size_t n);

/* places.c */
void swemu_check_block(struct cpe *c, const char *p, size_t size, bool given);
void swemu_check_extent(struct cpe *c, const void *p, size_t n, const char *what, uintptr_t pc);

/* shadow.c */
void swemu_shadow_switch(const struct cpe *c);
bool swemu_shadow_faulted(const void *context, const void **pointer);

/* direct.c */
bool swemu_counts_direct(void);
void swemu_count_direct(struct cpe *c, uintptr_t pc, size_t bytes, bool write);

/* regcomm.c */
void swemu_regcomm_leave(struct cpe *c);
void swemu_regcomm_tell(struct cpe *c); /* with the lock */

/* trace.c */
void swemu_trace_open(void);
void swemu_trace_close(void);
int swemu_trace_lacks(void);
static inline bool swemu_wanted(const char *path) { return path && *path; }
void swemu_trace_kernel(struct cpe *c, bool begin);
void swemu_trace_host(bool spawn, void *func, uint64_t cpes);
void swemu_trace_dma(struct cpe *c, struct xfer *x, int mode, int mask);
void swemu_trace_rma(struct cpe *c, struct xfer *x, int op);
void swemu_trace_wait(struct cpe *c, uintptr_t pc, const struct xfer *x, const volatile void *word);
void swemu_trace_spin(struct cpe *c, const volatile void *word);
void swemu_trace_completed(struct cpe *c, const volatile void *word);
void swemu_trace_sync(struct cpe *c, uint64_t mask, int mode, uintptr_t pc);
void swemu_trace_reg(struct cpe *c, uintptr_t pc, bool send, int column, uint64_t to, int bytes);
void swemu_trace_atomic(struct cpe *c, uintptr_t pc, const volatile void *word);

/* image.c: say, once, that the mode asked for needs code that this program was built without */
void swemu_say_what_is_missing(void);

/* counters.c */
extern const char *const swemu_op_names[];
struct site *swemu_site(struct cpe *c, uintptr_t pc, enum site_op op);
void swemu_count_transfer(struct cpe *c, const struct xfer *x, enum site_op op);
void swemu_count_spawn(void *func, uint64_t cpes);
void swemu_write_counters(void);

/* touched.c: off unless SWBUILD_EMU_TOUCHED asks for it */
void swemu_touched_configure(void);
void swemu_touch(const void *p, size_t n, bool write);
void swemu_touched_write(FILE *out);

/* lenma.c */
long swemu_lenma_csr(const struct cpe *c, int number);

#endif
