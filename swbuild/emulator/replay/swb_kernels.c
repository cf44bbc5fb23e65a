#include "swb_arena.h"
#include "swb_state.h"

static struct swb_kernel *kernel_of(const struct swb_replay *r, uint32_t ordinal)
{
    struct swb_kernel *found = r->kernels;
    while (found && found->ordinal != ordinal)
        found = found->next;
    return found;
}

static struct swb_kernel *make(struct swb_replay *r, uint32_t ordinal, uint32_t name)
{
    struct swb_kernel *made = swb_arena_take(sizeof *made);
    *made = (struct swb_kernel){.next = r->kernels, .ordinal = ordinal, .name = name, .running = 1, .begin = r->now};
    r->kernels = made;
    return made;
}

/* ---- spawn and join ---- */

static bool is_over(const struct swb_replay *r, const struct swb_kernel *kernel)
{
    bool left = true;
    for (size_t k = 0; k < kernel->count; k++)
        left = left && r->actors[kernel->parts[k].cpe].kernel != kernel;
    return left && kernel->open && kernel->running <= 0 && kernel->ordinal <= r->last_joined;
}

/* Write the kernels of which nothing more can come, and forget them. */
static void forget_kernels(struct swb_replay *r)
{
    for (struct swb_kernel **link = &r->kernels; *link;) {
        struct swb_kernel *kernel = *link;
        if (!is_over(r, kernel)) {
            link = &kernel->next;
            continue;
        }
        *link = kernel->next;
        swb_write_kernel(r, kernel);
        swb_arena_give(kernel->parts, kernel->room * sizeof *kernel->parts);
        swb_arena_give(kernel, sizeof *kernel);
    }
}

void swb_spawn(struct swb_replay *r, struct swb_actor *a)
{
    int threads = __builtin_popcountll(a->record.address);
    forget_kernels(r);
    struct swb_kernel *kernel = make(r, a->record.value, a->record.ldm);
    kernel->mask = a->record.address;
    kernel->running = threads ? threads : 1;
    r->any_spawn = true;
    swb_at(r, r->now + r->numbers.control.spawn_cycles, SWB_OPEN, a->id, kernel);
    swb_schedule_next(r, a, r->now);
}

static void joined(struct swb_replay *r, struct swb_actor *host)
{
    struct swb_kernel *kernel = kernel_of(r, host->record.value);
    double end = r->now + r->numbers.control.join_cycles;
    host->blocked = SWB_GOES_ON;
    if (kernel)
        kernel->end = end;
    r->last_joined = host->record.value;
    swb_schedule_next(r, host, end);
}

void swb_join(struct swb_replay *r, struct swb_actor *a)
{
    const struct swb_kernel *kernel = kernel_of(r, a->record.value);
    r->any_join = true;
    r->between_joins = r->between;
    r->after = 0;
    if (kernel && kernel->running > 0)
        swb_block(r, a, SWB_WAITS_JOIN);
    else
        joined(r, a);
}

/* ---- the CPEs' part ---- */

static bool begins(const struct swb_actor *a, uint32_t ordinal)
{
    const struct swb_trace_record *record = a->first ? &a->first->records[a->next] : NULL;
    return a->idle && record && record->kind == SWB_KERNEL_BEGIN && record->value == ordinal;
}

/* Let an actor enter the kernel of its record. */
static void begin(struct swb_replay *r, struct swb_actor *a)
{
    struct swb_kernel *kernel = kernel_of(r, a->record.value);
    if (!kernel)
        kernel = make(r, a->record.value, SWB_TRACE_NONE);
    if (kernel->count == kernel->room) {
        size_t wanted = kernel->room ? 2 * kernel->room : SWB_CPES;
        kernel->parts = swb_arena_grow(kernel->parts, kernel->room, wanted, sizeof *kernel->parts);
        kernel->room = wanted;
    }
    a->idle = false;
    a->expected -= a->expected > 0;
    a->blocked = SWB_GOES_ON;
    a->kernel = kernel;
    a->part = kernel->count++;
    kernel->parts[a->part] = (struct swb_part){.cpe = a->id, .begin = r->now};
    swb_counts_clear(&a->counts);
    swb_schedule_next(r, a, r->now);
}

