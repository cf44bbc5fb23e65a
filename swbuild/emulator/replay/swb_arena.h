/* Memory of the replay: away from the program's heap, whose addresses it must not move. */
#ifndef SWB_ARENA_H
#define SWB_ARENA_H

#include <stddef.h>

/* Set the range of addresses aside, once: what is mapped later then lies where it would lie in any other run. */
void swb_arena_open(void);

/* Return `size` zeroed bytes; without memory the program ends. */
void *swb_arena_take(size_t size);

/* Give back what swb_arena_take has returned for this size. */
void swb_arena_give(void *memory, size_t size);

/* Return room for `wanted` items of `size` bytes, the first `have` of them those at `old`, which is given back. */
void *swb_arena_grow(void *old, size_t have, size_t wanted, size_t size);

#endif
