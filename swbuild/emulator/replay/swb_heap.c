#include "swb_heap.h"

#include <string.h>

#include "swb_arena.h"

static const uint64_t sign = 1ull << 63;

/* Bits that are ordered as numbers are. */
static uint64_t ordered(double time)
{
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

double swb_entry_time(const struct swb_entry *entry)
{
    uint64_t bits = (uint64_t)(entry->key >> 64);
    double time;
    bits = bits & sign ? bits & ~sign : ~bits;
    memcpy(&time, &bits, sizeof time);
    return time;
}

static void rise(struct swb_entry *entries, size_t at, struct swb_entry entry)
{
    for (; at && entry.key < entries[(at - 1) / 2].key; at = (at - 1) / 2)
        entries[at] = entries[(at - 1) / 2];
    entries[at] = entry;
}

void swb_heap_push(struct swb_heap *heap, double time, uint64_t number, void *item)
{
    if (heap->count == heap->room) {
        size_t wanted = heap->room ? 2 * heap->room : 128;
        heap->entries = swb_arena_grow(heap->entries, heap->room, wanted, sizeof *heap->entries);
        heap->room = wanted;
    }
    unsigned __int128 key = (unsigned __int128)ordered(time) << 64 | number;
    rise(heap->entries, heap->count++, (struct swb_entry){key, item});
}

/* The hole sinks to a leaf without a comparison to the last entry, which mostly belongs down there: no branch of this
 * loop is hard to foretell. */
struct swb_entry swb_heap_pop(struct swb_heap *heap)
{
    struct swb_entry *entries = heap->entries, first = entries[0];
    size_t last = --heap->count, at = 0;
    for (size_t child = 1; child < last; child = 2 * at + 1) {
        child += child + 1 < last && entries[child + 1].key < entries[child].key;
        entries[at] = entries[child];
        at = child;
    }
    rise(entries, at, entries[last]);
    return first;
}
