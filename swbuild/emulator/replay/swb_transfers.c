#include <stdlib.h>

#include "swb_arena.h"
#include "swb_state.h"

/* ---- the memory controller ---- */

static unsigned cluster_of(const struct swb_replay *r, unsigned cpe)
{
    return cpe / r->columns / 2 * r->columns + cpe % r->columns / 2;
}

/* The part of a put's work that is plain writing, which the streams of others disturb. */
static double writing(const struct swb_replay *r, const struct swb_transfer *transfer)
{
    if (!transfer->is_put || !transfer->requests.full)
        return 0;
    double plain = r->numbers.memory.put_request * (double)transfer->requests.full;
    return plain / (plain + r->numbers.memory.put_merge * (double)transfer->requests.merges);
}

/* The controller is slower with many puts, and with one cluster alone. */
void swb_controller_changed(void *owner, void *item, int by)
{
    struct swb_replay *r = owner;
    const struct swb_transfer *transfer = item;
    int64_t *cluster = &r->cluster[cluster_of(r, transfer->cpe)];
    r->puts += by * transfer->writing;
    r->merging += by * (transfer->is_put && transfer->requests.merges > 0);
    *cluster += by;
    r->clusters += by > 0 ? *cluster == 1 : -(*cluster == 0);
    double rate = 1.0 / (1.0 + r->numbers.memory.put_interleave * r->puts);
    r->controller.rate = r->clusters == 1 && !r->merging ? rate * r->numbers.memory.cluster_share : rate;
}

static void accept(struct swb_replay *r, struct swb_transfer *transfer)
{
    swb_shared_add(&r->controller, r->now, swb_work(&r->numbers, transfer->is_put, &transfer->requests), transfer);
}

/* ---- DMA ---- */

/* The counts of a strided transfer take long to find; most come again and again. */
static struct swb_requests requests_of(struct swb_replay *r, const struct swb_trace_record *record)
{
    uint64_t start = record->address % r->request, length = record->length, block = record->block;
    if (!block || block >= length || !record->gap)
        return swb_requests_of(start, length, block, 0, r->request);
    uint64_t hash = (start + 131 * length + 8191 * block + 524287 * (uint64_t)record->gap) * 0x9e3779b97f4a7c15ull;
    struct swb_known *known = &r->known[hash >> 54];
    if (!known->used || known->start != start || known->length != length || known->block != block ||
        known->gap != record->gap)
        *known = (struct swb_known){true, start, length, block, record->gap,
                                    swb_requests_of(start, length, block, record->gap, r->request)};
    return known->requests;
}

static uint64_t row_mask(const struct swb_replay *r, unsigned row)
{
    uint64_t all = r->columns < 64 ? (1ull << r->columns) - 1 : ~0ull;
    return all << row * r->columns;
}

/* The CPEs whose reply words a get increments, by its mode. */
static uint64_t receivers(const struct swb_replay *r, const struct swb_trace_record *record)
{
    unsigned row = record->cpe / r->columns;
    uint64_t found = 0;
    if (record->kind == SWB_DMA_PUT || record->mode < 1 || record->mode > 4)
        return 1ull << record->cpe;
    if (record->mode == 1 || record->mode == 3) /* broadcast to the rows of the mask */
        for (unsigned k = 0; k < r->rows; k++)
            found |= record->mask >> k & 1 ? row_mask(r, k) : 0;
    return found ? found : row_mask(r, row);
}

static struct swb_transfer *transfer_of(struct swb_replay *r, const struct swb_trace_record *record)
{
    struct swb_transfer *made = swb_arena_take(sizeof *made);
    made->cpe = record->cpe;
    made->is_put = record->kind == SWB_DMA_PUT;
    made->reply = record->reply;
    made->site = record->site;
    made->receivers = receivers(r, record);
    made->issued = r->now;
    made->requests = requests_of(r, record);
    made->writing = writing(r, made);
    return made;
}

static void count_transfer(struct swb_replay *r, const struct swb_trace_record *record, const struct swb_requests *requests)
{
    struct swb_site *entry = swb_site(r, record->site);
    entry->operations++;
    entry->bytes += record->length;
    entry->requests += requests->touched;
    entry->partial += requests->touched - requests->full;
}

void swb_dma(struct swb_replay *r, struct swb_actor *a)
{
    struct swb_transfer *transfer = transfer_of(r, &a->record);
    count_transfer(r, &a->record, &transfer->requests);
    a->outstanding++;
    if (a->engine) {
        a->engine_last->next = transfer;
    } else {
        a->engine = transfer;
        accept(r, transfer);
    }
    a->engine_last = transfer;
    swb_go_on(r, a, SWB_ISSUE, r->numbers.memory.issue_cycles);
}

/* The controller is done with a transfer: the engine goes on, the reply comes when it may. */
void swb_departed(struct swb_replay *r, struct swb_transfer *transfer)
{
    struct swb_actor *a = &r->actors[transfer->cpe];
    a->engine = transfer->next;
    if (a->engine)
        accept(r, a->engine);
    double earliest = transfer->issued + swb_earliest_finish(&r->numbers, transfer->is_put, &transfer->requests);
    double reply = r->now + swb_exposed(&r->numbers, transfer->is_put, &transfer->requests);
    swb_at(r, earliest > reply ? earliest : reply, SWB_REPLIED, transfer->cpe, transfer);
}

