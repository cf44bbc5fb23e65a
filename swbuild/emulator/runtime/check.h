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

enum { LOADS, STORES, DMA_READS, DMA_WRITES };   /* odd ones write */
enum { COMING = 1, GOING = 2, REPLY = 4 };       /* flags of an LDM word */

struct word {
    uint32_t write_clock, read_clock;
    uint16_t write_site, read_site;
    uint8_t write_cpe, read_cpe, write_kind, read_kind;
};

/* Words of one group that were always touched together have one state between them. */
struct page {
    struct page *next;
    uintptr_t number;
    uint64_t split[PAGE_BYTES / GROUP_BYTES / 64]; /* groups whose words have a state each */
    struct word groups[PAGE_BYTES / GROUP_BYTES];
    struct word *words;                            /* null while no group is split */
};

struct sync_word {
    struct sync_word *next;
    const volatile void *address;
    uint32_t knows[SWEMU_CPES];
};

/* A reply word in the LDM: its CPE's last store to it, and the last completion from another CPE. */
struct reply_word {
    const volatile void *word;
    uint32_t stored, completed;
    int by;
    uintptr_t pc;
};

#define REPLY_WORDS 64

struct check {
    struct reply_word replies[REPLY_WORDS];
    uint32_t flushed;            /* its stores up to this clock have left the data cache */
    uint32_t knows[SWEMU_CPES], inbox[SWEMU_CPES];
    long inflight;
    struct page *last_page;
    uint8_t *statics;
    uint8_t heap[LDM_BYTES / 4 + 1], stack[LDM_BYTES / 4 + 1];
};

/* driver/checks.py knows this number and the tag. */
#define SHADOW_START 0x7fff8000UL
#define SHADOW_OF(p) ((uint8_t *)(((uintptr_t)(p) >> 2) + SHADOW_START))

extern uint32_t __swemu_tag;

static inline bool swemu_is_poison(const void *p)
{
    uint32_t value;
    memcpy(&value, p, 4);
    return value == ((uintptr_t)p & 4 ? POISON_HIGH : POISON_LOW);
}

void swemu_shadow_start(void);
void swemu_shadow_open(const void *start, size_t size);
void swemu_shadow_close(const void *start, size_t size);
void swemu_shadow_settle(const struct cpe *c, const void *start, size_t size, const uint8_t *flags, bool valued);
uint8_t *swemu_check_flags(struct cpe *c, const void *p, size_t len);
void swemu_check_flight(struct cpe *c, const void *p, size_t n, bool write, uintptr_t pc);
void swemu_check_memory(struct cpe *c, const void *start, size_t len, int kind, uintptr_t pc, bool record);

#endif
