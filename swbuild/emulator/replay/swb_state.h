/* The state of a replay, for the files that it consists of. */
#ifndef SWB_STATE_H
#define SWB_STATE_H

#include "swb_cost.h"
#include "swb_heap.h"
#include "swb_replay.h"
#include "swb_shared.h"

enum { SWB_ACTORS = 256, SWB_CPES = 64 };

/* What a CPE's time, or the host's, goes into; result.py has the same order. */
enum swb_category { SWB_COMPUTE, SWB_ISSUE, SWB_WAITS_DMA, SWB_WAITS_RMA, SWB_SYNCS, SWB_REGISTER, SWB_DIRECTLY,
                    SWB_IDLE, SWB_ON_HOST, SWB_CATEGORIES };

enum swb_blocked { SWB_GOES_ON, SWB_WAITS_SPAWN, SWB_WAITS_JOIN, SWB_WAITS_REPLY, SWB_WAITS_BARRIER, SWB_WAITS_ROOM,
                   SWB_WAITS_MESSAGE };

/* Records in a row; `owned`: they stand behind this head. */
struct swb_run {
    struct swb_run *next;
    const struct swb_trace_record *records;
    size_t count;
    bool owned;
};

/* How often a reply word was counted up in this kernel, and how often by transfers of the CPE itself. */
struct swb_count {
    uint32_t reply, epoch, all, own;
};

/* A completion on its way to a CPE. */
struct swb_arrival {
    uint32_t reply, site;
};

struct swb_counts {
    struct swb_count *slots;
    uint32_t room, used, epoch;
};

/* Times at which messages come, the earliest first. */
struct swb_queue {
    double *times;
    size_t first, count, room;
};

struct swb_list {
    uint8_t *items;
    size_t count, room;
};

/* One CPE's part in one kernel. */
struct swb_part {
    uint8_t cpe;
    double begin, end, spent[SWB_CATEGORIES];
};

/* One spawn. */
struct swb_kernel {
    struct swb_kernel *next;
    uint32_t ordinal, name; /* index into the kernels' names, or SWB_TRACE_NONE */
    uint64_t mask;
    int64_t running;
    bool open;
    double begin, end;
    struct swb_part *parts;
    size_t count, room;
};

struct swb_transfer {
    struct swb_transfer *next; /* in the engine of its CPE */
    uint8_t cpe;
    bool is_put;
    uint32_t reply, site;
    uint64_t receivers;
    double issued, writing; /* the part of a put's work that is plain writing, which the streams of others disturb */
    struct swb_requests requests;
};

struct swb_rma {
    struct swb_trace_record record;
    double start;
};

/* A CPE (or the host) on its way through its records. */
struct swb_actor {
    struct swb_run *first, *last;
    size_t next, queued; /* of the first run; all records left */
    struct swb_trace_record record;
    uint8_t id;
    bool seen, has_record, idle;
    enum swb_blocked blocked;
    unsigned expected; /* opened kernels that it is to begin */
    uint64_t since;    /* its place in the order of idle CPEs */
    double begin_wait;
    struct swb_kernel *kernel;
    size_t part;
    uint64_t outstanding;
    struct swb_counts counts;
    struct swb_transfer *engine, *engine_last;
    struct swb_queue queue[2];
    struct swb_list senders[2];
};

enum swb_event_kind { SWB_EXECUTE, SWB_BEGIN_IDLE, SWB_OPEN, SWB_REPLIED, SWB_ENTER, SWB_BACK, SWB_THERE, SWB_ARRIVED };

/* What the number of an event holds below its place in the order of creation. */
enum { SWB_CPE_BITS = 8, SWB_KIND_BITS = 8 };

/* An actor that may read its next record as soon as it is there; the order of its event is fixed already. */
struct swb_deferred {
    uint8_t actor;
    double time;
    uint64_t order;
};

struct swb_barrier {
    uint64_t mask;
    uint8_t mode;
    size_t count;
    uint8_t members[SWB_CPES];
};

struct swb_site {
    bool used;
    uint64_t operations, bytes, requests, partial;
    double waited, awaited, computed;
};

struct swb_block {
    bool used;
    double cost; /* of a pass, in the host's cycles */
    uint64_t passes;
    double cycles, stalled;
};

struct swb_known {
    bool used;
    uint64_t start, length, block, gap;
    struct swb_requests requests;
};

