/* The event trace for the timing model; swb_trace.h and trace.py of the model say what records mean. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "swb_arena.h"
#include "swb_host.h"
#include "swb_trace.h"
#include "swemu.h"
#include "timing.h"

#define BATCH 1024

extern bool swb_count_any(void) __attribute__((weak));
extern void swb_count_start(void) __attribute__((weak));
extern void swb_count_place(char *top) __attribute__((weak));
extern uint64_t swb_count_take(void) __attribute__((weak));
#pragma weak swb_host_any
#pragma weak swb_host_tell
#pragma weak swb_host_mix
#pragma weak swb_host_write_names

/* How often a reply word was issued for and completed in this kernel. */
struct reply_count {
    struct reply_count *next;
    const volatile void *word;
    unsigned long spawn;
    uint32_t issued, completed;
};

struct trace {
    struct swb_trace_record records[BATCH];
    int used, told; /* told: how many of them the timing has got */
    struct reply_count *replies;
    const volatile void *spun_on;
};

static struct swemu_output out;
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace host;
static struct { uintptr_t pc; int op; } sites[65536];
static uint32_t site_count;
static void *kernels[1024];
static uint32_t kernel_count;

/* Let the timing have what is in the buffer; return whether its CPE is far ahead of what is known of the others. */
static bool tell_timing(struct trace *t)
{
    pthread_mutex_lock(&out_lock);
    bool ahead = swemu_timing_feed(t->records + t->told, t->used - t->told);
    t->told = t->used;
    pthread_mutex_unlock(&out_lock);
    return ahead;
}

static bool flush(struct trace *t)
{
    bool ahead = tell_timing(t);
    pthread_mutex_lock(&out_lock);
    swemu_output_put(&out, t->records, (size_t)t->used * sizeof *t->records);
    t->used = t->told = 0;
    pthread_mutex_unlock(&out_lock);
    return ahead;
}

static struct swb_trace_record *add(struct trace *t, uint8_t kind, uint8_t cpe)
{
    if (t->used == BATCH && flush(t) && swemu_self)
        swemu_self->far_ahead = true;
    struct swb_trace_record *r = &t->records[t->used++];
    *r = (struct swb_trace_record){.kind = kind, .cpe = cpe, .ldm = SWB_TRACE_NONE, .reply = SWB_TRACE_NONE};
    return r;
}

static uint32_t site_index(uintptr_t pc, int op)
{
    static uint32_t table[1 << 16];
    size_t at = (pc * 0x9e3779b97f4a7c15ULL) >> 48;
    pthread_mutex_lock(&out_lock);
    for (; table[at] && sites[table[at] - 1].pc != pc; at = (at + 1) & 0xffff) {
    }
    if (!table[at] && site_count < 60000) {
        sites[site_count].pc = pc;
        sites[site_count].op = op;
        table[at] = ++site_count;
    }
    pthread_mutex_unlock(&out_lock);
    return table[at];
}

static uint32_t kernel_index(void *func)
{
    uint32_t k = 0;
    while (k < kernel_count && kernels[k] != func)
        k++;
    if (k == kernel_count && k < 1024)
        kernels[kernel_count++] = func;
    return k;
}

static uint32_t offset(const struct cpe *c, const volatile void *p)
{
    return p ? (uint32_t)swemu_ldm_offset(c, (const void *)p) : SWB_TRACE_NONE;
}

static struct reply_count *count_of(struct cpe *c, const volatile void *word)
{
    struct reply_count **link = &c->trace->replies;
    while (*link && (*link)->word != word)
        link = &(*link)->next;
    if (!*link) {
        *link = swemu_zeroed(sizeof **link);
        (*link)->word = word;
    }
    if ((*link)->spawn != c->job) {
        (*link)->spawn = c->job;
        (*link)->issued = (*link)->completed = 0;
    }
    return *link;
}

void swemu_trace_open(void)
{
    if (!swemu_wanted(swemu.trace_path) && !swemu_wanted(swemu.model_path))
        return;
    uint32_t counted = &swb_count_any && swb_count_any(), hosts = &swb_host_any && swb_host_any();
    struct swb_trace_header header = {SWB_TRACE_MAGIC, SWB_TRACE_VERSION, sizeof(struct swb_trace_record),
                                      counted | hosts << 2};
    swb_arena_open();
    if (swemu_wanted(swemu.trace_path) && swemu_output_open(&out, swemu.trace_path))
        swemu_output_put(&out, &header, sizeof header);
    swemu_timing_open(header.flags);
    swemu.trace = true;
}

static struct trace *trace_of(struct cpe *c)
{
    if (c->trace)
        return c->trace;
    pthread_mutex_lock(&out_lock);
    c->trace = swb_arena_take(sizeof *c->trace);
    pthread_mutex_unlock(&out_lock);
    return c->trace;
}

