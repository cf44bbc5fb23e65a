#include "swb_numbers.h"

#include <stdlib.h>
#include <string.h>

#define NAMED(FIELD) {#FIELD, offsetof(struct swb_numbers, FIELD)}

static const struct {
    const char *name;
    size_t offset;
} table[] = {
    NAMED(clock_hz), NAMED(host_clock_hz), NAMED(mesh_rows), NAMED(mesh_columns), NAMED(dma.request_bytes),
    NAMED(memory.issue_cycles), NAMED(memory.get_latency), NAMED(memory.get_ramp), NAMED(memory.get_ramp_requests),
    NAMED(memory.get_stream), NAMED(memory.get_request), NAMED(memory.get_open), NAMED(memory.get_exposed),
    NAMED(memory.put_latency), NAMED(memory.put_stream), NAMED(memory.put_request), NAMED(memory.put_interleave),
    NAMED(memory.put_open), NAMED(memory.put_exposed), NAMED(memory.put_merge), NAMED(memory.merge_exposed),
    NAMED(memory.merge_latency), NAMED(memory.cluster_share), NAMED(rma.issue_cycles), NAMED(rma.local_latency),
    NAMED(rma.remote_latency), NAMED(rma.column_hop), NAMED(rma.row_hop), NAMED(rma.bytes_per_cycle),
    NAMED(rma.minimum_cycles), {"register.fifo_depth", offsetof(struct swb_numbers, registers.fifo_depth)},
    {"register.latency", offsetof(struct swb_numbers, registers.latency)},
    {"register.send_cycles", offsetof(struct swb_numbers, registers.send_cycles)},
    {"register.receive_cycles", offsetof(struct swb_numbers, registers.receive_cycles)},
    NAMED(control.spawn_cycles), NAMED(control.join_cycles), NAMED(control.sync_cycles), NAMED(control.atomic_cycles),
    NAMED(control.direct_cycles), NAMED(host.issue_width), NAMED(host.memory_slots), NAMED(host.float_slots),
    NAMED(host.float_latency), NAMED(host.load_latency), NAMED(host.divide_cycles), NAMED(host.multiply_latency),
    NAMED(host.integer_divide_cycles), NAMED(host.l2_cycles), NAMED(host.fill_cycles), NAMED(host.write_cycles),
};

static const char blanks[] = " \t\n,";
static const char library[] = "library.";

static struct swb_function *function_of(struct swb_numbers *numbers, const char *name, size_t length)
{
    if (length >= SWB_FUNCTION_NAME)
        return NULL;
    for (int k = 0; k < numbers->functions; k++)
        if (!strncmp(numbers->library[k].name, name, length) && !numbers->library[k].name[length])
            return &numbers->library[k];
    if (numbers->functions == SWB_FUNCTIONS)
        return NULL;
    struct swb_function *made = &numbers->library[numbers->functions++];
    memcpy(made->name, name, length);
    return made;
}

static void set(struct swb_numbers *numbers, const char *name, size_t length, double value)
{
    const size_t ahead = sizeof library - 1;
    if (length > ahead && !strncmp(name, library, ahead)) {
        struct swb_function *function = function_of(numbers, name + ahead, length - ahead);
        if (function)
            function->cycles = value;
        return;
    }
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (!strncmp(table[k].name, name, length) && !table[k].name[length])
            memcpy((char *)numbers + table[k].offset, &value, sizeof value);
}

void swb_numbers_read(struct swb_numbers *numbers, const char *text)
{
    for (const char *at = text + strspn(text, blanks); *at; at += strspn(at, blanks)) {
        size_t length = strcspn(at, blanks), name = strcspn(at, "=");
        if (name < length)
            set(numbers, at, name, strtod(at + name + 1, NULL));
        at += length;
    }
}

static double cycles_of(const struct swb_numbers *numbers, const char *name, size_t length, double otherwise)
{
    for (int k = 0; k < numbers->functions; k++)
        if (!strncmp(numbers->library[k].name, name, length) && !numbers->library[k].name[length])
            return numbers->library[k].cycles;
    return otherwise;
}

double swb_numbers_call(const struct swb_numbers *numbers, const char *name, size_t length)
{
    if (!length || length >= SWB_FUNCTION_NAME)
        return 0;
    double single = name[length - 1] == 'f' ? cycles_of(numbers, name, length - 1, 0) : 0;
    return cycles_of(numbers, name, length, single);
}
