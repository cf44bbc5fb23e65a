#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "swb_arena.h"
#include "swb_state.h"

void swb_write(struct swb_replay *r, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size > 0)
        r->writer(r->to, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

/* ---- call sites ---- */

struct swb_site *swb_site(struct swb_replay *r, uint32_t index)
{
    if (index >= r->site_room) {
        size_t wanted = r->site_room ? r->site_room : 64;
        while (wanted <= index)
            wanted *= 2;
        r->sites = swb_arena_grow(r->sites, r->site_room, wanted, sizeof *r->sites);
        r->site_room = wanted;
    }
    r->sites[index].used = true;
    return &r->sites[index];
}

static void write_site(struct swb_replay *r, size_t index)
{
    const struct swb_site *s = &r->sites[index];
    swb_write(r, "site %zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.17g %.17g %.17g\n", index, s->operations,
              s->bytes, s->requests, s->partial, s->waited, s->awaited, s->computed);
}

/* ---- kernels ---- */

static void write_spent(struct swb_replay *r, const double *spent)
{
    for (int k = 0; k < SWB_CATEGORIES; k++)
        swb_write(r, " %.17g", spent[k]);
    swb_write(r, "\n");
}

static void write_parts(struct swb_replay *r, const struct swb_kernel *kernel)
{
    for (size_t k = 0; k < kernel->count; k++) {
        const struct swb_part *part = &kernel->parts[k];
        swb_write(r, "cpe %" PRIu32 " %u %.17g %.17g", kernel->ordinal, part->cpe, part->begin, part->end);
        write_spent(r, part->spent);
    }
}

static double last_end(const struct swb_kernel *kernel)
{
    double found = kernel->parts[0].end;
    for (size_t k = 1; k < kernel->count; k++)
        found = kernel->parts[k].end > found ? kernel->parts[k].end : found;
    return found;
}

static double first_begin(const struct swb_kernel *kernel)
{
    double found = kernel->parts[0].begin;
    for (size_t k = 1; k < kernel->count; k++)
        found = kernel->parts[k].begin < found ? kernel->parts[k].begin : found;
    return found;
}

/* Where the CPEs' time went, averaged over them; idle is waiting for the last one. */
static void average(const struct swb_kernel *kernel, double last, double *spent)
{
    for (size_t k = 0; k < kernel->count; k++) {
        for (int category = 0; category < SWB_CATEGORIES; category++)
            spent[category] += kernel->parts[k].spent[category];
        spent[SWB_IDLE] += last - kernel->parts[k].end;
    }
    for (int category = 0; category < SWB_CATEGORIES && kernel->count; category++)
        spent[category] /= (double)kernel->count;
}

void swb_write_kernel(struct swb_replay *r, const struct swb_kernel *kernel)
{
    double spent[SWB_CATEGORIES] = {0}, last = kernel->count ? last_end(kernel) : 0;
    double span = kernel->count ? last - first_begin(kernel) : 0;
    average(kernel, last, spent);
    r->last_end = kernel->end > r->last_end ? kernel->end : r->last_end;
    swb_write(r, "kernel %" PRIu32 " %" PRIu32 " %.17g %.17g %.17g %zu", kernel->ordinal, kernel->name, kernel->begin,
              kernel->end, span, kernel->count);
    write_spent(r, spent);
    if (r->details)
        write_parts(r, kernel);
}

/* ---- the rest ---- */

static const char *const names[] = {
    [SWB_GOES_ON] = "spawn", [SWB_WAITS_SPAWN] = "spawn", [SWB_WAITS_JOIN] = "join", [SWB_WAITS_REPLY] = "reply",
    [SWB_WAITS_BARRIER] = "barrier", [SWB_WAITS_ROOM] = "full queue", [SWB_WAITS_MESSAGE] = "empty queue",
};

static void write_stuck(struct swb_replay *r, const struct swb_actor *a)
{
    bool spawn = a->idle && a->first; /* its next record is the begin of a kernel */
    if (!spawn && a->blocked == SWB_GOES_ON)
        return;
    swb_write(r, "stuck %u %" PRIu32 " %s", a->id, a->has_record ? a->record.site : 0, names[a->blocked]);
    if (a->blocked == SWB_WAITS_JOIN)
        swb_write(r, " %" PRIu32, a->record.value);
    swb_write(r, "\n");
}

static void write_blocks(struct swb_replay *r)
{
    for (size_t k = 0; k < r->block_count; k++)
        if (r->blocks[k].used)
            swb_write(r, "block %zu %" PRIu64 " %.17g %.17g\n", k, r->blocks[k].passes, r->blocks[k].cycles,
                      r->blocks[k].stalled);
    if (r->nameless >= 0)
        swb_write(r, "nameless %" PRId64 "\n", r->nameless);
}

static double larger(double one, double other) { return other > one ? other : one; }

void swb_write_rest(struct swb_replay *r)
{
    for (const struct swb_kernel *kernel = r->kernels; kernel; kernel = kernel->next)
        swb_write_kernel(r, kernel);
    for (size_t k = 0; k < r->site_room; k++)
        if (r->sites[k].used)
            write_site(r, k);
    write_blocks(r);
    swb_write(r, "host %.17g %.17g %.17g\n", r->before, r->any_join ? r->between_joins : r->between,
              r->any_join ? r->after : 0);
    for (unsigned k = 0; k < SWB_ACTORS; k++)
        write_stuck(r, &r->actors[k]);
    swb_write(r, "end %.17g %.17g\n", larger(larger(r->now, r->host_end), r->last_end), r->controller.busy);
}