/* ---- replies ---- */

static bool satisfied(struct swb_actor *a)
{
    if (a->record.reply == SWB_TRACE_NONE)
        return !a->outstanding;
    const struct swb_count *found = swb_counts_of(&a->counts, a->record.reply);
    return (a->record.mode ? found->all : found->own) >= a->record.value;
}

static void check_wait(struct swb_replay *r, struct swb_actor *a, enum swb_category category, uint32_t site)
{
    if (a->blocked == SWB_WAITS_REPLY && satisfied(a))
        swb_wake(r, a, category, 0, site);
}

static void completed(struct swb_replay *r, struct swb_actor *a, uint32_t reply, enum swb_category category, uint32_t site,
                      bool own)
{
    if (reply != SWB_TRACE_NONE) {
        struct swb_count *count = swb_counts_of(&a->counts, reply);
        count->all++;
        count->own += own;
    }
    check_wait(r, a, category, site);
}

void swb_replied(struct swb_replay *r, struct swb_transfer *transfer)
{
    r->actors[transfer->cpe].outstanding--;
    for (uint64_t left = transfer->receivers; left; left &= left - 1) {
        unsigned cpe = (unsigned)__builtin_ctzll(left);
        completed(r, &r->actors[cpe], transfer->reply, SWB_WAITS_DMA, transfer->site, cpe == transfer->cpe);
    }
    if (!(transfer->receivers >> transfer->cpe & 1) || transfer->reply == SWB_TRACE_NONE)
        check_wait(r, &r->actors[transfer->cpe], SWB_WAITS_DMA, transfer->site);
    swb_arena_give(transfer, sizeof *transfer);
}

void swb_wait(struct swb_replay *r, struct swb_actor *a)
{
    if (satisfied(a))
        swb_schedule_next(r, a, r->now);
    else
        swb_block(r, a, SWB_WAITS_REPLY);
}

/* ---- RMA ---- */

void swb_rma(struct swb_replay *r, struct swb_actor *a)
{
    double issue = r->numbers.rma.issue_cycles;
    struct swb_rma *rma = swb_arena_take(sizeof *rma);
    struct swb_site *entry = swb_site(r, a->record.site);
    rma->record = a->record;
    entry->operations++;
    entry->bytes += a->record.length;
    a->outstanding++;
    swb_at(r, r->now + issue, SWB_ENTER, a->id, rma);
    swb_go_on(r, a, SWB_ISSUE, issue);
}

static double wire(const struct swb_replay *r, const struct swb_rma *rma)
{
    double pace = r->numbers.rma.bytes_per_cycle;
    return rma->record.length / (pace != 0 ? pace : 1.0);
}

void swb_enter(struct swb_replay *r, struct swb_rma *rma)
{
    double least = r->numbers.rma.minimum_cycles, needed = wire(r, rma);
    rma->start = r->now;
    swb_shared_add(&r->network, r->now, needed > least ? needed : least, rma);
}

/* The cycles that the way between the routers of two CPEs adds. */
static double distance(const struct swb_replay *r, unsigned one, unsigned other)
{
    int columns = (int)r->columns, a = (int)one, b = (int)other;
    int across = abs(a % columns / 2 - b % columns / 2), down = abs(a / columns / 2 - b / columns / 2);
    return across * r->numbers.rma.column_hop + down * r->numbers.rma.row_hop;
}

static double farthest(const struct swb_replay *r, const struct swb_trace_record *record)
{
    double found = 0;
    for (uint64_t left = record->address; left; left &= left - 1) {
        double way = distance(r, record->cpe, (unsigned)__builtin_ctzll(left));
        found = way > found ? way : found;
    }
    return found;
}

/* The network has carried an RMA: the replies come when they may, but not before the wire's time. */
void swb_sent(struct swb_replay *r, struct swb_rma *rma)
{
    const struct swb_trace_record *record = &rma->record;
    double least = r->now - r->numbers.rma.minimum_cycles, needed = rma->start + wire(r, rma);
    double carried = needed > least ? needed : least;
    double there = carried + r->numbers.rma.remote_latency - r->numbers.rma.issue_cycles;
    double back = carried + r->numbers.rma.local_latency;
    if (record->mode == SWB_RMA_GET) /* the request travels first, the data come back */
        back = there + farthest(r, record);
    swb_at(r, back, SWB_BACK, record->cpe, rma);
    for (uint64_t left = record->address; left; left &= left - 1) {
        unsigned other = (unsigned)__builtin_ctzll(left);
        struct swb_arrival *arrival = swb_arena_take(sizeof *arrival);
        *arrival = (struct swb_arrival){record->gap, record->site};
        swb_at(r, there + distance(r, record->cpe, other), SWB_THERE, other, arrival);
    }
}

void swb_there(struct swb_replay *r, struct swb_actor *a, struct swb_arrival *arrival)
{
    completed(r, a, arrival->reply, SWB_WAITS_RMA, arrival->site, false);
    swb_arena_give(arrival, sizeof *arrival);
}

void swb_back(struct swb_replay *r, struct swb_rma *rma)
{
    struct swb_actor *a = &r->actors[rma->record.cpe];
    a->outstanding--;
    completed(r, a, rma->record.reply, SWB_WAITS_RMA, rma->record.site, true);
    swb_arena_give(rma, sizeof *rma);
}
