/* Register communication: finite FIFOs per CPE and direction. */
#include <stdlib.h>
#include <string.h>

#include "swemu.h"

#if HAS_REGISTERS
#define WIDTH REGISTER_BYTES
#define REACH(column) ((column) ? MESH_ROWS : MESH_COLUMNS)
#define MAX_DEPTH 256

struct fifo {
    int first, used;
    char slot[MAX_DEPTH][WIDTH];
};

static struct fifo fifos[2][SWEMU_MAX_CPES];

static int depth(void)
{
    static int known;
    if (!known) {
        const char *text = getenv("SWBUILD_EMU_FIFO");
        int n = text ? atoi(text) : 0;
        known = n > 0 && n <= MAX_DEPTH ? n : FIFO_DEPTH;
    }
    return known;
}

/* A message is what a register holds.  Four singles lie there as lanes in the form of doubles, as assembly that
 * sends or receives has them; any 16 bytes come back as they were. */
#define SINGLES 16

static uint64_t widened(uint32_t s)
{
    uint64_t low = s >> 23 & 0x7f;
    uint64_t exponent = s >> 30 & 1 ? (low == 0x7f ? 0x7ff : 0x400 | low) : (low ? 0x380 | low : 0);
    return (uint64_t)(s >> 31) << 63 | exponent << 52 | (uint64_t)(s & 0x7fffff) << 29;
}

static void into_register(char *slot, const void *value, int bytes)
{
    memset(slot, 0, WIDTH);
    if (bytes != SINGLES)
        memcpy(slot, value, (size_t)bytes);
    for (int k = 0; bytes == SINGLES && k < 4; k++) {
        uint32_t single;
        memcpy(&single, (const char *)value + 4 * k, 4);
        memcpy(slot + 8 * k, &(uint64_t){widened(single)}, 8);
    }
}

static void out_of_register(void *value, const char *slot, int bytes)
{
    if (bytes != SINGLES)
        memcpy(value, slot, (size_t)bytes);
    for (int k = 0; bytes == SINGLES && k < 4; k++) {
        uint64_t lane;
        memcpy(&lane, slot + 8 * k, 8);
        uint32_t single = (uint32_t)(lane >> 32 & 0xc0000000) | (uint32_t)(lane >> 29 & 0x3fffffff);
        memcpy((char *)value + 4 * k, &single, 4);
    }
}

static void post(const struct cpe *to, int column, const void *value, int bytes)
{
    struct fifo *f = &fifos[column][to->id];
    into_register(f->slot[(f->first + f->used++) % MAX_DEPTH], value, bytes);
}

static struct cpe *neighbour(const struct cpe *c, int pen) { return swemu.cpes[c->cg * SWEMU_CPES + pen]; }

static uint64_t receivers(const struct cpe *c, int target, int column)
{
    uint64_t all = 0;
    for (int k = 0; k < REACH(column); k++)
        if (target & 8 ? k != (column ? c->row : c->col) : k == (target & 7))
            all |= 1ULL << (column ? k * MESH_COLUMNS + c->col : c->row * MESH_COLUMNS + k);
    return all;
}

static bool room(const struct cpe *c, uint64_t to, int column)
{
    for (; to; to &= to - 1)
        if (fifos[column][c->cg * SWEMU_CPES + __builtin_ctzll(to)].used >= depth())
            return false;
    return true;
}

static const char *const put_names[] = {"putr (a receive buffer of the row is full)",
                                        "putc (a receive buffer of the column is full)"};
static const char *const get_names[] = {"getr (nothing has been sent)", "getc (nothing has been sent)"};

void __swemu_reg_send(const void *value, int bytes, int target, int column);
void __swemu_reg_send(const void *value, int bytes, int target, int column)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter_message(pc);
    uint64_t to = receivers(c, target, column);
    swemu_site(c, pc, OP_SEND)->calls++;
    swemu_trace_reg(c, pc, true, column, to, bytes);
    swemu_check_send(c, to, column);
    swemu_lock();
    c->waits_room = to;
    c->waits_column = column;
    while (!room(c, to, column))
        swemu_sched_block(c, put_names[column], pc);
    c->waits_room = 0;
    for (uint64_t left = to; left; left &= left - 1)
        post(neighbour(c, __builtin_ctzll(left)), column, value, bytes);
    c->asleep[column] |= to;
    if (swemu.baton)
        swemu_regcomm_tell(c);
    swemu_unlock();
}

static void wake_senders(const struct cpe *c)
{
    for (int k = 0; k < SWEMU_CPES; k++) {
        struct cpe *sender = neighbour(c, k);
        if (sender->waits_room >> c->pen & 1 && room(sender, sender->waits_room, sender->waits_column))
            swemu_sched_wake(sender);
    }
}

/* Wake who waits for what this CPE has sent, or for the room of what it has received.  In eager mode that is not
 * done for each message but when the CPE turns to something else, so that threads change places less often. */
void swemu_regcomm_tell(struct cpe *c)
{
    for (int column = 0; column < 2; column++) {
        for (uint64_t left = c->asleep[column]; left; left &= left - 1)
            swemu_sched_wake(neighbour(c, __builtin_ctzll(left)));
        c->asleep[column] = 0;
    }
    if (c->room_untold)
        wake_senders(c);
    c->room_untold = false;
}

void __swemu_reg_receive(void *value, int bytes, int column);
void __swemu_reg_receive(void *value, int bytes, int column)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter_message(pc);
    struct fifo *f = &fifos[column][c->id];
    swemu_site(c, pc, OP_RECV)->calls++;
    swemu_trace_reg(c, pc, false, column, 0, bytes);
    swemu_lock();
    while (!f->used)
        swemu_sched_block(c, get_names[column], pc);
    out_of_register(value, f->slot[f->first], bytes);
    f->first = (f->first + 1) % MAX_DEPTH;
    f->used--;
    c->room_untold = true;
    if (swemu.baton)
        swemu_regcomm_tell(c);
    swemu_unlock();
    swemu_check_receive(c, column);
}

/* At the end of a kernel nothing may be left in the FIFOs of its CPEs. */
void swemu_regcomm_leave(struct cpe *c)
{
    for (int column = 0; column < 2; column++)
        if (fifos[column][c->id].used) {
            int left = fifos[column][c->id].used;
            fifos[column][c->id] = (struct fifo){0};
            swemu_warn(c, c->pc, "SW650", "receive as often as is sent",
                       "%d message%s of register communication (%s) %s never received", left, left == 1 ? "" : "s",
                       column ? "column" : "row", left == 1 ? "was" : "were");
        }
}
#else
void swemu_regcomm_leave(struct cpe *c) { (void)c; }
void swemu_regcomm_tell(struct cpe *c) { (void)c; }
#endif
