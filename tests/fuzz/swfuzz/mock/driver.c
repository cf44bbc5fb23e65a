/* The core group, one CPE at a time, and the run of a table of programs on it, each in a process of its own.

   usage: EXE [SECONDS [PROGRAM...]]
   One line per program: "NAME ok SPAWNS" or "NAME KIND: what happened".  Every case runs three
   times, with the CPEs in rising, falling and mixed order: what depends on the order is wrong.  */

#define _GNU_SOURCE
#include "driver.h"
#include "swmock.h"
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ZONE 1024
#define MOST 16

struct thing {
    const char *name;
    enum kind kind;
    long count, bytes;
    unsigned char *reference, *generated; /* with a red zone before and after */
};

static struct thing things[MOST];
static int thing_count, order, current_n, current_m;
static long spawns;
static const int sizes[] = {8, 4, 4, 8, 4, 2, 1};

/* The program that runs. */
static const struct program *running;
int swmock_pen = -1;

/* The stack around the kernel's caller. */
static const unsigned char *here;

static void fail(const char *kind, const char *what)
{
    printf("%s: %s; n = %d, m = %d, order %d\n", kind, what, current_n, current_m, order);
    fflush(stdout);
    _exit(3);
}

void *R(int number) { return things[number].reference + ZONE; }
void *G(int number) { return things[number].generated + ZONE; }

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

static void set(unsigned char *at, enum kind kind, uint64_t seed)
{
    uint64_t bits = mix(seed + 1);
    double fraction = 0.25 + (double)(bits >> 11) / 9007199254740992.0 * 1.5;
    float single = (float)fraction;
    long number = (long)(bits % 19) - 9;
    int integer = (int)number;
    short half = (short)number;
    unsigned char byte = (unsigned char)(number + 9);

    if (bits % 5 == 0) {
        fraction = -fraction;
        single = -single;
    }
    switch (kind) {
    case K_DOUBLE: memcpy(at, &fraction, 8); break;
    case K_FLOAT: memcpy(at, &single, 4); break;
    case K_INT: memcpy(at, &integer, 4); break;
    case K_UNSIGNED: integer += 9; memcpy(at, &integer, 4); break;
    case K_LONG: memcpy(at, &number, 8); break;
    case K_SHORT: memcpy(at, &half, 2); break;
    case K_UCHAR: memcpy(at, &byte, 1); break;
    }
}

void object(const char *name, enum kind kind, long count)
{
    struct thing *t = &things[thing_count++];
    long i, all;

    if (count < 0)
        count = 0;
    *t = (struct thing){name, kind, count, count * sizes[kind], NULL, NULL};
    all = t->bytes + 2 * ZONE;
    t->reference = aligned_alloc(64, (size_t)(all + 63) / 64 * 64);
    t->generated = aligned_alloc(64, (size_t)(all + 63) / 64 * 64);
    if (!t->reference || !t->generated)
        fail("harness", "out of memory");
    memset(t->reference, 0x7f, (size_t)all);
    for (i = 0; i < count; i++)
        set(t->reference + ZONE + i * sizes[kind], kind, (uint64_t)(i + 1000003 * thing_count));
    memcpy(t->generated, t->reference, (size_t)all);
}

static int same(enum kind kind, const unsigned char *a, const unsigned char *b)
{
    double x, y;
    float f, g;

    if (memcmp(a, b, (size_t)sizes[kind]) == 0)
        return 1;
    if (kind == K_DOUBLE) {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        return isnan(x) && isnan(y);
    }
    if (kind == K_FLOAT) {
        memcpy(&f, a, 4);
        memcpy(&g, b, 4);
        return isnan(f) && isnan(g);
    }
    return 0;
}

static double shown(enum kind kind, const unsigned char *a)
{
    double d;
    float f;
    int i;
    long l;
    short s;

    switch (kind) {
    case K_DOUBLE: memcpy(&d, a, 8); return d;
    case K_FLOAT: memcpy(&f, a, 4); return (double)f;
    case K_LONG: memcpy(&l, a, 8); return (double)l;
    case K_SHORT: memcpy(&s, a, 2); return s;
    case K_UCHAR: return *a;
    default: memcpy(&i, a, 4); return i;
    }
}

static void compare(void)
{
    char text[200];

    for (int k = 0; k < thing_count; k++) {
        struct thing *t = &things[k];
        for (long i = 0; i < ZONE; i++) {
            if (t->reference[i] != 0x7f || t->reference[ZONE + t->bytes + i] != 0x7f)
                fail("invalid", "the reference left its arrays");
            if (t->generated[i] != 0x7f || t->generated[ZONE + t->bytes + i] != 0x7f) {
                snprintf(text, sizeof text, "changed outside of %s", t->name);
                fail("wrong", text);
            }
        }
        for (long i = 0; i < t->count; i++) {
            const unsigned char *a = t->reference + ZONE + i * sizes[t->kind];
            const unsigned char *b = t->generated + ZONE + i * sizes[t->kind];
            if (!same(t->kind, a, b)) {
                snprintf(text, sizeof text, "%s[%ld] is %.17g instead of %.17g", t->name, i, shown(t->kind, b),
                         shown(t->kind, a));
                fail("wrong", text);
            }
        }
    }
}

