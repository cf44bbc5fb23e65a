/* What checked mode keeps: vector clocks, the shadow of main memory, the flags of LDM words. */
#ifndef SWEMU_CHECK_H
#define SWEMU_CHECK_H

#include <string.h>

#include "swemu.h"

#define PAGE_BYTES 4096
#define GROUP_BYTES 32
#define GROUP_WORDS (GROUP_BYTES / 4)
#define PAGE_BITS 16
#define PAGE_BUCKETS (1 << PAGE_BITS)
#define POISON 0x7ff5a5a57fa5a5a5ULL /* a signalling NaN as double and as float, a large number as int */
#define POISON_LOW 0x7fa5a5a5u
#define POISON_HIGH 0x7ff5a5a5u

enum { LOADS, STORES, DMA_READS, DMA_WRITES, LDM_SENDS, LDM_FILLS, RMA_READS, RMA_WRITES, DMA_RETURNS }; /* odd ones write */
/* Flags of an LDM word: of transfers under way, and why its accesses need a look at any time. */
enum { COMING = 1, GOING = 2, REPLY = 4, WATCHED = 8, NO_PLACE = 16, IN_PART = 32 };
/* What has become of what a get has brought into an LDM word: used (or no get has), or not used yet, overwritten
 * before that, or not used yet and raced with.  A FETCHED word that the shadow vouches for is used, too. */
enum { FATE = 192, FETCHED = 64, LOST = 128, RACED = 192 };

/* Who touched a word last, and when by his own clock. */
struct touched {
    uint32_t clock;
    uint16_t site;
    uint8_t cpe, kind;
};

/* The last write, and the last reads by two CPEs that nothing orders. */
struct word {
    struct touched write, reads[2];
};

/* A stretch of the statics that has a name. */
struct variable {
    size_t lo, hi;
    const char *name;
    enum { VARIABLE, ZONE, RUNTIME } kind;
    bool shared; /* transfers of other CPEs touch it */
};

/* Words of one group that were always touched together have one state between them. */
struct page {
    struct page *next;
    uintptr_t number;
    uint64_t split[PAGE_BYTES / GROUP_BYTES / 64]; /* groups whose words have a state each */
    struct word groups[PAGE_BYTES / GROUP_BYTES];
    struct word *words;                            /* null while no group is split */
    struct fetch_link *fetches;                    /* gets of it that lie in the LDM of somebody */
};

struct sync_word {
    struct sync_word *next;
    const volatile void *address;
    uint32_t knows[SWEMU_CPES];
};

/* What is known by who sees this value in a reply word. */
struct arrival {
    struct arrival *older;
    int value;
    uint32_t knows[SWEMU_CPES];
};

/* A reply word in the LDM: its CPE's last store to it, and the completions from other CPEs. */
struct reply_word {
    struct reply_word *next;
    const volatile void *word;
    uint32_t stored, completed;
    int by;
    uintptr_t pc;
    struct arrival *latest;
};

#define REPLY_BUCKETS 64

struct check {
    struct reply_word *replies[REPLY_BUCKETS];
    uint32_t flushed;            /* its stores up to this clock have left the data cache */
    uint32_t knows[SWEMU_CPES], inbox[SWEMU_CPES];
    long inflight;
    struct page *last_page;
    uint8_t *statics;
    uint8_t heap[HEAP_BYTES / 4 + 1], stack[LDM_BYTES / 4 + 1];
    long *patience;              /* by variable: accesses until it is taken for this CPE's alone */
    struct fetch **fetches;      /* what gets have brought into its LDM, in the order of addresses */
    size_t fetch_count, fetch_room;
    long stack_fetches;          /* of those, on the stack */
    struct epoch *epoch;         /* what it knew at its last get */
};

/* driver/checks.py knows this number and the tag. */
#define SHADOW_START 0x7fff8000UL
#define SHADOW_OF(p) ((uint8_t *)(((uintptr_t)(p) >> 2) + SHADOW_START))