int swemu_trace_lacks(void)
{
    pthread_mutex_lock(&out_lock);
    int found = swemu_timing_lacks();
    pthread_mutex_unlock(&out_lock);
    return found;
}

static void take_compute(struct cpe *c, struct swb_trace_record *r)
{
    if (&swb_count_take && c == swemu_self)
        r->compute = swb_count_take();
}

/* A spin loop that looked at a word of others has ended by now. */
static void end_spin(struct cpe *c)
{
    const volatile void *word = c->trace->spun_on;
    c->trace->spun_on = NULL;
    if (!word)
        return;
    struct swb_trace_record *r = add(c->trace, SWB_WAIT, (uint8_t)c->pen);
    r->site = site_index(c->pc, OP_WAIT);
    r->reply = offset(c, word);
    r->value = count_of(c, word)->completed;
    r->mode = 1;
    take_compute(c, r);
}

/* Loads and stores of main memory since the last event. */
static void tell_direct(struct cpe *c)
{
    for (struct site *s = c->untold; s; s = s->next_untold) {
        struct swb_trace_record *r = add(c->trace, SWB_DIRECT, (uint8_t)c->pen);
        r->site = site_index(s->pc, s->op);
        r->value = (uint32_t)s->untold;
        r->length = (uint32_t)(s->bytes - s->told_bytes);
        s->told_bytes = s->bytes;
        s->untold = 0;
    }
    c->untold = NULL;
}

static struct swb_trace_record *event(struct cpe *c, uint8_t kind, uintptr_t pc, int op)
{
    trace_of(c);
    end_spin(c);
    tell_direct(c);
    struct swb_trace_record *r = add(c->trace, kind, (uint8_t)c->pen);
    r->site = pc ? site_index(pc, op) : 0;
    take_compute(c, r);
    return r;
}

void swemu_trace_kernel(struct cpe *c, bool begin)
{
    if (!swemu.trace || !c->started)
        return;
    if (begin && &swb_count_start) {
        swb_count_start();
        swb_count_place(c->stack_hi);
    }
    struct swb_trace_record *r = event(c, begin ? SWB_KERNEL_BEGIN : SWB_KERNEL_END, 0, 0);
    r->value = (uint32_t)c->job;
    if (!begin)
        flush(c->trace);
}

/* Take from `left` what fits into a record's field. */
static uint32_t portion(uint64_t *left)
{
    uint32_t taken = *left > UINT32_MAX ? UINT32_MAX : (uint32_t)*left;
    *left -= taken;
    return taken;
}

static void host_block(uint32_t number, uint64_t passes, const struct swb_cache_counts *counts)
{
    struct swb_cache_counts left = *counts;
    pthread_mutex_lock(&out_lock);
    swemu_timing_block(number, swb_host_mix(number));
    pthread_mutex_unlock(&out_lock);
    do {
        struct swb_trace_record *r = add(&host, SWB_HOST, SWB_TRACE_HOST);
        r->ldm = number;
        r->address = passes;
        r->length = portion(&left.second);
        r->block = portion(&left.filled);
        r->gap = portion(&left.written);
        passes = 0;
    } while (left.second || left.filled || left.written);
}

/* What the host has done since its last event. */
static void tell_host(void)
{
    if (&swb_host_tell)
        swb_host_tell(host_block);
}

void swemu_trace_host(bool spawn, void *func, uint64_t cpes)
{
    if (!swemu.trace)
        return;
    tell_host();
    struct swb_trace_record *r = add(&host, spawn ? SWB_SPAWN : SWB_JOIN, SWB_TRACE_HOST);
    r->value = (uint32_t)swemu.spawns - 1;
    r->address = cpes;
    if (spawn)
        r->ldm = kernel_index(func);
    if (spawn)
        flush(&host); /* while nobody runs, so that two runs write the same file */
    else
        tell_timing(&host);
}

void swemu_trace_dma(struct cpe *c, struct xfer *x, int mode, int mask)
{
    if (!swemu.trace)
        return;
    struct swb_trace_record *r = event(c, x->kind == XFER_PUT ? SWB_DMA_PUT : SWB_DMA_GET, x->pc,
                                       x->kind == XFER_PUT ? OP_PUT : OP_GET);
    r->mode = (uint8_t)mode;
    r->mask = (uint8_t)mask;
    r->address = (uint64_t)(uintptr_t)x->mem;
    r->ldm = offset(c, x->ldm);
    r->length = (uint32_t)x->len;
    r->block = x->stride ? (uint32_t)x->bsize : 0;
    r->gap = (uint32_t)x->stride;
    r->reply = offset(c, x->reply ? x->reply : x->remote_reply);
    if (x->reply)
        x->ordinal = ++count_of(c, x->reply)->issued;
}

