#define _GNU_SOURCE
#include "timing.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output.h"
#include "swb_replay.h"
#include "swemu.h"

/* How many records of a CPE may wait for the others'. */
#define FAR_AHEAD 8192

static struct swb_replay *replay;
static struct swemu_output result;
static uint32_t blocks;

static void put(void *to, const char *text, size_t size) { swemu_output_put(to, text, size); }

/* Numbers are written and read as in C, whatever the program's language is. */
static locale_t plainly(void)
{
    static locale_t plain;
    if (!plain)
        plain = newlocale(LC_ALL_MASK, "C", NULL);
    return uselocale(plain);
}

static void begin_result(uint32_t flags, const char *given)
{
    char line[4096];
    int size = snprintf(line, sizeof line, "model 1 %u %d\nnumbers %s\n", flags, swemu_wanted(swemu.trace_path), given);
    put(&result, line, size < (int)sizeof line ? (size_t)size : sizeof line - 1);
}

void swemu_timing_open(uint32_t flags)
{
    const char *given = getenv("SWBUILD_EMU_NUMBERS");
    if (!swemu_wanted(swemu.model_path) || !swemu_output_open(&result, swemu.model_path))
        return;
    remove(swemu.model_path); /* it is no longer that of the last run */
    locale_t before = plainly();
    replay = swb_replay_open(MODEL_NUMBERS, false, put, &result);
    swb_replay_set(replay, given ? given : "");
    begin_result(flags, given ? given : "");
    uselocale(before);
}

int swemu_timing_lacks(void)
{
    locale_t before = plainly();
    int found = replay ? swb_replay_advance(replay) : SWB_NOBODY;
    uselocale(before);
    return found;
}

bool swemu_timing_feed(const struct swb_trace_record *records, int count)
{
    if (!replay || !count)
        return false;
    swb_replay_feed(replay, records, (size_t)count, true);
    swemu_timing_lacks();
    return swb_replay_queued(replay, records->cpe) > FAR_AHEAD;
}

void swemu_timing_block(uint32_t number, const char *mix)
{
    if (replay && number == blocks) {
        locale_t before = plainly();
        swb_replay_block(replay, mix);
        uselocale(before);
        blocks++;
    }
}

void swemu_timing_close(void (*names)(FILE *to))
{
    if (!replay)
        return;
    locale_t before = plainly();
    swb_replay_finish(replay);
    replay = NULL;
    uselocale(before);
    swemu_output_close(&result, names);
}

/* Wait until the host has come to its next spawn or join; not for long, since it may wait for the CPEs itself. */
static int wait_for_host(void)
{
    enum { TURNS = 2000, NANOSECONDS = 1000000 };
    int lacking = swemu_trace_lacks();
    for (int n = 0; lacking == SWB_TRACE_HOST && n < TURNS; n++) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += NANOSECONDS;
        if (t.tv_nsec >= 1000000000)
            t = (struct timespec){t.tv_sec + 1, t.tv_nsec - 1000000000};
        pthread_cond_timedwait(&swemu.host_wake, &swemu.lock, &t);
        lacking = swemu_trace_lacks();
    }
    return lacking;
}

void swemu_timing_hold(struct cpe *c)
{
    swemu_lock();
    c->far_ahead = false;
    int lacking = wait_for_host();
    if (lacking >= 0 && lacking < SWEMU_CPES && lacking != c->pen)
        swemu_sched_yield_to(c, swemu.cpes[c->cg * SWEMU_CPES + lacking]);
    swemu_unlock();
}
