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
#define OWN (1u << 31) /* in a line: its cost is that of the running code (costs.py) */

struct swb_block {
    const char *file, *waits; /* what its stalls wait for */
    uint32_t line, eighths, stalled, unused;
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
            fprintf(out, "\", \"line\": %u, \"passes\": %llu, \"cycles\": %.3f%s", block->line & ~OWN,
                    (unsigned long long)n, (double)n * block->eighths / EIGHTH,
                    block->line & OWN ? ", \"own\": true" : "");
            if (block->stalled)
                fprintf(out, ", \"stalls\": %.3f, \"waits\": \"%s\"", (double)n * block->stalled / EIGHTH, block->waits);
            fputc('}', out);
            comma = ",";
        }
    fputs("]", out);
}

/* ---- probes ahead of accesses that may be of main memory (probes.py) ---- */

__thread char *__swemu_top = (char *)1;

void swb_count_place(char *top) { __swemu_top = top; }

void __swemu_direct_access(const void *p, unsigned what, uintptr_t pc);
void __swemu_direct_access(const void *p, unsigned what, uintptr_t pc)
{
    if (&swb_count_direct)
        swb_count_direct(p, what, pc);
}

#ifdef __x86_64__
#define EACH_VECTOR(DO)                                                                                              \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define SAVE(N) "movups %xmm" #N ", 16*" #N "(%rsp)\n"
#define RESTORE(N) "movups 16*" #N "(%rsp), %xmm" #N "\n"

/* The address is in r11, what it is in r10; all other registers, and the flags, stay as they are. */
__asm__(".text\n.globl __swemu_direct\n.type __swemu_direct, @function\n__swemu_direct:\n"
        "pushfq\npushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\npushq %r8\npushq %r9\npushq %rbp\n"
        "movq %rsp, %rbp\nsubq $256, %rsp\nandq $-16, %rsp\n" EACH_VECTOR(SAVE)
        "movq %r11, %rdi\nmovl %r10d, %esi\nmovq 72(%rbp), %rdx\ncld\ncall __swemu_direct_access\n" EACH_VECTOR(RESTORE)
        "movq %rbp, %rsp\npopq %rbp\npopq %r9\npopq %r8\npopq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\npopfq\nret\n"
        ".size __swemu_direct, .-__swemu_direct\n");
#endif
