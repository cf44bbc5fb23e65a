#include "swb_replay.h"

#include <math.h>
#include <string.h>

#include "swb_arena.h"
#include "swb_state.h"

/* How many records ahead memory is asked for. */
enum { PREFETCHED = 4 };

/* ---- events ---- */

static void push(struct swb_replay *r, double time, uint64_t order, enum swb_event_kind kind, unsigned cpe, void *item)
{
    uint64_t number = (order << SWB_KIND_BITS | kind) << SWB_CPE_BITS | cpe;
    swb_heap_push(&r->events, time, number, item);
}

void swb_at(struct swb_replay *r, double time, enum swb_event_kind kind, unsigned cpe, void *item)
{
    push(r, time, r->order++, kind, cpe, item);
}

static enum swb_event_kind kind_of(const struct swb_entry *event)
{
    return swb_entry_number(event) >> SWB_CPE_BITS & ((1 << SWB_KIND_BITS) - 1);
}

static unsigned cpe_of(const struct swb_entry *event) { return swb_entry_number(event) & ((1 << SWB_CPE_BITS) - 1); }

/* ---- the actors ---- */

static void drop_run(struct swb_actor *a)
{
    struct swb_run *run = a->first;
    a->first = run->next;
    if (!a->first)
        a->last = NULL;
    a->next = 0;
    swb_arena_give(run, sizeof *run + (run->owned ? run->count * sizeof *run->records : 0));
}

void swb_take_record(struct swb_actor *a)
{
    a->record = a->first->records[a->next++];
    if (a->next + PREFETCHED < a->first->count)
        __builtin_prefetch(&a->first->records[a->next + PREFETCHED]);
    a->has_record = true;
    a->queued--;
    if (a->next == a->first->count)
        drop_run(a);
}

/* Compute up to the next record, which is there. */
static void begin_next(struct swb_replay *r, const struct swb_deferred *d)
{
    struct swb_actor *a = &r->actors[d->actor];
    swb_take_record(a);
    double end = d->time + (double)a->record.compute;
    if (a->record.compute)
        swb_spend(r, a, SWB_COMPUTE, d->time, end, a->record.site);
    push(r, end, d->order, SWB_EXECUTE, a->id, NULL);
}

/* Let an actor, free at `time`, compute up to its next record and execute that.  As soon as one record is not there
 * yet, all that come behind it wait, too, so that sums and ties do not depend on how records are fed. */
void swb_schedule_next(struct swb_replay *r, struct swb_actor *a, double time)
{
    struct swb_deferred made = {a->id, time, r->order++};
    if (a->first && !r->deferred_count)
        begin_next(r, &made);
    else
        r->deferred[(r->deferred_first + r->deferred_count++) % SWB_ACTORS] = made;
}

void swb_schedule_idle(struct swb_replay *r, struct swb_actor *a)
{
    a->has_record = false;
    swb_at(r, r->now, SWB_BEGIN_IDLE, a->id, NULL);
}

/* Let an actor spend `cycles` from now and go on with its next record. */
void swb_go_on(struct swb_replay *r, struct swb_actor *a, enum swb_category category, double cycles)
{
    if (cycles != 0)
        swb_spend(r, a, category, r->now, r->now + cycles, a->record.site);
    swb_schedule_next(r, a, r->now + cycles);
}

void swb_block(struct swb_replay *r, struct swb_actor *a, enum swb_blocked what)
{
    a->begin_wait = r->now;
    a->blocked = what;
}

void swb_wake(struct swb_replay *r, struct swb_actor *a, enum swb_category category, double after, uint32_t site)
{
    double end = r->now + after;
    a->blocked = SWB_GOES_ON;
    swb_spend(r, a, category, a->begin_wait, end, a->record.site ? a->record.site : site);
    if (site && a->kernel)
        swb_site(r, site)->awaited += end - a->begin_wait;
    swb_schedule_next(r, a, end);
}

