/* Which words of memory a CPE may touch without a further look: the first test of checked code.
 *
 * Every 4-byte word of the address space has a byte here, at (address >> 2) + SHADOW_START.  It is the
 * tag of a CPE when the word lies in the LDM (or on the stack) of that CPE, has a value, and no transfer
 * is under way on it; else it is zero, or the tag of somebody else.  The code that the driver puts
 * ahead of each access (driver/checks.py) compares it with __swemu_tag, the tag of the CPE that has the
 * baton, and calls a hook where they differ.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

#define SHADOW_BYTES (1UL << 45) /* for the 2^47 bytes of a process */
#define SHADOW_PAGE 4096UL

uint32_t __swemu_tag __attribute__((visibility("hidden")));
bool swemu_shadowed __attribute__((visibility("hidden")));

/* Lay out the shadow: all of it reads as zero, and costs nothing. */
void swemu_shadow_start(void)
{
    void *place = mmap((void *)SHADOW_START, SHADOW_BYTES, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != (void *)SHADOW_START) {
        swemu_lacking("checked mode needs 32 TiB of address space (not of memory), and does not get it", 0,
                      "run without a limit on virtual memory (ulimit -v unlimited)");
    }
    madvise(place, SHADOW_BYTES, MADV_DONTDUMP);
    swemu_shadowed = true;
}

/* Words of [start, start + size) may get tags from now on. */
void swemu_shadow_open(const void *start, size_t size)
{
    if (!swemu_shadowed || !size)
        return;
    uintptr_t lo = (uintptr_t)SHADOW_OF(start) & ~(SHADOW_PAGE - 1), hi = (uintptr_t)SHADOW_OF((const char *)start + size - 1);
    if (mprotect((void *)lo, hi + 1 - lo, PROT_READ | PROT_WRITE))
        swemu_lacking("no memory for the shadow of checked mode", errno, "give more memory, or a higher limit (ulimit -v)");
}

/* The code that runs from now on is this CPE's (or nobody's). */
void swemu_shadow_switch(const struct cpe *c) { __swemu_tag = c ? swemu_tag_of(c) * 0x01010101u : 0; }

/* Accesses of these words need a look. */
void swemu_shadow_close(const void *start, size_t size)
{
    if (swemu_shadowed && size)
        memset(SHADOW_OF(start), 0, (size_t)(SHADOW_OF((const char *)start + size - 1) - SHADOW_OF(start)) + 1);
}

/* Return what the shadow of a word with a value becomes. */
static uint8_t vouching(uint8_t now, uint8_t tag, uint8_t flags)
{
    if (flags & ~FATE || (flags & FATE) == RACED)
        return now;
    return (flags & FATE) == FETCHED && now != tag ? tag | FRESH : tag;
}

/* The same for eight words that a get has brought; false when they need more of a look. */
static bool vouch_eight(uint8_t *shadow, uint8_t tag, const uint8_t *flags, const char *word)
{
    const uint64_t each = EIGHT((uint8_t)(tag | FRESH));
    if (swemu_eight(shadow) || swemu_eight(flags) != EIGHT(FETCHED))
        return false;
    for (int k = 0; k < 8; k++)
        if (swemu_is_poison(word + 4 * k))
            return false;
    memcpy(shadow, &each, 8);
    return true;
}

/* Give their CPE's tag to those of these words on which no transfer is under way and that have a value.
 *
 * `flags` are those of the first word, or null; `valued` says that all of them have one.
 */
void swemu_shadow_settle(const struct cpe *c, const void *start, size_t size, const uint8_t *flags, bool valued)
{
    if (!swemu_shadowed || !size)
        return;
    const char *word = (const char *)((uintptr_t)start & ~(uintptr_t)3), *end = (const char *)start + size;
    uint8_t *shadow = SHADOW_OF(word), tag = swemu_tag_of(c);
    for (size_t k = 0; word < end; k++, word += 4) {
        for (; flags && word + 32 <= end && vouch_eight(&shadow[k], tag, &flags[k], word); k += 8)
            word += 32;
        if (word < end && (valued || !swemu_is_poison(word)))
            shadow[k] = vouching(shadow[k], tag, flags ? flags[k] : 0);
    }
}

/* Whether the fault is one of the comparison with the shadow: of an address that no process has. */
bool swemu_shadow_faulted(const void *context, const void **pointer)
{
#ifdef __x86_64__
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)registers[REG_RIP];
    const uint32_t start = SHADOW_START;
    code += *code == 0x66;
    *pointer = (const void *)registers[REG_RDI];
    return swemu_shadowed && (code[0] == 0x38 || code[0] == 0x39) && code[1] == 0x90 && !memcmp(code + 2, &start, 4);
#else
    (void)context, (void)pointer;
    return false;
#endif
}
