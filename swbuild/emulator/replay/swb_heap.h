/* A heap of items by time, and by number where times are equal. */
#ifndef SWB_HEAP_H
#define SWB_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* `key` orders: time in the upper half, the number in the lower one. */
struct swb_entry {
    unsigned __int128 key;
    void *item;
};

struct swb_heap {
    struct swb_entry *entries;
    size_t count, room;
};

void swb_heap_push(struct swb_heap *heap, double time, uint64_t number, void *item);

/* Take the first entry out of a heap that is not empty. */
struct swb_entry swb_heap_pop(struct swb_heap *heap);

double swb_entry_time(const struct swb_entry *entry);

static inline uint64_t swb_entry_number(const struct swb_entry *entry) { return (uint64_t)entry->key; }

#endif