void generated(void) {}

/* -- the core group ---------------------------------------------------------------------------- */

#define CPES 64
#define STACK (256 << 10)

/* Each CPE has a stack of its own and runs until it meets the others at a barrier, waits for what they hand to it,
   or to its end.  In programs that hand data on or keep it, each has an LDM of its own, which is put in its place while it runs.
   In others they share one, which is faster: what a CPE wants to find there after a barrier has to be the same for
   all, as arguments are. */
static ucontext_t entry, nowhere;
static jmp_buf host, cpes[CPES]; /* cheaper than contexts, which save the mask of signals each time */
static char stacks[CPES][STACK] __attribute__((aligned(64)));
static enum state { FRESH, READY, MEETING, WAITING, SENDING, RECEIVING, ENDED } states[CPES];
static char *own[CPES]; /* the LDMs of CPEs that do not run */
static long awaited[CPES], wanted[CPES];
static void (*spawned)(void *);
static void *passed;

static void cpe(void)
{
    spawned(passed);
    states[swmock_pen] = ENDED;
    _longjmp(host, 1);
}

/* Let a CPE run, from its beginning or from where it stopped, until it stops again or comes to its end. */
static void resume(int pen)
{
    enum state before = states[pen];

    if (_setjmp(host))
        return;
    states[pen] = READY;
    if (before != FRESH)
        _longjmp(cpes[pen], 1);
    getcontext(&entry);
    entry.uc_stack.ss_sp = stacks[pen];
    entry.uc_stack.ss_size = STACK;
    entry.uc_link = NULL;
    makecontext(&entry, cpe, 0);
    swapcontext(&nowhere, &entry);
}

static int turn(int i) { return order == 0 ? i : order == 1 ? CPES - 1 - i : (i * 37 + 11) % CPES; }

static void stop(enum state state)
{
    states[swmock_pen] = state;
    if (!_setjmp(cpes[swmock_pen]))
        _longjmp(host, 1);
}

void swmock_barrier(void) { stop(MEETING); }

static int number_at(const char *ldm, long offset)
{
    int number;

    memcpy(&number, ldm + offset, sizeof number);
    return number;
}

/* Messages that have been sent along rows (0) and columns (1), and whom a CPE waits for that sends or receives. */
#define DEPTH 4
struct queue {
    int first, used;
    char slots[DEPTH][32];
};
static struct queue queues[2][CPES];
static int column_of[CPES];

static int gets_it(int k, int pen, int column)
{
    return k != pen && (column ? k % 8 == pen % 8 : k / 8 == pen / 8);
}

static int has_room(int pen, int column)
{
    for (int k = 0; k < CPES; k++)
        if (gets_it(k, pen, column) && queues[column][k].used == DEPTH)
            return 0;
    return 1;
}

static int may_run(int pen)
{
    if (states[pen] == WAITING)
        return number_at(own[pen], awaited[pen]) >= wanted[pen];
    if (states[pen] == SENDING)
        return has_room(pen, column_of[pen]);
    if (states[pen] == RECEIVING)
        return queues[column_of[pen]][pen].used > 0;
    return states[pen] == FRESH || states[pen] == READY;
}

/* Let each CPE run that may; return how many did. */
static int round_of_turns(long used)
{
    int ran = 0;

    for (int i = 0; i < CPES; i++) {
        swmock_pen = turn(i);
        if (!may_run(swmock_pen))
            continue;
        ran++;
        if (running->shares)
            memcpy(running->ldm, own[swmock_pen], (size_t)used);
        else if (states[swmock_pen] == FRESH && spawns < 40 && used)
            memset(running->ldm, 0xa5, (size_t)used);
        resume(swmock_pen);
        if (running->shares)
            memcpy(own[swmock_pen], running->ldm, (size_t)used);
    }
    swmock_pen = -1;
    return ran;
}

static int count_of(enum state state)
{
    int count = 0;

    for (int pen = 0; pen < CPES; pen++)
        count += states[pen] == state;
    return count;
}

static void inside_ldm(const void *place, long length)
{
    const char *low = place;

    if (low < running->ldm || low + length > running->end)
        fail("ldm", "what is handed on or waited for is not in the LDM");
}

static void one_more(char *number)
{
    int value;

    memcpy(&value, number, sizeof value);
    value++;
    memcpy(number, &value, sizeof value);
}

