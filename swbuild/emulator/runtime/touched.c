/* On request, the bytes of main memory that cross its bus at least once: what is read before anything has been
 * written there, and what is written, each byte counted once in either way.
 *
 * Transfers, and accesses without DMA, are counted byte by byte.  Counted host code tells of lines of its cache
 * only, so where the host works alone the count is by lines; its stack does not count.  With
 * SWBUILD_EMU_TOUCHED=start all of it counts, with SWBUILD_EMU_TOUCHED=spawn the host's part from the first spawn on.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "swemu.h"
#include "swb_touched.h"

/* Calls come from the middle of counted host code, whose vector registers nobody has saved. */
#ifdef __x86_64__
#pragma GCC target("general-regs-only")
#endif
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* no calls of memset */

enum { READ_FIRST = 1, WRITTEN = 2 };

#define CHUNK_SHIFT 24 /* of 16 MiB, with a byte of ours for each of theirs */
#define CHUNK (1ul << CHUNK_SHIFT)
#define CHUNKS (1ul << (47 - CHUNK_SHIFT))
#define ALL_READ 0x0101010101010101ul
#define ALL_WRITTEN 0x0202020202020202ul

static unsigned char **chunks; /* null: nobody asked */
static bool from_first_spawn, configured;

static void *reserved(size_t size)
{
    void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED)
        swemu_lacking("no memory to count touched bytes in", 0, "give more memory, or a higher limit (ulimit -v)");
    return found;
}

void swemu_touched_configure(void)
{
    const char *text = getenv("SWBUILD_EMU_TOUCHED");
    bool again = configured;
    configured = true;
    if (again || !text || !*text)
        return;
    from_first_spawn = !strcmp(text, "spawn");
    if (!from_first_spawn && strcmp(text, "start")) {
        fprintf(stderr, "SWBUILD_EMU_TOUCHED: error[SW600]: unknown word '%s'; use start or spawn\n", text);
        exit(SWEMU_EXIT_FAULT);
    }
    chunks = reserved(CHUNKS * sizeof *chunks);
}

static unsigned char **entry(uintptr_t address) { return &chunks[address >> CHUNK_SHIFT & (CHUNKS - 1)]; }

static unsigned char *chunk_of(uintptr_t address)
{
    unsigned char **at = entry(address), *here = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (LIKELY(here))
        return here;
    unsigned char *made = reserved(CHUNK), *none = NULL;
    if (__atomic_compare_exchange_n(at, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    munmap(made, CHUNK);
    return none;
}

static void mark(unsigned char *state, size_t n, bool write)
{
    for (; n && (uintptr_t)state % 8; state++, n--)
        *state |= write ? WRITTEN : !*state;
    for (; n >= 8; state += 8, n -= 8) {
        uint64_t *eight = (uint64_t *)(void *)state;
        if (write)
            *eight |= ALL_WRITTEN;
        else if (!*eight)
            *eight = ALL_READ;
        else
            for (int k = 0; k < 8; k++)
                state[k] |= !state[k];
    }
    for (; n; state++, n--)
        *state |= write ? WRITTEN : !*state;
}

/* A CPE reads or writes [p, p + n) of main memory. */
void swemu_touch(const void *p, size_t n, bool write)
{
    if (LIKELY(!chunks))
        return;
    for (uintptr_t at = (uintptr_t)p; n;) {
        size_t inside = at & (CHUNK - 1), part = CHUNK - inside < n ? CHUNK - inside : n;
        mark(chunk_of(at) + inside, part, write);
        at += part;
        n -= part;
    }
}

static bool host_counts(void) { return chunks && (!from_first_spawn || swemu.spawns); }

/* Where the host is about to touch memory that has no room here yet: it may have to save registers first. */
static uintptr_t wanted;

bool swb_touched_ready(uint64_t address)
{
    wanted = (uintptr_t)address;
    return configured && (!host_counts() || *entry(wanted));
}

void swb_touched_prepare(void)
{
    swemu_touched_configure(); /* a program may have no kernels */
    if (host_counts())
        chunk_of(wanted);
}

void swb_touched_line(uint64_t address, bool store)
{
    if (host_counts())
        mark(chunk_of((uintptr_t)address) + (address & (CHUNK - 1) & -(uint64_t)HOST_LINE_BYTES), HOST_LINE_BYTES, store);
}

static void count(const unsigned char *states, unsigned long *sums)
{
    for (size_t k = 0; k < CHUNK; k += 8) {
        uint64_t eight;
        memcpy(&eight, states + k, 8);
        sums[0] += (unsigned long)__builtin_popcountll(eight & ALL_READ);
        sums[1] += (unsigned long)__builtin_popcountll(eight & ALL_WRITTEN);
    }
}

/* Write what has been touched, as a part of the counters. */
void swemu_touched_write(FILE *out)
{
    unsigned long sums[2] = {0, 0};
    if (!chunks)
        return;
    for (size_t k = 0; k < CHUNKS; k++)
        if (chunks[k])
            count(chunks[k], sums);
    fprintf(out, "  \"touched\": {\"read\": %lu, \"written\": %lu},\n", sums[0], sums[1]);
}