/* Return a CPE that is to begin the kernel and has no record yet, or SWB_NOBODY. */
int swb_opening_lacks(const struct swb_replay *r, const struct swb_kernel *kernel)
{
    for (uint64_t left = kernel->mask; left; left &= left - 1) {
        int cpe = __builtin_ctzll(left);
        if (r->actors[cpe].idle && !r->actors[cpe].first)
            return cpe;
    }
    return SWB_NOBODY;
}

/* Return the CPE that has been idle for longest of those that begin the kernel, or null. */
static struct swb_actor *next_to_begin(struct swb_replay *r, uint32_t ordinal)
{
    struct swb_actor *found = NULL;
    for (unsigned k = 0; k < SWB_CPES; k++)
        if (begins(&r->actors[k], ordinal) && (!found || r->actors[k].since < found->since))
            found = &r->actors[k];
    return found;
}

void swb_open(struct swb_replay *r, struct swb_kernel *kernel)
{
    struct swb_actor *a;
    kernel->open = true;
    for (uint64_t left = kernel->mask; left; left &= left - 1)
        r->actors[__builtin_ctzll(left)].expected++;
    while ((a = next_to_begin(r, kernel->ordinal))) {
        swb_take_record(a);
        begin(r, a);
    }
}

static bool may_begin(const struct swb_replay *r, uint32_t ordinal)
{
    const struct swb_kernel *kernel = kernel_of(r, ordinal);
    return !r->gated || (kernel && kernel->open);
}

void swb_kernel_begin(struct swb_replay *r, struct swb_actor *a)
{
    if (may_begin(r, a->record.value))
        begin(r, a);
    else
        swb_block(r, a, SWB_WAITS_SPAWN);
}

/* A CPE has left a kernel, or has not entered any: it begins the next one as soon as that is spawned. */
void swb_be_idle(struct swb_replay *r, struct swb_actor *a)
{
    const struct swb_trace_record *record = a->first ? &a->first->records[a->next] : NULL;
    if (record && (record->kind != SWB_KERNEL_BEGIN || may_begin(r, record->value))) {
        swb_take_record(a);
        if (a->record.kind == SWB_KERNEL_BEGIN)
            begin(r, a);
        else
            swb_at(r, r->now, SWB_EXECUTE, a->id, NULL);
        return;
    }
    a->idle = true;
    a->since = r->idle_order++;
}

void swb_kernel_end(struct swb_replay *r, struct swb_actor *a)
{
    struct swb_kernel *kernel = kernel_of(r, a->record.value);
    struct swb_actor *host = &r->actors[SWB_TRACE_HOST];
    if (kernel && a->kernel == kernel)
        kernel->parts[a->part].end = kernel->end = r->now;
    a->kernel = NULL;
    if (kernel && --kernel->running <= 0 && host->blocked == SWB_WAITS_JOIN && host->record.value == kernel->ordinal)
        joined(r, host);
    swb_schedule_idle(r, a);
}

/* ---- the host ---- */

static void place(struct swb_replay *r, double cycles)
{
    if (!r->any_spawn) {
        r->before += cycles;
        return;
    }
    r->between += cycles; /* and behind the last join, if no other comes */
    r->after += cycles;
}

/* Return the cycles of the CPEs' clock that the host's record stands for, and count them. */
static double take_block(struct swb_replay *r, const struct swb_trace_record *record)
{
    double pace = r->numbers.clock_hz / r->numbers.host_clock_hz;
    if (record->ldm >= r->block_count) {
        r->nameless = record->ldm;
        return 0;
    }
    struct swb_block *block = &r->blocks[record->ldm];
    double stalled = pace * swb_stalled(&r->numbers, record->length, record->block, record->gap);
    double cycles = pace * (double)record->address * block->cost + stalled;
    block->used = true;
    block->passes += record->address;
    block->cycles += cycles;
    block->stalled += stalled;
    place(r, cycles);
    return cycles;
}

/* Let the host compute all that stands between two other records of its. */
void swb_host_blocks(struct swb_replay *r, struct swb_actor *a)
{
    double end = r->now + take_block(r, &a->record);
    while (a->first && a->first->records[a->next].kind == SWB_HOST) {
        swb_take_record(a);
        end += take_block(r, &a->record);
    }
    r->host_end = end;
    if (r->details)
        swb_write(r, "slice %u %d %.17g %.17g 0\n", a->id, SWB_ON_HOST, r->now, end);
    swb_schedule_next(r, a, end);
}
