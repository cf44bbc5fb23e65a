/* The counted multiply-add of the SW26010-Pro, as public programs use it: by its control registers it multiplies
 * one element of its first operand after the other, and stores rows at an address that advances.
 *
 * 0x92: its low word is how often an element comes again; writing it starts with element 0 anew.  Its high word
 * is 0 or 8 wherever it is known.  0x90: where the next row is stored; 0x91: the distance between rows.
 */
#include "swemu.h"

#if HAS_CRTS
#define ELEMENTS 8
#define ROW_ADDRESS 0x90
#define ROW_DISTANCE 0x91
#define INTERVAL 0x92

struct lenma {
    long csr[3];
    unsigned char set[3];
    unsigned long count;
};

static struct lenma all[SWEMU_MAX_CPES];

static void need(struct cpe *c, int number, uintptr_t pc)
{
    if (!all[c->id].set[number - ROW_ADDRESS])
        swemu_fault(c, pc, "SW683", "write the control register first (wcsr)",
                    "a counted multiply-add needs control register %#x, which has not been written", number);
}

/* The element that the next instruction multiplies. */
int __swemu_element(void);
int __swemu_element(void)
{
    struct cpe *c = swemu_enter(CALLER(), "vlenma");
    need(c, INTERVAL, CALLER());
    struct lenma *l = &all[c->id];
    unsigned long again = (unsigned long)l->csr[INTERVAL - ROW_ADDRESS] & 0xffffffff;
    return (int)(l->count++ / (again + 1) % ELEMENTS);
}

/* Where the next row is stored. */
unsigned long __swemu_row(void);
unsigned long __swemu_row(void)
{
    struct cpe *c = swemu_enter(CALLER(), "vlenmas");
    need(c, ROW_ADDRESS, CALLER());
    need(c, ROW_DISTANCE, CALLER());
    struct lenma *l = &all[c->id];
    unsigned long row = (unsigned long)l->csr[0];
    l->csr[0] += l->csr[ROW_DISTANCE - ROW_ADDRESS];
    return row;
}

void __swemu_set_csr(int number, long value);
void __swemu_set_csr(int number, long value)
{
    struct cpe *c = swemu_enter(CALLER(), "wcsr");
    struct lenma *l = &all[c->id];
    unsigned long high = (unsigned long)value >> 32;
    if (number == INTERVAL && high && high != ELEMENTS)
        swemu_fault(c, CALLER(), "SW683", "known are 0 and 8 in its high word", "%#lx in control register %#x", value,
                    number);
    l->csr[number - ROW_ADDRESS] = value;
    l->set[number - ROW_ADDRESS] = 1;
    if (number == INTERVAL)
        l->count = 0;
}

long swemu_lenma_csr(const struct cpe *c, int number) { return all[c->id].csr[number - ROW_ADDRESS]; }
#else
long swemu_lenma_csr(const struct cpe *c, int number) { (void)c; (void)number; return 0; }
#endif