/* What is handed on while CPEs compute: it arrives at once, or when no CPE can run without it. */
struct box {
    int pen, along;
    long to, from, length, sent, reply;
};
static struct box boxes[2 * CPES];
static int box_count;

static int is_for(int k, int pen, int along)
{
    return !(along == 1 && k / 8 != pen / 8) && !(along == 2 && k % 8 != pen % 8);
}

static void deliver_boxes(void)
{
    for (int i = 0; i < box_count; i++) {
        const struct box *box = &boxes[i];
        for (int k = 0; k < CPES; k++)
            if (is_for(k, box->pen, box->along)) {
                memcpy(own[k] + box->to, own[box->pen] + box->from, (size_t)box->length);
                one_more(own[k] + box->reply);
            }
        one_more(own[box->pen] + box->sent);
    }
    box_count = 0;
}

static void check_box(int along, const char *to, const char *from, long length, const void *reply)
{
    if (length <= 0 || length % 4 || (uintptr_t)to % 4 || (uintptr_t)from % 4)
        fail("rma", "a length or an address that is not a multiple of 4");
    inside_ldm(to, length);
    inside_ldm(from, length);
    inside_ldm(reply, sizeof(int));
    if (to < from + length && from < to + length)
        fail("rma", "a box that is handed on from its own place");
    for (int k = 0; k < CPES; k++)
        if (is_for(k, swmock_pen, along) && (states[k] == FRESH || states[k] == MEETING))
            fail("rma", "a box for a CPE that has not come to where it is handed on");
}

void swmock_bcast(int along, void *to, const void *from, long length, void *reply)
{
    check_box(along, to, from, length, reply);
    for (int k = 0; k < CPES; k++) {
        char *ldm = k == swmock_pen ? running->ldm : own[k];
        if (!is_for(k, swmock_pen, along))
            continue;
        memcpy(ldm + ((char *)to - running->ldm), from, (size_t)length);
        one_more(ldm + ((char *)reply - running->ldm));
    }
}

void swmock_ibcast(int along, void *to, const void *from, long length, void *sent, void *reply)
{
    char *ldm = running->ldm;

    if (order == 0) {
        swmock_bcast(along, to, from, length, reply);
        one_more(sent);
        return;
    }
    check_box(along, to, from, length, reply);
    inside_ldm(sent, sizeof(int));
    if (box_count == 2 * CPES)
        fail("rma", "boxes are handed on before others have arrived");
    boxes[box_count++] = (struct box){swmock_pen, along, (char *)to - ldm, (const char *)from - ldm, length,
                                      (char *)sent - ldm, (char *)reply - ldm};
}

void swmock_arrived(void *reply, int value)
{
    inside_ldm(reply, sizeof value);
    awaited[swmock_pen] = (char *)reply - running->ldm;
    wanted[swmock_pen] = value;
    while (*(volatile int *)reply < value)
        stop(WAITING);
    if (*(volatile int *)reply > value)
        fail("rma", "more boxes have come than are waited for");
}

void *swmock_aligned(const void *place, long bytes)
{
    inside_ldm(place, bytes);
    if ((uintptr_t)place % (uintptr_t)bytes)
        fail("ldm", "a vector that is not aligned");
    return (void *)place;
}

/* Along the way of a message all others take it; it is kept in few places until they do. */
void swmock_send(const void *value, long length, int column)
{
    column_of[swmock_pen] = column;
    while (!has_room(swmock_pen, column))
        stop(SENDING);
    for (int k = 0; k < CPES; k++) {
        struct queue *queue = &queues[column][k];
        if (gets_it(k, swmock_pen, column))
            memcpy(queue->slots[(queue->first + queue->used++) % DEPTH], value, (size_t)length);
    }
}

void swmock_receive(void *value, long length, int column)
{
    struct queue *queue = &queues[column][swmock_pen];

    column_of[swmock_pen] = column;
    while (!queue->used)
        stop(RECEIVING);
    memcpy(value, queue->slots[queue->first], (size_t)length);
    queue->first = (queue->first + 1) % DEPTH;
    queue->used--;
}

static void check_no_messages(void)
{
    for (int k = 0; k < 2 * CPES; k++)
        if (queues[k / CPES][k % CPES].used)
            fail("messages", "the kernel ends before all messages are received");
}