enum { SWB_KNOWN = 1024 };

struct swb_replay {
    struct swb_numbers numbers;
    uint64_t request;
    unsigned rows, columns;
    bool gated, details, finished; /* gated: kernels begin by a spawn */
    swb_writer *writer;
    void *to;
    double now;
    uint64_t order, idle_order;
    struct swb_actor actors[SWB_ACTORS];
    struct swb_heap events;
    struct swb_deferred deferred[SWB_ACTORS];
    size_t deferred_first, deferred_count;
    int lacking;
    struct swb_shared controller, network;
    double puts;
    int64_t merging, clusters, cluster[SWB_ACTORS];
    struct swb_barrier *barriers;
    size_t barrier_count, barrier_room;
    struct swb_kernel *kernels;
    int64_t last_joined;
    double last_end;
    struct swb_site *sites;
    size_t site_room;
    struct swb_block *blocks;
    size_t block_count, block_room;
    int64_t nameless; /* a block that a record speaks of and that has no mix, or -1 */
    bool any_spawn, any_join;
    double host_end, before, between, between_joins, after;
    struct swb_known known[SWB_KNOWN];
};

/* swb_replay.c */
void swb_at(struct swb_replay *r, double time, enum swb_event_kind kind, unsigned cpe, void *item);
void swb_schedule_next(struct swb_replay *r, struct swb_actor *a, double time);
void swb_schedule_idle(struct swb_replay *r, struct swb_actor *a);
void swb_go_on(struct swb_replay *r, struct swb_actor *a, enum swb_category category, double cycles);
void swb_block(struct swb_replay *r, struct swb_actor *a, enum swb_blocked what);
void swb_wake(struct swb_replay *r, struct swb_actor *a, enum swb_category category, double after, uint32_t site);
void swb_spend(struct swb_replay *r, struct swb_actor *a, enum swb_category category, double begin, double end,
               uint32_t site);
void swb_take_record(struct swb_actor *a);

/* swb_kernels.c: spawn, kernel, join, and the host between them */
void swb_spawn(struct swb_replay *r, struct swb_actor *a);
void swb_join(struct swb_replay *r, struct swb_actor *a);
void swb_open(struct swb_replay *r, struct swb_kernel *kernel);
void swb_be_idle(struct swb_replay *r, struct swb_actor *a);
int swb_opening_lacks(const struct swb_replay *r, const struct swb_kernel *kernel);
void swb_kernel_begin(struct swb_replay *r, struct swb_actor *a);
void swb_kernel_end(struct swb_replay *r, struct swb_actor *a);
void swb_host_blocks(struct swb_replay *r, struct swb_actor *a);

/* swb_transfers.c: DMA, RMA and the replies to both */
void swb_dma(struct swb_replay *r, struct swb_actor *a);
void swb_departed(struct swb_replay *r, struct swb_transfer *transfer);
void swb_replied(struct swb_replay *r, struct swb_transfer *transfer);
void swb_rma(struct swb_replay *r, struct swb_actor *a);
void swb_enter(struct swb_replay *r, struct swb_rma *rma);
void swb_sent(struct swb_replay *r, struct swb_rma *rma);
void swb_back(struct swb_replay *r, struct swb_rma *rma);
void swb_there(struct swb_replay *r, struct swb_actor *a, struct swb_arrival *arrival);
void swb_wait(struct swb_replay *r, struct swb_actor *a);
void swb_controller_changed(void *owner, void *item, int by);

/* swb_counts.c: how often reply words were counted up */
void swb_counts_clear(struct swb_counts *counts);
struct swb_count *swb_counts_of(struct swb_counts *counts, uint32_t reply);

/* swb_meetings.c: barriers, messages between registers, single accesses */
void swb_sync(struct swb_replay *r, struct swb_actor *a);
void swb_reg_put(struct swb_replay *r, struct swb_actor *a);
void swb_reg_get(struct swb_replay *r, struct swb_actor *a);
void swb_arrived(struct swb_replay *r, struct swb_actor *a);
void swb_single(struct swb_replay *r, struct swb_actor *a, double cycles);

/* swb_result.c */
struct swb_site *swb_site(struct swb_replay *r, uint32_t index);
void swb_write(struct swb_replay *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void swb_write_kernel(struct swb_replay *r, const struct swb_kernel *kernel);
void swb_write_rest(struct swb_replay *r);

#endif
