/* Exact counters, per kernel and call site, and the file that SWBUILD_EMU_COUNTERS names. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "swemu.h"

extern void swb_count_write(FILE *out) __attribute__((weak));

struct kernel {
    struct kernel *next;
    void *func;
    unsigned long spawns, jobs;
};

static struct kernel *kernels;

const char *const swemu_op_names[] = {"get",  "put",     "rma_get", "rma_put", "broadcast", "barrier", "wait",
                                      "send", "receive", "atomic",  "load",    "store"};

void swemu_count_spawn(void *func, uint64_t cpes)
{
    struct kernel **link = &kernels;
    while (*link && (*link)->func != func)
        link = &(*link)->next;
    if (!*link) {
        *link = swemu_zeroed(sizeof **link);
        (*link)->func = func;
    }
    (*link)->spawns++;
    (*link)->jobs += (unsigned long)__builtin_popcountll(cpes);
    swemu.spawns++;
}

/* Return the counters of the call that returns to pc, in the kernel that this CPE runs. */
struct site *swemu_site(struct cpe *c, uintptr_t pc, enum site_op op)
{
    void *kernel = (void *)(uintptr_t)c->func;
    struct site **link = &c->sites[(pc >> 2) % SITE_BUCKETS];
    while (*link && ((*link)->pc != pc || (*link)->kernel != kernel || (*link)->op != (int)op))
        link = &(*link)->next;
    if (UNLIKELY(!*link)) {
        *link = swemu_zeroed(sizeof **link);
        **link = (struct site){.pc = pc, .kernel = kernel, .op = op};
    }
    return *link;
}

static void count_block(struct site *s, uintptr_t lo, uintptr_t len)
{
    uintptr_t hi = lo + len, first = lo / DMA_REQUEST, last = (hi - 1) / DMA_REQUEST;
    s->requests += last - first + 1;
    if (first == last) {
        s->partial += len != DMA_REQUEST;
        return;
    }
    s->partial += (lo % DMA_REQUEST != 0) + (hi % DMA_REQUEST != 0);
}

void swemu_count_transfer(struct cpe *c, const struct xfer *x, enum site_op op)
{
    struct site *s = swemu_site(c, x->pc, op);
    s->calls++;
    s->bytes += (unsigned long)x->len;
    if (op != OP_GET && op != OP_PUT)
        return;
    s->misaligned += (uintptr_t)x->mem % DMA_REQUEST != 0;
    uintptr_t mem = (uintptr_t)x->mem;
    for (int done = 0; done < x->len; done += x->bsize, mem += (uintptr_t)((long)x->bsize + x->stride)) {
        s->blocks++;
        count_block(s, mem, (uintptr_t)(x->len - done < x->bsize ? x->len - done : x->bsize));
    }
}

/* ---- the file ---- */

static struct site *sum_sites(void *kernel)
{
    struct site *sums = NULL;
    for (int k = 0; k < swemu.count; k++)
        for (int b = 0; b < SITE_BUCKETS; b++)
            for (struct site *s = swemu.cpes[k]->sites[b]; s; s = s->next) {
                if (s->kernel != kernel)
                    continue;
                struct site *t = sums;
                while (t && (t->pc != s->pc || t->op != s->op))
                    t = t->next;
                if (!t) {
                    t = swemu_zeroed(sizeof *t);
                    *t = (struct site){.pc = s->pc, .kernel = kernel, .op = s->op, .next = sums};
                    sums = t;
                }
                t->calls += s->calls;
                t->bytes += s->bytes;
                t->blocks += s->blocks;
                t->requests += s->requests;
                t->partial += s->partial;
                t->misaligned += s->misaligned;
            }
    return sums;
}

static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    fputc('"', out);
}

static void write_site(FILE *out, const struct site *s, bool last)
{
    char place[600];
    swemu_locate(s->pc, place, sizeof place);
    fprintf(out, "        {\"place\": ");
    write_text(out, place);
    fprintf(out, ", \"operation\": \"%s\", \"calls\": %lu, \"bytes\": %lu, \"blocks\": %lu, \"requests\": %lu, "
            "\"partial\": %lu, \"misaligned\": %lu}%s\n", swemu_op_names[s->op], s->calls, s->bytes, s->blocks, s->requests,
            s->partial, s->misaligned, last ? "" : ",");
}

static void write_kernel(FILE *out, const struct kernel *k)
{
    char name[256];
    struct site *sites = sum_sites(k->func);
    unsigned long calls[OPS] = {0}, bytes[OPS] = {0}, requests[OPS] = {0}, partial[OPS] = {0};
    for (struct site *s = sites; s; s = s->next) {
        calls[s->op] += s->calls;
        bytes[s->op] += s->bytes;
        requests[s->op] += s->requests;
        partial[s->op] += s->partial;
    }
    fprintf(out, "    {\"kernel\": ");
    write_text(out, swemu_function_name(k->func, name, sizeof name));
    fprintf(out, ", \"spawns\": %lu, \"jobs\": %lu,\n", k->spawns, k->jobs);
    for (int op = 0; op < OPS; op++)
        fprintf(out, "      \"%s\": {\"calls\": %lu, \"bytes\": %lu, \"requests\": %lu, \"partial\": %lu},\n",
                swemu_op_names[op], calls[op], bytes[op], requests[op], partial[op]);
    fprintf(out, "      \"sites\": [\n");
    for (struct site *s = sites; s; s = s->next)
        write_site(out, s, !s->next);
    fprintf(out, "      ]}%s\n", k->next ? "," : "");
}

unsigned long swemu_spawn_count(void);
unsigned long swemu_spawn_count(void) { return swemu.spawns; }

/* Write the counters to the file that was asked for, if any; once. */
void swemu_write_counters(void)
{
    static int done;
    if (!swemu.counters_path || !*swemu.counters_path || __atomic_exchange_n(&done, 1, __ATOMIC_SEQ_CST))
        return;
    char temporary[1024];
    snprintf(temporary, sizeof temporary, "%s.part", swemu.counters_path);
    FILE *out = fopen(temporary, "w");
    if (!out) {
        perror(temporary);
        return;
    }
    size_t peak = 0;
    for (int k = 0; k < swemu.count; k++)
        if (swemu_ldm_peak(swemu.cpes[k]) > peak)
            peak = swemu_ldm_peak(swemu.cpes[k]);
    fprintf(out, "{\n  \"machine\": \"" MACHINE_NAME "\", \"spawns\": %lu,\n", swemu.spawns);
    fprintf(out, "  \"direct_counted\": %s,\n", swemu_counts_direct() ? "true" : "false");
    fprintf(out, "  \"ldm\": {\"size\": %d, \"static\": %zu, \"peak\": %zu},\n", LDM_BYTES,
            swemu.count ? swemu_ldm_static_size(swemu.cpes[0]) : 0, peak);
    swemu_touched_write(out);
    fprintf(out, "  \"kernels\": [\n");
    swemu_keep_asking(true);
    for (struct kernel *k = kernels; k; k = k->next)
        write_kernel(out, k);
    swemu_keep_asking(false);
    fprintf(out, "  ]");
    if (&swb_count_write) {
        fprintf(out, ",\n  \"lines\": ");
        swb_count_write(out);
    }
    fprintf(out, "\n}\n");
    if (fclose(out) == 0)
        rename(temporary, swemu.counters_path);
}
