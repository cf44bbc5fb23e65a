#include <string.h>

#include "swb_arena.h"
#include "swb_state.h"

/* ---- barriers ---- */

static struct swb_barrier *barrier_of(struct swb_replay *r, uint64_t mask, uint8_t mode)
{
    for (size_t k = 0; k < r->barrier_count; k++)
        if (r->barriers[k].mask == mask && r->barriers[k].mode == mode)
            return &r->barriers[k];
    if (r->barrier_count == r->barrier_room) {
        size_t wanted = r->barrier_room ? 2 * r->barrier_room : 8;
        r->barriers = swb_arena_grow(r->barriers, r->barrier_room, wanted, sizeof *r->barriers);
        r->barrier_room = wanted;
    }
    struct swb_barrier *made = &r->barriers[r->barrier_count++];
    made->mask = mask;
    made->mode = mode;
    made->count = 0;
    return made;
}

void swb_sync(struct swb_replay *r, struct swb_actor *a)
{
    struct swb_barrier *barrier = barrier_of(r, a->record.address, a->record.mode);
    size_t wanted = (size_t)__builtin_popcountll(a->record.address);
    barrier->members[barrier->count++] = a->id;
    swb_block(r, a, SWB_WAITS_BARRIER);
    if (barrier->count < wanted)
        return;
    struct swb_barrier met = *barrier;
    *barrier = r->barriers[--r->barrier_count];
    for (size_t k = 0; k < met.count; k++)
        swb_wake(r, &r->actors[met.members[k]], SWB_SYNCS, r->numbers.control.sync_cycles, 0);
}

/* ---- messages between registers ---- */

static uint32_t times(const struct swb_trace_record *record) { return record->value ? record->value : 1; }

static bool is_full(const struct swb_replay *r, const struct swb_queue *queue)
{
    double depth = r->numbers.registers.fifo_depth;
    return (double)queue->count >= (depth > 1 ? depth : 1);
}

static bool has_room(const struct swb_replay *r, const struct swb_trace_record *record)
{
    for (uint64_t left = record->address; left; left &= left - 1) {
        const struct swb_actor *other = &r->actors[__builtin_ctzll(left)];
        if (other->seen && is_full(r, &other->queue[record->mode & 1]))
            return false;
    }
    return true;
}

static void append(struct swb_queue *queue, double time)
{
    if (queue->count == queue->room) {
        size_t wanted = queue->room ? 2 * queue->room : 16;
        double *made = swb_arena_take(wanted * sizeof *made);
        for (size_t k = 0; k < queue->count; k++)
            made[k] = queue->times[(queue->first + k) % queue->room];
        swb_arena_give(queue->times, queue->room * sizeof *made);
        *queue = (struct swb_queue){made, 0, queue->count, wanted};
    }
    queue->times[(queue->first + queue->count++) % queue->room] = time;
}

/* Each sender is there once: one that tries again and still finds no room keeps its place. */
static void note_sender(struct swb_list *list, uint8_t sender)
{
    if (list->count && memchr(list->items, sender, list->count))
        return;
    if (list->count == list->room) {
        size_t wanted = list->room ? 2 * list->room : 32;
        list->items = swb_arena_grow(list->items, list->room, wanted, 1);
        list->room = wanted;
    }
    list->items[list->count++] = sender;
}

static void send(struct swb_replay *r, const struct swb_trace_record *record)
{
    double behind = r->numbers.registers.send_cycles * (record->value ? record->value - 1 : 0);
    double arrival = r->now + r->numbers.registers.latency + behind;
    for (uint64_t left = record->address; left; left &= left - 1) {
        struct swb_actor *other = &r->actors[__builtin_ctzll(left)];
        if (!other->seen)
            continue;
        append(&other->queue[record->mode & 1], arrival);
        swb_at(r, arrival, SWB_ARRIVED, other->id, NULL);
    }
    struct swb_site *entry = swb_site(r, record->site);
    entry->operations += times(record);
    entry->bytes += (uint64_t)record->length * times(record);
}

void swb_reg_put(struct swb_replay *r, struct swb_actor *a)
{
    if (has_room(r, &a->record)) {
        send(r, &a->record);
        swb_go_on(r, a, SWB_REGISTER, r->numbers.registers.send_cycles * times(&a->record));
        return;
    }
    swb_block(r, a, SWB_WAITS_ROOM);
    for (uint64_t left = a->record.address; left; left &= left - 1)
        note_sender(&r->actors[__builtin_ctzll(left)].senders[a->record.mode & 1], a->id);
}

static void retry(struct swb_replay *r, struct swb_actor *sender)
{
    sender->blocked = SWB_GOES_ON;
    swb_spend(r, sender, SWB_REGISTER, sender->begin_wait, r->now, sender->record.site);
    swb_reg_put(r, sender);
}

static void receive(struct swb_replay *r, struct swb_actor *a)
{
    unsigned mode = a->record.mode & 1;
    struct swb_queue *queue = &a->queue[mode];
    if (!queue->count || queue->times[queue->first] > r->now)
        return;
    queue->first = (queue->first + 1) % queue->room;
    queue->count--;
    swb_wake(r, a, SWB_REGISTER, r->numbers.registers.receive_cycles * times(&a->record), 0);
    struct swb_list waiting = a->senders[mode];
    a->senders[mode] = (struct swb_list){0};
    for (size_t k = 0; k < waiting.count; k++)
        if (r->actors[waiting.items[k]].blocked == SWB_WAITS_ROOM)
            retry(r, &r->actors[waiting.items[k]]);
    swb_arena_give(waiting.items, waiting.room);
}

void swb_reg_get(struct swb_replay *r, struct swb_actor *a)
{
    swb_block(r, a, SWB_WAITS_MESSAGE);
    receive(r, a);
}

void swb_arrived(struct swb_replay *r, struct swb_actor *a)
{
    if (a->blocked == SWB_WAITS_MESSAGE)
        receive(r, a);
}

/* ---- single accesses to main memory ---- */

void swb_single(struct swb_replay *r, struct swb_actor *a, double cycles)
{
    struct swb_site *entry = swb_site(r, a->record.site);
    entry->operations += times(&a->record);
    entry->bytes += a->record.kind == SWB_DIRECT ? a->record.length : 0;
    swb_go_on(r, a, SWB_DIRECTLY, cycles * times(&a->record));
}
