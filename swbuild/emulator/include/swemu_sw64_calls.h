/* How C text made from assembly keeps its registers and calls: one file of registers for a CPE (or the host). */
#ifndef SWEMU_SW64_CALLS_H
#define SWEMU_SW64_CALLS_H
#pragma GCC system_header

#include <swemu_sw64.h>

#define SW64_REGISTERS 64

struct sw64_cpu {
    unsigned long frames; /* the box's stack that C made from assembly takes; the runtime looks at it: it comes first */
    const char *mark;     /* the end of what is counted of it */
    sw64_reg r[SW64_REGISTERS];
    unsigned long back;      /* the address that the last call left for its return */
    unsigned long low, room; /* the stack that assembly has, of which $sp must not run out */
    unsigned long known;     /* bit n: register n has a value; looked at by checked mode */
};

/* Not looked at by checked mode: registers are no memory. */
#define SW64_HIDDEN static inline __attribute__((no_sanitize("thread"), unused))
SW64_HIDDEN sw64_reg sw64_get(const struct sw64_cpu *cpu, int n) { return cpu->r[n]; }
SW64_HIDDEN void sw64_put(struct sw64_cpu *cpu, int n, sw64_reg value) { cpu->r[n] = value; }
SW64_HIDDEN unsigned long sw64_back(const struct sw64_cpu *cpu) { return cpu->back; }
SW64_HIDDEN void sw64_call(struct sw64_cpu *cpu, unsigned long back) { cpu->back = back; }
SW64_HIDDEN unsigned long sw64_low(const struct sw64_cpu *cpu) { return cpu->low; }
SW64_HIDDEN unsigned long sw64_room(const struct sw64_cpu *cpu) { return cpu->room; }

SW64_HIDDEN unsigned long sw64_known(const struct sw64_cpu *cpu) { return cpu->known; }
SW64_HIDDEN void sw64_know(struct sw64_cpu *cpu, unsigned long known) { cpu->known = known; }

/* The frame of a unit is none of the CPE's. */
struct sw64_frame {
    struct sw64_cpu *cpu;
    unsigned long frames;
    const char *mark;
};
SW64_HIDDEN struct sw64_frame sw64_enter(struct sw64_cpu *cpu, const char *here)
{
    struct sw64_frame before = {cpu, cpu->frames, cpu->mark};
    cpu->frames += (unsigned long)(cpu->mark - here);
    cpu->mark = here;
    return before;
}
SW64_HIDDEN void sw64_leave(struct sw64_frame *before)
{
    if (before->cpu) {
        before->cpu->frames = before->frames;
        before->cpu->mark = before->mark;
    }
}

/* An instruction reads or writes registers, or copies one with or without a value. */
#define SW64_READS(name, mask)                                                                                         \
    if (SW64_CHECKED && ((mask) & ~known)) { __swemu_sw64_unset(name, (mask) & ~known); known |= (mask); }
#define SW64_WRITES(mask) if (SW64_CHECKED) known |= (mask);
#define SW64_MOVES(from, to) if (SW64_CHECKED) known = (known & ~(1UL << (to))) | (known >> (from) & 1) << (to);
/* To and from places of the frame, by their numbers. */
#define SW64_SPILLS(from, to) if (SW64_CHECKED) spilled = (spilled & ~(1UL << (to))) | (known >> (from) & 1) << (to);
#define SW64_FILLS(from, to) if (SW64_CHECKED) known = (known & ~(1UL << (to))) | (spilled >> (from) & 1) << (to);

/* Places of the code whose addresses are taken: one byte each. */
extern char sw64_text[] __asm__(".Lsw64_text") __attribute__((visibility("hidden")));
#define SW64_PLACE(k) ((unsigned long)sw64_text + (k))

/* The line keeps calls apart that would else be one. */
extern void __swemu_sw64_lost(const char *function, const char *what, unsigned long target, unsigned line)
    __attribute__((noreturn));
extern void __swemu_sw64_stack(const char *function, unsigned long sp, unsigned long low, unsigned long room,
                               unsigned line) __attribute__((noreturn));
extern void __swemu_sw64_kept(const char *function, unsigned changed);
extern void __swemu_sw64_unset(const char *function, unsigned long registers);
extern void __swemu_relax(unsigned n, const volatile void *word);
#endif