#define FRESH 0x80 /* in the shadow, with a tag: fetched, and not used yet */

extern uint32_t __swemu_tag;
extern bool swemu_shadowed;

static inline uint8_t swemu_tag_of(const struct cpe *c) { return (uint8_t)(c->pen + 1); }

static inline bool swemu_is_poison(const void *p)
{
    uint32_t value;
    memcpy(&value, p, 4);
    return value == ((uintptr_t)p & 4 ? POISON_HIGH : POISON_LOW);
}

#define EIGHT(byte) ((uint64_t)(byte)*0x0101010101010101U)

static inline uint64_t swemu_eight(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, 8);
    return value;
}

/* Of each of these flags keep some and set some. */
static inline void swemu_change_flags(uint8_t *flags, size_t count, uint8_t keep, uint8_t set)
{
    size_t k = 0;
    for (uint64_t eight; k + 8 <= count; k += 8) {
        eight = (swemu_eight(flags + k) & EIGHT(keep)) | EIGHT(set);
        memcpy(flags + k, &eight, 8);
    }
    for (; k < count; k++)
        flags[k] = (uint8_t)((flags[k] & keep) | set);
}

/* shadow.c */
void swemu_shadow_start(void);
void swemu_shadow_open(const void *start, size_t size);
void swemu_shadow_close(const void *start, size_t size);
void swemu_shadow_settle(const struct cpe *c, const void *start, size_t size, const uint8_t *flags, bool valued);

/* check.c */
uint8_t *swemu_check_flags(struct cpe *c, const void *p, size_t len);
bool swemu_check_flight(struct cpe *c, const void *p, size_t n, bool write, uintptr_t pc);

/* races.c */
bool swemu_check_memory(struct cpe *c, const void *start, size_t len, int kind, uintptr_t pc, bool record);
bool swemu_check_last_write(struct cpe *c, const char **start, const char **end, uintptr_t pc, struct touched *write);
void swemu_check_earlier_read(struct cpe *c, const void *start, size_t len, struct touched read, const uint32_t *knew);
void swemu_check_race(struct cpe *c, uintptr_t pc, int kind, uintptr_t address, const struct touched *other,
                      uintptr_t use);
uint16_t swemu_check_site(uintptr_t pc);
struct page *swemu_check_page(struct cpe *c, uintptr_t address);

/* fetched.c */
void swemu_fetched_start(struct cpe *c, const struct xfer *x);
bool swemu_fetched_returns(const struct cpe *c, const struct xfer *x);
void swemu_fetched_close(const struct cpe *c, uint8_t *flags, const char *word, size_t words);
void swemu_fetched_arrive(struct cpe *c, const struct xfer *x);
void swemu_fetched_written(struct cpe *c, struct fetch_link *gets, uintptr_t lo, uintptr_t hi, struct touched write,
                           uintptr_t pc);
void swemu_fetched_gone(struct cpe *c, const void *lo, const void *hi);
void swemu_fetched_spawn(struct cpe *c);
void swemu_fetched_frame(struct cpe *c, const void *frame);

/* variables.c */
size_t swemu_variable_count(void);
struct variable *swemu_variable(size_t number);
struct variable *swemu_variable_at(const struct cpe *c, const void *p);
const struct variable *swemu_variable_beside(const struct variable *zone, size_t at);

/* places.c */
void swemu_places_setup(struct cpe *c);
void swemu_places_check(struct cpe *c, const void *p, size_t n, const char *what, uintptr_t pc);
void swemu_places_share(struct cpe *c, const void *p, size_t len);
bool swemu_places_touch(struct cpe *c, const void *p, size_t n, int kind, uintptr_t pc);

/* Take what another knows; count a release. */
void swemu_clock_learn(struct cpe *c, const uint32_t *from);
void swemu_clock_tick(struct cpe *c);

#endif
