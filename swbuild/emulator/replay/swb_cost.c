#include "swb_cost.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8, MIX_NUMBERS = 5, CHAIN_NUMBERS = 6 };

static uint64_t merge_units(uint64_t start, uint64_t end, uint64_t request)
{
    bool ragged = start % WORD || end % WORD, both_halves = start < request / 2 && request / 2 < end;
    return ragged && both_halves ? 2 : 1;
}

static struct swb_requests contiguous(uint64_t start, uint64_t length, uint64_t request)
{
    uint64_t end = start + length, touched = (end + request - 1) / request, rest = end % request;
    if (touched == 1) {
        uint64_t units = length == request ? 0 : merge_units(start, end, request);
        return (struct swb_requests){1, 1, !units, units, units == 2};
    }
    uint64_t head = start ? merge_units(start, request, request) : 0;
    uint64_t tail = rest ? merge_units(0, rest, request) : 0;
    return (struct swb_requests){1, touched, touched - (head > 0) - (tail > 0), head + tail, (head == 2) + (tail == 2)};
}

static void add(struct swb_requests *total, struct swb_requests part, uint64_t times)
{
    total->blocks += times * part.blocks;
    total->touched += times * part.touched;
    total->full += times * part.full;
    total->merges += times * part.merges;
    total->doubled += times * part.doubled;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

static struct swb_requests strided(uint64_t start, uint64_t length, uint64_t block, uint64_t gap, uint64_t request)
{
    uint64_t count = length / block, rest = length % block, step = (block + gap) % request;
    uint64_t period = step ? request / common_divisor(step, request) : 1;
    struct swb_requests total = {0};
    for (uint64_t k = 0; k < period && k < count; k++)
        add(&total, contiguous((start + k * step) % request, block, request), (count - k + period - 1) / period);
    if (rest)
        add(&total, contiguous((start + count * step) % request, rest, request), 1);
    return total;
}

struct swb_requests swb_requests_of(uint64_t address, uint64_t length, uint64_t block, uint64_t gap, uint64_t request)
{
    if (!length)
        return (struct swb_requests){0};
    if (!block || block >= length || !gap)
        return contiguous(address % request, length, request);
    return strided(address % request, length, block, gap % request, request);
}

double swb_work(const struct swb_numbers *n, bool is_put, const struct swb_requests *requests)
{
    if (!is_put)
        return n->memory.get_open + n->memory.get_request * (double)requests->touched;
    double plain = n->memory.put_open + n->memory.put_request * (double)requests->full;
    return plain + n->memory.put_merge * (double)requests->merges;
}

double swb_earliest_finish(const struct swb_numbers *n, bool is_put, const struct swb_requests *requests)
{
    double behind = (double)requests->touched - 1;
    if (is_put)
        return n->memory.put_latency + n->memory.put_stream * (behind > 0 ? behind : 0);
    double ramp = behind < n->memory.get_ramp_requests ? behind : n->memory.get_ramp_requests;
    return n->memory.get_latency + n->memory.get_ramp * ramp + n->memory.get_stream * (behind - ramp);
}

double swb_exposed(const struct swb_numbers *n, bool is_put, const struct swb_requests *requests)
{
    if (!is_put)
        return n->memory.get_exposed;
    if (!requests->merges)
        return n->memory.put_exposed;
    return n->memory.put_exposed + n->memory.merge_exposed + n->memory.merge_latency * (requests->doubled > 0);
}

/* Read `count` numbers with commas between; return what stands behind them, or null. */
static const char *read_numbers(const char *text, double *into, int count)
{
    for (int k = 0; k < count; k++) {
        char *behind;
        into[k] = strtod(text, &behind);
        if (behind == text || (k + 1 < count && *behind != ','))
            return NULL;
        text = behind + (k + 1 < count);
    }
    return text;
}

static double larger(double one, double other) { return other > one ? other : one; }

static double chain_cycles(const struct swb_numbers *n, const double *counts)
{
    return counts[0] * n->host.float_latency + counts[1] * n->host.load_latency + counts[2] * n->host.divide_cycles +
           counts[3] * n->host.multiply_latency + counts[4] * n->host.integer_divide_cycles + counts[5];
}

static double slot_cycles(const struct swb_numbers *n, const double *mix)
{
    double found = larger(mix[0] / n->host.issue_width, mix[1] / n->host.memory_slots);
    found = larger(found, mix[2] / n->host.float_slots);
    return larger(larger(found, mix[3] * n->host.divide_cycles), mix[4] * n->host.integer_divide_cycles);
}

double swb_mix_cycles(const struct swb_numbers *n, const char *text)
{
    double mix[MIX_NUMBERS], chain[CHAIN_NUMBERS];
    const char *at = read_numbers(text, mix, MIX_NUMBERS);
    if (!at || *at != ';')
        return -1;
    size_t length = strcspn(++at, ";");
    double call = swb_numbers_call(n, at, length), found = slot_cycles(n, mix);
    for (at += length; *at == ';';) {
        if (!(at = read_numbers(at + 1, chain, CHAIN_NUMBERS)))
            return -1;
        found = larger(found, chain_cycles(n, chain));
    }
    return *at ? -1 : found + call;
}

double swb_stalled(const struct swb_numbers *n, uint32_t second, uint32_t filled, uint32_t written)
{
    return second * n->host.l2_cycles + filled * n->host.fill_cycles + written * n->host.write_cycles;
}
