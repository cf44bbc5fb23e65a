#include "swb_shared.h"

#include <math.h>

static void advance(struct swb_shared *server, double now)
{
    if (server->active.count) {
        server->busy += now - server->last;
        server->virtual_time += (now - server->last) * server->rate / (double)server->active.count;
    }
    server->last = now;
}

static void foresee(struct swb_shared *server)
{
    server->next = INFINITY;
    if (!server->active.count)
        return;
    double left = swb_entry_time(&server->active.entries[0]) - server->virtual_time;
    server->next = server->last + (left > 0 ? left : 0) * (double)server->active.count / server->rate;
}

void swb_shared_open(struct swb_shared *server, void (*changed)(void *owner, void *item, int by), void *owner)
{
    *server = (struct swb_shared){.rate = 1, .next = INFINITY, .changed = changed, .owner = owner};
}

void swb_shared_add(struct swb_shared *server, double now, double work, void *item)
{
    advance(server, now);
    swb_heap_push(&server->active, server->virtual_time + work, server->order++, item);
    if (server->changed)
        server->changed(server->owner, item, 1);
    foresee(server);
}

void *swb_shared_depart(struct swb_shared *server, double now)
{
    advance(server, now);
    struct swb_entry gone = swb_heap_pop(&server->active);
    server->virtual_time = swb_entry_time(&gone); /* exactly: no rounding may be left to accumulate */
    if (server->changed)
        server->changed(server->owner, gone.item, -1);
    foresee(server);
    return gone.item;
}
