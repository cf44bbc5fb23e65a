/* See swb_cache.h. */
#include "swb_cache.h"

#include <stdio.h>
#include <stdlib.h>

/* Calls come from the middle of other code, whose vector registers nobody has saved. */
#ifdef __x86_64__
#pragma GCC target("general-regs-only")
#endif
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* no calls of memmove */

#define PAGE 4096
#define RECENT 256 /* pages that are found at once */
#define STACK_BELOW (128ull << 20) /* the system leaves as much free below a stack */
#define STACK_ABOVE (16ull << 20)
#define STACK_TOP (1ull << 60) /* beyond all addresses of a program */

/* A line: its number, and in the topmost bit whether it was changed; 0 is none. */
typedef uint32_t line_t;
#define CHANGED (1u << 31)

struct level {
    uint64_t sets, ways;
    line_t *lines; /* the sets one behind the other, in each the line used last ahead */
};

static struct level first, second;
static uint64_t line_bytes;
static unsigned line_shift, page_shift; /* a line is so many bits of an address, a page of a line's number */
static uint64_t stack_top; /* somewhere in the frame of who called main */

/* Of each set in the first level the address of the line used last, if __swemu_host_lines may have it. */
static uint64_t *fronts;
uint64_t __swemu_host_lines[2][SWB_CACHE_KNOWN];

/* ---- pages: numbered from 1 in the order in which the program first touches them ---- */

struct page {
    uint64_t name, number;
};

static struct page *pages;
static uint64_t page_count, page_room;
static struct page recent[RECENT];

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
    struct page *known = &recent[name % RECENT];
    if (name == known->name && known->number)
        return known->number;
    struct page *page = place_of(name);
    if (!page->number)
        *page = (struct page){name, ++page_count};
    *known = *page;
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
    if (!is_power(line_bytes) || line_bytes > PAGE || !make_level(&first, n[1], n[2]) || !make_level(&second, n[3], n[4]))
        refuse(text ? text : "the machine file");
    line_shift = __builtin_ctzll(line_bytes);
    page_shift = __builtin_ctzll(PAGE / line_bytes);
    fronts = calloc(first.sets, sizeof *fronts);
    if (!fronts)
        abort();
}

bool swb_cache_ready(void) { return 2 * page_count < page_room; }

void swb_cache_prepare(void)
{
    if (!line_bytes)
        make_caches();
    make_room();
}

/* ---- what counted code looks at: the machine file's lines, of which one here may hold several ---- */

static void remember(uint64_t *front, uint64_t address, bool changed)
{
    uint64_t name = address / HOST_LINE_BYTES;
    *front = address & ~(line_bytes - 1);
    __swemu_host_lines[0][name % SWB_CACHE_KNOWN] = name;
    if (changed)
        __swemu_host_lines[1][name % SWB_CACHE_KNOWN] = name;
}

static void forget(uint64_t *front)
{
    for (uint64_t at = *front; at && at < *front + line_bytes; at += HOST_LINE_BYTES)
        for (int row = 0; row < 2; row++) {
            uint64_t *known = &__swemu_host_lines[row][at / HOST_LINE_BYTES % SWB_CACHE_KNOWN];
            if (*known == at / HOST_LINE_BYTES)
                *known = 0;
        }
    *front = 0;
}

/* Bring `line` to the front of its set; `changed` marks it.  Return whether it was there; if not, the line that had
 * to go is in `gone`. */
static bool bring(line_t *set, uint64_t ways, line_t line, line_t changed, line_t *gone)
{
    line_t ahead = line | changed;
    for (uint64_t k = 0; k < ways; k++) {
        line_t here = set[k];
        set[k] = ahead;
        if ((here & ~CHANGED) == line) {
            set[0] |= here & CHANGED;
            return true;
        }
        ahead = here;
    }
    *gone = ahead;
    return false;
}

static bool has(const line_t *set, uint64_t ways, line_t line)
{
    for (uint64_t k = 0; k < ways; k++)
        if ((set[k] & ~CHANGED) == line)
            return true;
    return false;
}

/* A page lies in the second level where the system happened to put it: its number, mixed, says where. */
static line_t *second_set(line_t line)
{
    uint64_t page = line >> page_shift, within = line & ((1ull << page_shift) - 1);
    return second.lines + second.ways * ((mixed(page) << page_shift | within) & (second.sets - 1));
}

/* A changed line leaves the first level: it goes to the second if that has it. */
static void write_back(line_t line, struct swb_cache_counts *counts)
{
    line_t *set = second_set(line), none;
    if (has(set, second.ways, line))
        bring(set, second.ways, line, CHANGED, &none);
    else
        counts->written++;
}

static void take_in(line_t line, struct swb_cache_counts *counts)
{
    line_t gone;
    if (bring(second_set(line), second.ways, line, 0, &gone))
        counts->second++;
    else {
        counts->filled++;
        counts->written += (gone & CHANGED) != 0;
    }
}

void swb_cache_stack(const void *top) { stack_top = (uint64_t)(uintptr_t)top; }

bool swb_cache_of_stack(uint64_t address) { return address + STACK_BELOW - stack_top < STACK_BELOW + STACK_ABOVE; }

void swb_cache_access(uint64_t address, bool store, struct swb_cache_counts *counts)
{
    bool stack = swb_cache_of_stack(address);
    uint64_t place = stack ? address + STACK_TOP - stack_top : address;
    line_t line = (line_t)(number_of(place / PAGE) << page_shift | place % PAGE >> line_shift);
    line_t changed = store ? CHANGED : 0, gone;
    uint64_t at = line & (first.sets - 1);
    line_t *set = first.lines + first.ways * at;
    if ((set[0] & ~CHANGED) == line)
        set[0] |= changed;
    else {
        forget(&fronts[at]);
        if (!bring(set, first.ways, line, changed, &gone)) {
            if (gone & CHANGED)
                write_back(gone & ~CHANGED, counts);
            take_in(line, counts);
        }
    }
    if (!stack && line_bytes >= HOST_LINE_BYTES) /* the stack's lines here are not those of its addresses */
        remember(&fronts[at], address, set[0] & CHANGED);
}
