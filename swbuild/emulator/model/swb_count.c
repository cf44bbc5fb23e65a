/* The runtime's half of instrument.py: where slave code counts its model cycles and its blocks.
 *
 * The runtime calls swb_count_start() in every CPE's thread before it runs slave code,
 * swb_count_take() whenever it writes a trace record, and swb_count_write() at the end. */
#include "swb_count.h"

#include <stddef.h>
#include <stdlib.h>

#define FILES 4096
#define SPARE (1u << 20) /* counters for code that runs in a thread that was not started for counting */
#define EIGHTH 8

struct swb_block {
    const char *file;
    uint32_t line, eighths;
};

struct registered {
    const struct swb_block *blocks;
    uint32_t count, first;
};

struct area {
    struct area *next;
    uint64_t taken;
    uint64_t counters[];
};

static struct registered files[FILES];
static uint32_t file_count, block_count;
static uint64_t spare[SPARE];
static struct area *areas;
static char lock;

/* Initialised, and the only one: the emulator fills uninitialised thread-local variables with rubbish. */
__thread uint64_t *__swemu_count_area = spare;

static struct area *own(void)
{
    char *counters = (char *)__swemu_count_area;
    return __swemu_count_area == spare ? NULL : (struct area *)(counters - offsetof(struct area, counters));
}

/* Called by the constructor of every counting object: `base` becomes the place of its first counter. */
void __swemu_count_register(const struct swb_block *blocks, uint32_t count, uint64_t *base)
{
    if (file_count == FILES || block_count + count >= SPARE) {
        fputs("swbuild: error[SW600]: too much slave code to count the cycles of\n", stderr);
        abort();
    }
    *base = 8 * (1 + (uint64_t)block_count);
    files[file_count++] = (struct registered){blocks, count, block_count};
    block_count += count;
}

bool swb_count_any(void) { return block_count > 0; }

void swb_count_start(void)
{
    if (own())
        return;
    struct area *area = calloc(1, sizeof *area + 8 * (1 + (size_t)block_count));
    if (!area)
        abort();
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
        ;
    area->next = areas;
    areas = area;
    __atomic_clear(&lock, __ATOMIC_RELEASE);
    __swemu_count_area = area->counters;
}

uint64_t swb_count_take(void)
{
    struct area *area = own();
    if (!area)
        return 0;
    uint64_t cycles = (area->counters[0] - area->taken) / EIGHTH;
    area->taken += cycles * EIGHTH;
    return cycles;
}

static uint64_t passes(uint32_t block)
{
    uint64_t sum = 0;
    for (const struct area *area = areas; area; area = area->next)
        sum += area->counters[1 + block];
    return sum;
}

void swb_count_write(FILE *out)
{
    const char *comma = "";
    fputc('[', out);
    for (uint32_t f = 0; f < file_count; f++)
        for (uint32_t b = 0; b < files[f].count; b++) {
            const struct swb_block *block = &files[f].blocks[b];
            uint64_t n = passes(files[f].first + b);
            if (!n)
                continue;
            fprintf(out, "%s\n  {\"file\": \"", comma);
            for (const char *p = block->file; *p; p++)
                fprintf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
            fprintf(out, "\", \"line\": %u, \"passes\": %llu, \"cycles\": %.3f}", block->line, (unsigned long long)n,
                    (double)n * block->eighths / EIGHTH);
            comma = ",";
        }
    fputs("]", out);
}
