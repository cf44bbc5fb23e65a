/* The numbers of the machine file that the replay rests on, under the names that they bear there. */
#ifndef SWB_NUMBERS_H
#define SWB_NUMBERS_H

#include <stddef.h>

enum { SWB_FUNCTIONS = 64, SWB_FUNCTION_NAME = 16 };

/* One function of the mathematical library and its cycles. */
struct swb_function {
    char name[SWB_FUNCTION_NAME];
    double cycles;
};

struct swb_numbers {
    double clock_hz, host_clock_hz, mesh_rows, mesh_columns;
    struct {
        double request_bytes;
    } dma;
    struct {
        double issue_cycles, get_latency, get_ramp, get_ramp_requests, get_stream, get_request, get_open, get_exposed;
        double put_latency, put_stream, put_request, put_interleave, put_open, put_exposed, put_merge;
        double merge_exposed, merge_latency, cluster_share;
    } memory;
    struct {
        double issue_cycles, local_latency, remote_latency, column_hop, row_hop, bytes_per_cycle, minimum_cycles;
    } rma;
    struct {
        double fifo_depth, latency, send_cycles, receive_cycles;
    } registers;
    struct {
        double spawn_cycles, join_cycles, sync_cycles, atomic_cycles, direct_cycles;
    } control;
    struct {
        double issue_width, memory_slots, float_slots, float_latency, load_latency, divide_cycles, multiply_latency;
        double integer_divide_cycles, l2_cycles, fill_cycles, write_cycles;
    } host;
    struct swb_function library[SWB_FUNCTIONS];
    int functions;
};

/* Take the numbers of `text`, which holds NAME=VALUE between blanks or commas; names that the replay does not
 * need are passed over.  May be called again: what stands in a later text replaces what stood in an earlier one. */
void swb_numbers_read(struct swb_numbers *numbers, const char *text);

/* Return the cycles of a call of the library's function of this name, in double or single; 0 for any other. */
double swb_numbers_call(const struct swb_numbers *numbers, const char *name, size_t length);

#endif
