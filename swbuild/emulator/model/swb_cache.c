/* See swb_cache.h. */
#include "swb_cache.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE 4096
#define STACK_BELOW (128ull << 20) /* the system leaves as much free below a stack */
#define STACK_ABOVE (16ull << 20)
#define STACK_TOP (1ull << 60) /* beyond all addresses of a program */

/* A line: its number, and in bit 63 whether it was changed; 0 is none. */
#define CHANGED (1ull << 63)

struct level {
    uint64_t sets, ways, *lines; /* the sets one behind the other, in each the line used last ahead */
};

static struct level first, second;
static uint64_t line_bytes, page_lines;
static uint64_t stack_top; /* somewhere in the frame of who called main */

/* ---- pages: numbered from 1 in the order in which the program first touches them ---- */

struct page {
    uint64_t name, number;
};

static struct page *pages;
static uint64_t page_count, page_room;
static struct page last;

static uint64_t mixed(uint64_t n)
{
    n *= 0x9e3779b97f4a7c15ull;
    n ^= n >> 32;
    n *= 0xd6e8feb86659fd93ull;
    return n ^ n >> 32;
}

static struct page *place_of(uint64_t name)
{
    uint64_t at = mixed(name) & (page_room - 1);
    while (pages[at].number && pages[at].name != name)
        at = (at + 1) & (page_room - 1);
    return &pages[at];
}

static void make_room(void)
{
    struct page *old = pages;
    uint64_t room = page_room;
    page_room = room ? 2 * room : 1024;
    pages = calloc(page_room, sizeof *pages);
    if (!pages)
        abort();
    for (uint64_t k = 0; k < room; k++)
        if (old[k].number)
            *place_of(old[k].name) = old[k];
    free(old);
}

static uint64_t number_of(uint64_t name)
{
    if (name == last.name && last.number)
        return last.number;
    if (2 * page_count >= page_room)
        make_room();
    struct page *page = place_of(name);
    if (!page->number)
        *page = (struct page){name, ++page_count};
    last = *page;
    return page->number;
}

/* ---- the two levels ---- */

static void refuse(const char *text)
{
    fprintf(stderr, "SWBUILD_EMU_HOST_CACHES: error[SW600]: no caches of '%s': sizes and numbers of sets are powers of two\n",
            text);
    exit(2);
}

static bool is_power(uint64_t n) { return n && !(n & (n - 1)); }

static bool make_level(struct level *level, uint64_t bytes, uint64_t ways)
{
    level->ways = ways;
    level->sets = ways ? bytes / line_bytes / ways : 0;
    level->lines = calloc(level->sets * ways + 1, sizeof *level->lines);
    return level->lines && is_power(level->sets);
}

/* The machine file's caches, or those of the environment: line, and size and ways of both levels. */
static void make_caches(void)
{
    unsigned long n[] = {HOST_LINE_BYTES, HOST_L1_BYTES, HOST_L1_WAYS, HOST_L2_BYTES, HOST_L2_WAYS};
    const char *text = getenv("SWBUILD_EMU_HOST_CACHES");
    if (text && sscanf(text, "%lu,%lu,%lu,%lu,%lu", &n[0], &n[1], &n[2], &n[3], &n[4]) != 5)
        refuse(text);
    line_bytes = n[0];
    page_lines = line_bytes ? PAGE / line_bytes : 0;
    if (!is_power(line_bytes) || !page_lines || !make_level(&first, n[1], n[2]) || !make_level(&second, n[3], n[4]))
        refuse(text ? text : "the machine file");
}

/* Return whether `line` is in the set, and bring it to the front; `changed` marks it. */
static bool find(uint64_t *set, uint64_t ways, uint64_t line, uint64_t changed)
{
    for (uint64_t k = 0; k < ways; k++)
        if ((set[k] & ~CHANGED) == line) {
            uint64_t found = set[k] | changed;
            for (; k > 0; k--)
                set[k] = set[k - 1];
            set[0] = found;
            return true;
        }
    return false;
}

/* Put a line to the front of its set; return the one that had to go. */
static uint64_t put(uint64_t *set, uint64_t ways, uint64_t line)
{
    uint64_t gone = set[ways - 1];
    for (uint64_t k = ways - 1; k > 0; k--)
        set[k] = set[k - 1];
    set[0] = line;
    return gone;
}

/* A page lies in the second level where the system happened to put it: its number, mixed, says where. */
static uint64_t *second_set(uint64_t line)
{
    uint64_t page = line / page_lines;
    return second.lines + second.ways * ((mixed(page) * page_lines + line % page_lines) & (second.sets - 1));
}

static void miss(uint64_t *set, uint64_t line, uint64_t changed, struct swb_cache_counts *counts)
{
    uint64_t gone = put(set, first.ways, line | changed);
    if (gone & CHANGED && !find(second_set(gone & ~CHANGED), second.ways, gone & ~CHANGED, CHANGED))
        counts->written++;
    uint64_t *there = second_set(line);
    if (find(there, second.ways, line, 0)) {
        counts->second++;
        return;
    }
    counts->filled++;
    counts->written += (put(there, second.ways, line) & CHANGED) != 0;
}

void swb_cache_stack(const void *top) { stack_top = (uint64_t)(uintptr_t)top; }

void swb_cache_access(uint64_t address, bool store, struct swb_cache_counts *counts)
{
    if (!line_bytes)
        make_caches();
    if (address + STACK_BELOW - stack_top < STACK_BELOW + STACK_ABOVE)
        address += STACK_TOP - stack_top;
    uint64_t line = number_of(address / PAGE) * page_lines + address % PAGE / line_bytes;
    uint64_t changed = store ? CHANGED : 0;
    uint64_t *set = first.lines + first.ways * (line & (first.sets - 1));
    if ((set[0] & ~CHANGED) == line)
        set[0] |= changed;
    else if (!find(set, first.ways, line, changed))
        miss(set, line, changed, counts);
}