void swmock_spawn(void (*kernel)(void *), void *argument)
{
    long used = running->end - running->ldm;

    here = (const unsigned char *)&used;
    spawns++;
    spawned = kernel;
    passed = argument;
    for (int pen = 0; pen < CPES; pen++) {
        states[pen] = FRESH;
        if (!running->shares)
            continue;
        if (!own[pen])
            own[pen] = malloc((size_t)used);
        if (!own[pen])
            fail("harness", "out of memory");
        memset(own[pen], 0xa5, (size_t)used);
    }
    while (count_of(ENDED) < CPES) {
        if (round_of_turns(used))
            continue;
        if (box_count && count_of(MEETING) < CPES) {
            deliver_boxes();
            continue;
        }
        if (count_of(MEETING) < CPES)
            fail("hang", count_of(WAITING)                         ? "a wait without end"
                         : count_of(SENDING) + count_of(RECEIVING) ? "messages that are not sent or received"
                                                                   : "a barrier that not all CPEs come to");
        for (int pen = 0; pen < CPES; pen++)
            states[pen] = READY;
    }
    if (box_count)
        fail("rma", "the kernel ends before what was handed on has arrived");
    check_no_messages();
}

static void check_memory(const void *memory, long first, long last, int put)
{
    const unsigned char *low = (const unsigned char *)memory + first, *high = (const unsigned char *)memory + last;

    for (int k = 0; k < thing_count; k++) {
        const unsigned char *data = things[k].generated;
        const unsigned char *end = data + ZONE + things[k].bytes + (put ? 0 : -things[k].bytes % 4 + 4) % 4;
        if (low >= data && high <= data + things[k].bytes + 2 * ZONE) {
            if (low < data + ZONE || high > end) /* a get may take in the rest of the last word */
                fail("bounds", put ? "a put leaves its array" : "a get leaves its array");
            return;
        }
    }
    if (put && (low < here || low > here + 65536)) /* region-local arrays are on the host's stack */
        fail("bounds", "a put to no array");
}

static void check(const void *memory, const void *ldm, long length, long stride, long block, int put)
{
    const char *low = ldm;
    long blocks = stride && block ? length / block : 1;

    if (length <= 0)
        fail("dma", "a length that is not positive");
    if (length % 4 || stride % 4 || block % 4 || (uintptr_t)memory % 4 || (uintptr_t)ldm % 4)
        fail("dma", "not a multiple of 4");
    if (stride && (block <= 0 || length % block || stride < 0))
        fail("dma", "blocks do not make up the length");
    if (low < running->ldm || low + length > running->end)
        fail("ldm", "a transfer leaves the LDM");
    check_memory(memory, 0, length + (blocks - 1) * stride, put);
}

int swmock_get(const void *memory, void *ldm, long length, void *reply, long stride, long block)
{
    const char *from = memory;
    char *to = ldm;

    check(memory, ldm, length, stride, block, 0);
    if (!stride)
        block = length;
    for (long done = 0; done < length; done += block, from += block + stride)
        memcpy(to + done, from, (size_t)block);
    ++*(volatile int *)reply;
    return 0;
}

int swmock_put(const void *ldm, void *memory, long length, void *reply, long stride, long block)
{
    const char *from = ldm;
    char *to = memory;

    check(memory, ldm, length, stride, block, 1);
    if (!stride)
        block = length;
    for (long done = 0; done < length; done += block, to += block + stride)
        memcpy(to, from + done, (size_t)block);
    ++*(volatile int *)reply;
    return 0;
}

void athread_dma_barrier(void) {}

void swmock_wait(void *reply, int value)
{
    if (*(volatile int *)reply < value)
        fail("dma", "a wait without end");
}

/* -- the run ----------------------------------------------------------------------------------- */

static void died(int number)
{
    static const char hang[] = "hang: no end\n", crash[] = "crash: killed by a signal\n";
    const char *text = number == SIGALRM ? hang : crash;

    if (write(1, text, strlen(text)) < 0 || write(1, "", 0) < 0)
        _exit(5);
    _exit(4);
}

static void run(const struct program *p, int seconds)
{
    signal(SIGALRM, died);
    signal(SIGSEGV, died);
    signal(SIGFPE, died);
    signal(SIGBUS, died);
    signal(SIGABRT, died);
    alarm((unsigned)seconds);
    running = p;
    for (int c = 0; c < p->cases; c++)
        for (order = 0; order < 3; order++) {
            current_n = p->sizes[c][0];
            current_m = p->sizes[c][1];
            thing_count = 0;
            p->run(current_n, current_m);
            compare();
            for (int k = 0; k < thing_count; k++) {
                free(things[k].reference);
                free(things[k].generated);
            }
        }
    printf("ok %ld\n", spawns);
    fflush(stdout);
    _exit(0);
}

int main(int count, char **words)
{
    int seconds = count > 1 ? atoi(words[1]) : 10;

    for (int i = 0; i < program_count; i++) {
        int wanted = count <= 2, status;
        for (int k = 2; k < count; k++)
            wanted |= strcmp(words[k], programs[i].name) == 0;
        if (!wanted)
            continue;
        printf("%s ", programs[i].name);
        fflush(stdout);
        if (fork() == 0)
            run(&programs[i], seconds);
        wait(&status);
    }
    return 0;
}
