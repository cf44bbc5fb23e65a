/* A server whose throughput its customers share equally (processor sharing).
 *
 * Its state advances in virtual time: a customer leaves when the virtual clock has grown by the customer's work, and
 * the clock runs at rate / number of customers.  So an arrival or a departure costs one operation on a heap. */
#ifndef SWB_SHARED_H
#define SWB_SHARED_H

#include "swb_heap.h"

struct swb_shared {
    struct swb_heap active; /* by the virtual time at which they leave */
    uint64_t order;
    double rate;    /* 1 is one unit of work per cycle; `changed` may set it */
    double next;    /* when the next customer will have been served if no other comes; infinite when idle */
    double busy;
    double virtual_time, last;
    void (*changed)(void *owner, void *item, int by); /* a customer has come (1) or gone (-1); may be null */
    void *owner;
};

void swb_shared_open(struct swb_shared *server, void (*changed)(void *owner, void *item, int by), void *owner);

/* Let `item` take its share from `now` on until it has got `work`. */
void swb_shared_add(struct swb_shared *server, double now, double work, void *item);

/* Take out the customer that has been served at `now`, which is `next`. */
void *swb_shared_depart(struct swb_shared *server, double now);

#endif