void swb_spend(struct swb_replay *r, struct swb_actor *a, enum swb_category category, double begin, double end,
               uint32_t site)
{
    if (!a->kernel || end <= begin)
        return;
    a->kernel->parts[a->part].spent[category] += end - begin;
    struct swb_site *entry = swb_site(r, site);
    *(category == SWB_COMPUTE ? &entry->computed : &entry->waited) += end - begin;
    if (r->details)
        swb_write(r, "slice %u %d %.17g %.17g %u\n", a->id, category, begin, end, site);
}

static void mark(struct swb_replay *r, struct swb_actor *a)
{
    if (r->details)
        swb_write(r, "mark %u %.17g %u\n", a->id, r->now, a->record.site);
    swb_schedule_next(r, a, r->now);
}

static void execute(struct swb_replay *r, struct swb_actor *a)
{
    switch (a->record.kind) {
    case SWB_KERNEL_BEGIN: swb_kernel_begin(r, a); break;
    case SWB_KERNEL_END: swb_kernel_end(r, a); break;
    case SWB_SPAWN: swb_spawn(r, a); break;
    case SWB_JOIN: swb_join(r, a); break;
    case SWB_DMA_GET:
    case SWB_DMA_PUT: swb_dma(r, a); break;
    case SWB_RMA: swb_rma(r, a); break;
    case SWB_WAIT: swb_wait(r, a); break;
    case SWB_SYNC: swb_sync(r, a); break;
    case SWB_REG_PUT: swb_reg_put(r, a); break;
    case SWB_REG_GET: swb_reg_get(r, a); break;
    case SWB_ATOMIC: swb_single(r, a, r->numbers.control.atomic_cycles); break;
    case SWB_DIRECT: swb_single(r, a, r->numbers.control.direct_cycles); break;
    case SWB_HOST: swb_host_blocks(r, a); break;
    default: mark(r, a); break;
    }
}

/* ---- the simulation ---- */

static void act(struct swb_replay *r, const struct swb_entry *event)
{
    struct swb_actor *a = &r->actors[cpe_of(event)];
    r->now = swb_entry_time(event);
    switch (kind_of(event)) {
    case SWB_EXECUTE: execute(r, a); break;
    case SWB_BEGIN_IDLE: swb_be_idle(r, a); break;
    case SWB_OPEN: swb_open(r, event->item); break;
    case SWB_REPLIED: swb_replied(r, event->item); break;
    case SWB_ENTER: swb_enter(r, event->item); break;
    case SWB_BACK: swb_back(r, event->item); break;
    case SWB_THERE: swb_there(r, a, event->item); break;
    case SWB_ARRIVED: swb_arrived(r, a); break;
    }
}

/* Return the actor without whose records this event cannot be taken, or SWB_NOBODY. */
static int lacks(const struct swb_replay *r, const struct swb_entry *event)
{
    const struct swb_actor *a = &r->actors[cpe_of(event)];
    enum swb_event_kind kind = kind_of(event);
    if (r->finished)
        return SWB_NOBODY;
    if (kind == SWB_OPEN)
        return swb_opening_lacks(r, event->item);
    return kind == SWB_BEGIN_IDLE && a->expected && !a->first ? a->id : SWB_NOBODY;
}

/* Take the first event of the heap, if nothing is lacking for it. */
static bool take_event(struct swb_replay *r)
{
    r->lacking = r->events.count ? lacks(r, &r->events.entries[0]) : SWB_NOBODY;
    if (!r->events.count || r->lacking != SWB_NOBODY)
        return false;
    struct swb_entry event = swb_heap_pop(&r->events);
    act(r, &event);
    return true;
}

static double not_before(double now, double time) { return time > now ? time : now; }

