/* Replay of events against a machine: a discrete-event simulation of one core group, as the events come.
 *
 * Deterministic by construction: events are taken in order of model time, ties in the order in which they were created,
 * and neither the box nor the host's scheduling has a say.  What is simulated: each CPE executes its records one
 * after the other; its transfers queue in its own DMA engine (one at a time, in order) and share the core group's
 * memory controller with the other CPEs'; RMA shares one network; a barrier opens when its last participant has
 * come; a register put needs room in the receivers' queues; a spawn and a join cost the host's time; what the
 * host computes between them takes its time too, where its code was counted.
 *
 * The records of a CPE may be fed in portions, at any time.  The simulation goes on as far as what it has been fed
 * settles, with the same figures as if it had got all at once, and forgets what it is done with. */
#ifndef SWB_REPLAY_H
#define SWB_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swb_trace.h"

struct swb_replay;

/* What swb_replay_advance returns when it lacks nobody's records. */
enum { SWB_NOBODY = -1 };

/* Takes the lines of the result; result.py reads them. */
typedef void swb_writer(void *to, const char *text, size_t size);

/* `numbers`: as swb_numbers_read takes them.  `details`: write the CPEs' times in each kernel, and their time line. */
struct swb_replay *swb_replay_open(const char *numbers, bool details, swb_writer *writer, void *to);

/* Replace numbers; only before the first records. */
void swb_replay_set(struct swb_replay *replay, const char *numbers);

/* Say what the next block of the host's code, counted from 0, asks of it; return false for what is no mix. */
bool swb_replay_block(struct swb_replay *replay, const char *mix);

/* Append to the records of their CPE (the `cpe` of the first).  `copied`: they are copied; otherwise they stay where
 * they are until the end.  A kernel is spawned before it begins, unless nothing is ever spawned. */
void swb_replay_feed(struct swb_replay *replay, const struct swb_trace_record *records, size_t count, bool copied);

/* Simulate as far as possible; return the CPE whose records are lacking, SWB_TRACE_HOST or SWB_NOBODY. */
int swb_replay_advance(struct swb_replay *replay);

/* Return how many records of a CPE have been fed and not yet been executed. */
size_t swb_replay_queued(const struct swb_replay *replay, unsigned cpe);

/* No more records come: simulate all that is left and write the rest of the result. */
void swb_replay_finish(struct swb_replay *replay);

#endif
