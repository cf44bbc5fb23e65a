/* The runtime's half of host_instrument.py: which blocks of host code ran, and what their accesses missed.
 *
 * Counted host code adds to a counter at the start of a block, and calls in for an access whose line is not among
 * those of which the caches know (swb_cache.h).  Only the thread that started the program is the management core:
 * other threads have counters of no meaning, and their calls are dropped. */
#include "swb_host.h"
#include "swb_touched.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS (1u << 20)
#define FILES 4096

/* As the assembly lays it out. */
struct host_block {
    const char *file, *mix;
    uint64_t line, number; /* the number is one more than swb_host_tell's; 0: it has not run */
    struct swb_cache_counts counts;
};

struct registered {
    struct host_block *blocks;
    uint64_t count, *passes;
};

static struct registered files[FILES];
static uint32_t file_count;
static struct host_block **numbered;
static uint32_t number_count, number_room, block_count;
static uint64_t passes[BLOCKS], others[BLOCKS];

/* The counters of this thread. */
__thread uint64_t *__swemu_host __attribute__((tls_model("initial-exec"))) = others;

/* Whether the processor has more than the registers that are saved below. */
extern char __swemu_host_wide __attribute__((visibility("hidden")));
char __swemu_host_wide;

static bool is_core(void) { return __swemu_host == passes; }

/* Called by the constructor of every counting host object, all of them in the thread of main; the place of the
 * file's counters, in bytes, goes to `base`. */
void __swemu_host_register(struct host_block *blocks, uint64_t count, uint64_t *base);
void __swemu_host_register(struct host_block *blocks, uint64_t count, uint64_t *base)
{
    if (!file_count) {
        __swemu_host_wide = __builtin_cpu_supports("avx");
        __swemu_host = passes;
        swb_cache_stack(__builtin_frame_address(0));
    }
    if (file_count == FILES || count > BLOCKS - block_count) {
        fputs("swbuild: error[SW600]: too much host code to count\n", stderr);
        abort();
    }
    files[file_count++] = (struct registered){blocks, count, passes + block_count};
    *base = block_count * sizeof *passes;
    block_count += count;
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

static void tell(swb_host_teller *teller, struct host_block *block, uint64_t *done)
{
    if (!block->number)
        number(block);
    teller((uint32_t)block->number - 1, *done, &block->counts);
    *done = 0;
    memset(&block->counts, 0, sizeof block->counts);
}

void swb_host_tell(swb_host_teller *teller)
{
    if (!is_core())
        return;
    for (uint32_t n = 0; n < file_count; n++)
        for (uint64_t k = 0; k < files[n].count; k++)
            if (files[n].passes[k])
                tell(teller, &files[n].blocks[k], &files[n].passes[k]);
}

const char *swb_host_mix(uint32_t number) { return numbered[number]->mix; }

void swb_host_write_names(FILE *out, const char *ahead)
{
    for (uint32_t k = 0; k < number_count; k++)
        fprintf(out, "%sblock %s %s:%lu\n", ahead, numbered[k]->mix, numbered[k]->file, (unsigned long)numbered[k]->line);
}

/* An access that is not known to change nothing: `block` is its block's, one more for a store.  Return whether
 * __swemu_host_prepare has to be called first.  It touches no vector register: nothing that it calls may. */
bool __swemu_host_look(uint64_t address, uint64_t block) __attribute__((target("general-regs-only")));
bool __swemu_host_look(uint64_t address, uint64_t block)
{
    if (!is_core())
        return false;
    if (!swb_cache_ready() || (&swb_touched_ready && !swb_touched_ready(address)))
        return true;
    struct host_block *at = (struct host_block *)(uintptr_t)(block & ~1ull);
    swb_cache_access(address, block & 1, &at->counts);
    if (&swb_touched_line && !swb_cache_of_stack(address))
        swb_touched_line(address, block & 1);
    return false;
}

void __swemu_host_prepare(void);
void __swemu_host_prepare(void)
{
    if (!swb_cache_ready())
        swb_cache_prepare();
    if (&swb_touched_prepare)
        swb_touched_prepare();
}

#ifdef __x86_64__
#define EACH_VECTOR(DO)                                                                                              \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define SAVE(N) "movups %xmm" #N ", 16*" #N "(%rsp)\n"
#define RESTORE(N) "movups 16*" #N "(%rsp), %xmm" #N "\n"
#define SAVE_WIDE(N) "vmovups %ymm" #N ", 32*" #N "(%rsp)\n"
#define RESTORE_WIDE(N) "vmovups 32*" #N "(%rsp), %ymm" #N "\n"

/* The access of r11 in the block of r10.  All registers but r10, r11 and the flags stay as they are. */
__asm__(".text\n.globl __swemu_host_access\n.type __swemu_host_access, @function\n__swemu_host_access:\n"
        "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\npushq %r8\npushq %r9\npushq %rbp\n"
        "movq %rsp, %rbp\nsubq $528, %rsp\nandq $-32, %rsp\ncld\nmovq %r11, 512(%rsp)\nmovq %r10, 520(%rsp)\n"
        "0:\nmovq 512(%rsp), %rdi\nmovq 520(%rsp), %rsi\ncall __swemu_host_look\ntestb %al, %al\nje 2f\n"
        "cmpb $0, __swemu_host_wide(%rip)\njne 1f\n" EACH_VECTOR(SAVE) "call __swemu_host_prepare\n" EACH_VECTOR(
            RESTORE) "jmp 0b\n1:\n" EACH_VECTOR(SAVE_WIDE) "call __swemu_host_prepare\n" EACH_VECTOR(RESTORE_WIDE)
        "jmp 0b\n2:\nmovq %rbp, %rsp\npopq %rbp\npopq %r9\npopq %r8\npopq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\n"
        "popq %rax\nret\n.size __swemu_host_access, .-__swemu_host_access\n");
#endif
