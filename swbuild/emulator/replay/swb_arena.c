/* Powers of two from one range of addresses; what is given back serves the next of its size. */
#define _GNU_SOURCE
#include "swb_arena.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SMALLEST = 5, CLASSES = 48 };

struct unused {
    struct unused *next;
};

static char *place, *end;
static struct unused *spare[CLASSES];

static void fail(void)
{
    static const char text[] = "swbuild: error[SW600]: no memory left for the model of the time\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
    }
    _exit(70);
}

void swb_arena_open(void)
{
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    for (size_t size = (size_t)1 << 34; !place && size >= 1 << 20; size /= 2) {
        void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, how, -1, 0);
        if (found == MAP_FAILED)
            continue;
        place = found;
        end = place + size;
    }
}

static unsigned class_of(size_t size)
{
    unsigned found = SMALLEST;
    while ((size_t)1 << found < size)
        found++;
    return found;
}

static void *fresh(size_t size)
{
    if (!place)
        swb_arena_open();
    if (!place || (size_t)(end - place) < size)
        fail();
    void *found = place;
    place += size;
    return found;
}

void *swb_arena_take(size_t size)
{
    unsigned class = class_of(size);
    struct unused *found = spare[class];
    if (!found)
        return fresh((size_t)1 << class);
    spare[class] = found->next;
    return memset(found, 0, size);
}

void swb_arena_give(void *memory, size_t size)
{
    struct unused *item = memory;
    unsigned class = class_of(size);
    if (!item)
        return;
    item->next = spare[class];
    spare[class] = item;
}

void *swb_arena_grow(void *old, size_t have, size_t wanted, size_t size)
{
    void *found = swb_arena_take(wanted * size);
    if (old)
        memcpy(found, old, have * size);
    swb_arena_give(old, have * size);
    return found;
}
