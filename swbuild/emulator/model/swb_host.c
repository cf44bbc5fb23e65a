/* The runtime's half of host_instrument.py: which blocks of host code ran, and what their accesses missed.
 *
 * Counted host code writes into a buffer: at the start of a block the block's own address, then the addresses that it
 * accesses, in order.  A full buffer is drained into the blocks' counts.  Only the thread that started the program is
 * the management core: what other threads write is dropped. */
#include "swb_host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES 32768
#define SPARE 16384 /* entries that one block may need behind the end */
#define FILES 4096

/* As the assembly lays it out; `accesses` has a letter for each, l for a load and s for a store. */
struct host_block {
    const char *file, *mix, *accesses;
    uint64_t line, number; /* the number is one more than swb_host_tell's; 0: it has not run */
    uint64_t passes;
    struct swb_cache_counts counts;
};

struct registered {
    struct host_block *blocks;
    uint64_t count;
};

static struct registered files[FILES];
static uint32_t file_count;
static struct host_block **numbered;
static uint32_t number_count, number_room;
static uint64_t buffer[ENTRIES + SPARE], others[ENTRIES + SPARE];
static pthread_t core;

/* Where the next entry goes, and where the buffer counts as full.  Initialised, as swb_count.c's is. */
struct place {
    uint64_t *next, *end;
};
__thread struct place __swemu_host = {others, others};

/* Whether the processor has more than the registers that are saved below. */
extern char __swemu_host_wide __attribute__((visibility("hidden")));
char __swemu_host_wide;

static bool is_core(void) { return file_count && pthread_equal(core, pthread_self()); }

/* Called by the constructor of every counting host object, all of them in the thread of main. */
void __swemu_host_register(struct host_block *blocks, uint64_t count);
void __swemu_host_register(struct host_block *blocks, uint64_t count)
{
    if (!file_count) {
        core = pthread_self();
        __swemu_host_wide = __builtin_cpu_supports("avx");
        __swemu_host = (struct place){buffer, buffer + ENTRIES};
        swb_cache_stack(__builtin_frame_address(0));
    }
    if (file_count == FILES) {
        fputs("swbuild: error[SW600]: too much host code to count\n", stderr);
        abort();
    }
    files[file_count++] = (struct registered){blocks, count};
}

bool swb_host_any(void) { return file_count > 0; }

static void number(struct host_block *block)
{
    if (number_count == number_room) {
        number_room = number_room ? 2 * number_room : 256;
        numbered = realloc(numbered, number_room * sizeof *numbered);
        if (!numbered)
            abort();
    }
    numbered[number_count++] = block;
    block->number = number_count;
}

/* Return the block that an entry is the address of: none if a signal's handler came between. */
static struct host_block *block_at(uint64_t entry)
{
    static struct registered *file = files;
    if (entry - (uintptr_t)file->blocks < file->count * sizeof *file->blocks)
        return (struct host_block *)(uintptr_t)entry;
    for (uint32_t k = 0; k < file_count; k++)
        if (entry - (uintptr_t)files[k].blocks < files[k].count * sizeof *files[k].blocks) {
            file = &files[k];
            return (struct host_block *)(uintptr_t)entry;
        }
    return NULL;
}

static void drain(void)
{
    const uint64_t *at = buffer, *end = __swemu_host.next;
    while (at < end) {
        struct host_block *block = block_at(*at++);
        if (!block)
            continue;
        if (!block->number)
            number(block);
        block->passes++;
        for (const char *kind = block->accesses; *kind && at < end; kind++)
            swb_cache_access(*at++, *kind == 's', &block->counts);
    }
    __swemu_host.next = buffer;
}

/* The buffer is full. */
void __swemu_host_drain(void);
void __swemu_host_drain(void)
{
    if (is_core())
        drain();
    else
        __swemu_host = (struct place){others, others + ENTRIES};
}

void swb_host_tell(swb_host_teller *teller)
{
    if (!is_core())
        return;
    drain();
    for (uint32_t k = 0; k < number_count; k++) {
        struct host_block *block = numbered[k];
        if (!block->passes)
            continue;
        teller(k, block->passes, &block->counts);
        block->passes = 0;
        memset(&block->counts, 0, sizeof block->counts);
    }
}

void swb_host_write_names(FILE *out)
{
    for (uint32_t k = 0; k < number_count; k++)
        fprintf(out, "block %s %s:%lu\n", numbered[k]->mix, numbered[k]->file, (unsigned long)numbered[k]->line);
}

#ifdef __x86_64__
#define EACH_VECTOR(DO)                                                                                              \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define SAVE(N) "movups %xmm" #N ", 16*" #N "(%rsp)\n"
#define RESTORE(N) "movups 16*" #N "(%rsp), %xmm" #N "\n"
#define SAVE_WIDE(N) "vmovups %ymm" #N ", 32*" #N "(%rsp)\n"
#define RESTORE_WIDE(N) "vmovups 32*" #N "(%rsp), %ymm" #N "\n"

/* All registers but r10 and r11, and the flags, stay as they are. */
__asm__(".text\n.globl __swemu_host_full\n.type __swemu_host_full, @function\n__swemu_host_full:\n"
        "pushfq\npushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\npushq %r8\npushq %r9\npushq %rbp\n"
        "movq %rsp, %rbp\nsubq $512, %rsp\nandq $-32, %rsp\ncld\n"
        "cmpb $0, __swemu_host_wide(%rip)\njne 1f\n" EACH_VECTOR(SAVE) "call __swemu_host_drain\n" EACH_VECTOR(RESTORE)
        "jmp 2f\n1:\n" EACH_VECTOR(SAVE_WIDE) "call __swemu_host_drain\n" EACH_VECTOR(RESTORE_WIDE)
        "2:\nmovq %rbp, %rsp\npopq %rbp\npopq %r9\npopq %r8\npopq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\n"
        "popfq\nret\n.size __swemu_host_full, .-__swemu_host_full\n");
#endif