void swemu_trace_rma(struct cpe *c, struct xfer *x, int op)
{
    if (!swemu.trace)
        return;
    struct swb_trace_record *r = event(c, SWB_RMA, x->pc, op);
    r->mode = op == OP_BCAST ? SWB_RMA_BCAST : op == OP_RMA_GET ? SWB_RMA_GET : SWB_RMA_PUT;
    r->address = x->targets;
    r->ldm = offset(c, x->ldm);
    r->length = (uint32_t)x->len;
    r->block = offset(c, x->remote);
    r->gap = offset(c, x->remote_reply);
    r->reply = offset(c, x->reply);
    if (x->reply)
        x->ordinal = ++count_of(c, x->reply)->issued;
}

/* The CPE has waited for a transfer of its own (x), or for a word that others count up. */
void swemu_trace_wait(struct cpe *c, uintptr_t pc, const struct xfer *x, const volatile void *word)
{
    if (!swemu.trace)
        return;
    struct swb_trace_record *r = event(c, SWB_WAIT, pc, OP_WAIT);
    if (x && x->reply) {
        r->reply = offset(c, x->reply);
        r->value = x->ordinal;
        r->mode = x->kind == XFER_RMA_GET || x->kind == XFER_RMA_PUT;
    } else if (word) {
        r->reply = offset(c, word);
        r->value = count_of(c, word)->completed;
        r->mode = 1;
    }
}

void swemu_trace_spin(struct cpe *c, const volatile void *word)
{
    if (swemu.trace && c->trace && word && swemu_ldm_place(c, (const void *)word, 4) != NOWHERE)
        c->trace->spun_on = word;
}

/* One completion was added to a reply word of c. */
void swemu_trace_completed(struct cpe *c, const volatile void *word)
{
    if (!swemu.trace)
        return;
    trace_of(c);
    count_of(c, word)->completed++;
}

void swemu_trace_sync(struct cpe *c, uint64_t mask, int mode, uintptr_t pc)
{
    if (!swemu.trace)
        return;
    struct swb_trace_record *r = event(c, SWB_SYNC, pc, OP_BARRIER);
    r->address = mask;
    r->mode = (uint8_t)mode;
}

void swemu_trace_reg(struct cpe *c, uintptr_t pc, bool send, int column, uint64_t to, int bytes)
{
    if (!swemu.trace)
        return;
    struct swb_trace_record *r = event(c, send ? SWB_REG_PUT : SWB_REG_GET, pc, send ? OP_SEND : OP_RECV);
    r->mode = (uint8_t)column;
    r->address = to;
    r->length = (uint32_t)bytes;
    r->value = 1;
}

void swemu_trace_atomic(struct cpe *c, uintptr_t pc, const volatile void *word)
{
    if (!swemu.trace)
        return;
    struct swb_trace_record *r = event(c, SWB_ATOMIC, pc, OP_ATOMIC);
    r->address = (uint64_t)(uintptr_t)word;
    r->value = 1;
}

static void write_names(FILE *to, const char *ahead)
{
    char text[600];
    swemu_keep_asking(true);
    for (uint32_t k = 0; k < kernel_count; k++)
        fprintf(to, "%skernel %s\n", ahead, swemu_function_name(kernels[k], text, sizeof text));
    for (uint32_t k = 0; k < site_count; k++) {
        swemu_locate(sites[k].pc, text, sizeof text);
        fprintf(to, "%ssite %s %s\n", ahead, swemu_op_names[sites[k].op], text);
    }
    swemu_keep_asking(false);
    if (&swb_host_write_names)
        swb_host_write_names(to, ahead);
}

static void add_names(FILE *to) { write_names(to, "named "); }

static void write_name_file(void)
{
    char name[1024];
    snprintf(name, sizeof name, "%s.names", swemu.trace_path);
    FILE *to = fopen(name, "w");
    if (!to)
        return;
    write_names(to, "");
    fclose(to);
}

/* Close the trace, and write the names of kernels and sites beside it. */
void swemu_trace_close(void)
{
    static bool closed;
    if (!swemu.trace || closed)
        return;
    closed = true;
    tell_host();
    flush(&host);
    for (int k = 0; k < swemu.count; k++)
        if (swemu.cpes[k]->trace)
            flush(swemu.cpes[k]->trace);
    pthread_mutex_lock(&out_lock);
    if (out.name)
        write_name_file();
    swemu_output_close(&out, NULL);
    swemu_timing_close(add_names);
    pthread_mutex_unlock(&out_lock);
}