/* Take the next event: a departure from the controller or the network, or one of the heap's. */
static bool step(struct swb_replay *r)
{
    double first = r->events.count ? swb_entry_time(&r->events.entries[0]) : INFINITY;
    double served = r->controller.next, sent = r->network.next;
    if (r->controller.active.count && served <= first && served <= sent) {
        r->now = not_before(r->now, served);
        swb_departed(r, swb_shared_depart(&r->controller, r->now));
    } else if (r->network.active.count && sent <= first) {
        r->now = not_before(r->now, sent);
        swb_sent(r, swb_shared_depart(&r->network, r->now));
    } else {
        return take_event(r);
    }
    return true;
}

/* Let those go on whose records have come meanwhile, in their order. */
static bool settle_deferred(struct swb_replay *r)
{
    while (r->deferred_count) {
        const struct swb_deferred first = r->deferred[r->deferred_first];
        bool there = r->actors[first.actor].first;
        r->lacking = first.actor;
        if (!there && !r->finished)
            return false;
        r->deferred_first = (r->deferred_first + 1) % SWB_ACTORS;
        r->deferred_count--;
        if (there)
            begin_next(r, &first);
    }
    return true;
}

int swb_replay_advance(struct swb_replay *r)
{
    while (settle_deferred(r) && step(r)) {
    }
    return r->lacking;
}

/* ---- begin and end ---- */

static void open_actors(struct swb_replay *r)
{
    for (unsigned k = 0; k < SWB_ACTORS; k++) {
        struct swb_actor *a = &r->actors[k];
        a->id = (uint8_t)k;
        if (k < SWB_CPES)
            swb_schedule_idle(r, a);
        else if (k == SWB_TRACE_HOST)
            swb_schedule_next(r, a, 0);
    }
}

void swb_replay_set(struct swb_replay *r, const char *numbers)
{
    swb_numbers_read(&r->numbers, numbers);
    r->request = (uint64_t)r->numbers.dma.request_bytes;
    r->rows = (unsigned)r->numbers.mesh_rows;
    r->columns = (unsigned)r->numbers.mesh_columns;
}

struct swb_replay *swb_replay_open(const char *numbers, bool details, swb_writer *writer, void *to)
{
    struct swb_replay *r = swb_arena_take(sizeof *r);
    swb_replay_set(r, numbers);
    r->details = details;
    r->writer = writer;
    r->to = to;
    r->last_joined = r->nameless = -1;
    swb_shared_open(&r->controller, swb_controller_changed, r);
    swb_shared_open(&r->network, NULL, r);
    open_actors(r);
    return r;
}

bool swb_replay_block(struct swb_replay *r, const char *mix)
{
    if (r->block_count == r->block_room) {
        size_t wanted = r->block_room ? 2 * r->block_room : 64;
        r->blocks = swb_arena_grow(r->blocks, r->block_room, wanted, sizeof *r->blocks);
        r->block_room = wanted;
    }
    double cost = swb_mix_cycles(&r->numbers, mix);
    r->blocks[r->block_count++].cost = cost;
    return cost >= 0;
}

static bool any_spawn(const struct swb_trace_record *records, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (records[k].kind == SWB_SPAWN)
            return true;
    return false;
}

void swb_replay_feed(struct swb_replay *r, const struct swb_trace_record *records, size_t count, bool copied)
{
    if (!count)
        return;
    struct swb_actor *a = &r->actors[records[0].cpe];
    struct swb_run *run = swb_arena_take(sizeof *run + (copied ? count * sizeof *records : 0));
    *run = (struct swb_run){.records = copied ? memcpy(run + 1, records, count * sizeof *records) : records,
                            .count = count, .owned = copied};
    if (a->last)
        a->last->next = run;
    else
        a->first = run;
    a->last = run;
    a->seen = true;
    a->queued += count;
    r->gated = r->gated || (a->id == SWB_TRACE_HOST && any_spawn(records, count));
}

size_t swb_replay_queued(const struct swb_replay *r, unsigned cpe) { return r->actors[cpe].queued; }

void swb_replay_finish(struct swb_replay *r)
{
    r->finished = true;
    swb_replay_advance(r);
    swb_write_rest(r);
}
