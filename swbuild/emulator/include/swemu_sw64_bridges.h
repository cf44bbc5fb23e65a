/* What the C between assembly and C is made of (swbuild/sw64/bridges.py). */
#ifndef SWEMU_SW64_BRIDGES_H
#define SWEMU_SW64_BRIDGES_H
#pragma GCC system_header

#include <swemu_sw64_calls.h>

struct sw64_known {
    void *address;
    void (*function)(struct sw64_cpu *cpu);
};

#ifdef __swemu_slave__
extern void *__swemu_sw64_cpu(unsigned long bytes);
#else
static struct sw64_cpu sw64_host;
#define __swemu_sw64_cpu(bytes) ((void *)&sw64_host)
int dprintf(int file, const char *format, ...); /* no header: the program's functions are declared here */
/* A program without an emulated core group has no runtime. */
__attribute__((weak, noreturn)) void __swemu_sw64_lost(const char *function, const char *what, unsigned long target,
                                                        unsigned line)
{
    dprintf(2, "line %u: error[SW682]: %s %s: %#lx\n", line, function, what, target);
    __builtin_exit(86);
}
__attribute__((weak, noreturn)) void __swemu_sw64_stack(const char *function, unsigned long sp, unsigned long low,
                                                         unsigned long room, unsigned line)
{
    dprintf(2, "line %u: error[SW682]: $sp of %s is %#lx, outside its stack from %#lx on of %lu bytes\n", line, function,
            sp, low, room);
    __builtin_exit(86);
}
__attribute__((weak)) void __swemu_sw64_kept(const char *function, unsigned changed) { (void)function, (void)changed; }
__attribute__((weak)) void __swemu_sw64_unset(const char *function, unsigned long registers)
{
    (void)function, (void)registers;
}
__attribute__((weak)) void __swemu_unaligned(const volatile void *p, unsigned long alignment)
{
    dprintf(2, "error[SW671]: an access of %p, which is not a multiple of %lu\n", (const void *)p, alignment);
    __builtin_exit(86);
}
__attribute__((weak)) void __swemu_memb(void) { __sync_synchronize(); }
__attribute__((weak)) void __swemu_relax(unsigned n, const volatile void *word) { (void)n, (void)word; }
#endif

/* Ahead of a call of assembly: the stack below `stack`, the arguments beyond the sixth from it on. */
#define SW64_ENTER(need, slots, set, function)                                                                         \
    struct sw64_cpu *cpu = __swemu_sw64_cpu(sizeof *cpu);                                                              \
    char room[(need) + 8 * (slots) + 128] __attribute__((aligned(64)));                                                \
    char *stack = room + ((need) + 63) / 64 * 64;                                                                      \
    __builtin_memset(room, 0, sizeof room);                                                                            \
    const unsigned long sp = cpu->r[30].u, back = cpu->back, low = cpu->low, size = cpu->room;                         \
    const unsigned long known = cpu->known;                                                                            \
    const char *mark = cpu->mark;                                                                                      \
    cpu->mark = room;                                                                                                  \
    cpu->known = (set);                                                                                                \
    cpu->low = (unsigned long)room;                                                                                    \
    cpu->room = (unsigned long)(stack - room);                                                                         \
    cpu->r[30].u = (unsigned long)stack;                                                                               \
    cpu->r[27].u = (unsigned long)(void *)function;                                                                    \
    cpu->r[26].u = cpu->back = (unsigned long)(void *)function + 1;

#define SW64_LEAVE                                                                                                     \
    cpu->r[30].u = sp;                                                                                                 \
    cpu->back = back;                                                                                                  \
    cpu->low = low;                                                                                                    \
    cpu->mark = mark;                                                                                                  \
    cpu->known = known;                                                                                                \
    cpu->room = size;

enum { SW64_SLOTS = 48 };

/* The arguments behind the first `fixed`, as slots of 8 bytes.  Where floating point has registers of its own
 * (`floats` further), the format tells which of the two holds one.  An L means nothing: long double has 8 bytes. */
static void sw64_slots(const struct sw64_cpu *cpu, char *format, unsigned long *slots, int fixed, int floats)
{
    const unsigned long *above = (const unsigned long *)cpu->r[30].u;
    long left = (long)(cpu->low + cpu->room + 64 - cpu->r[30].u) / 8;
    for (int k = fixed; k < SW64_SLOTS; k++)
        slots[k - fixed] = k < 6 ? cpu->r[16 + k].u : k - 6 < left ? above[k - 6] : 0;
    char *to = format;
    int k = fixed;
    for (char *at = format; *at; at++) {
        *to++ = *at;
        if (*at != '%')
            continue;
        if (at[1] == '%') {
            *to++ = *++at;
            continue;
        }
        while (at[1] && !__builtin_strchr("diouxXcspnaAeEfFgG[", at[1])) {
            k += at[1] == '*';
            if (*++at != 'L')
                *to++ = *at;
        }
        if (floats && k < 6 && at[1] && __builtin_strchr("aAeEfFgG", at[1]))
            slots[k - fixed] = cpu->r[floats + 16 + k].u;
        k++;
    }
    *to = 0;
}

/* How this box lists arguments: all of them lie in memory, in slots of 8 bytes. */
#ifdef __x86_64__
struct sw64_list {
    unsigned general, floating;
    void *above, *save;
};
#define SW64_ALL {48, 176, slots, slots}
#else
struct sw64_list {
    void *above, *general_end, *floating_end;
    int general, floating;
};
#define SW64_ALL {slots, slots, slots, 0, 0}
#endif

/* The same as the list that a function such as vprintf takes; its format is the last argument ahead of them. */
#define SW64_LIST(fixed, floats)                                                                                       \
    unsigned long slots[SW64_SLOTS];                                                                                   \
    char format[__builtin_strlen((const char *)cpu->r[16 + (fixed) - 1].u) + 1];                                       \
    __builtin_strcpy(format, (const char *)cpu->r[16 + (fixed) - 1].u);                                                \
    sw64_slots(cpu, format, slots, fixed, floats);                                                                     \
    struct sw64_list parts = SW64_ALL;                                                                                 \
    __builtin_va_list list;                                                                                            \
    __builtin_memcpy(&list, &parts, sizeof list);

#endif
