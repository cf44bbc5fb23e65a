/* What C text made from assembly asks for: its registers, and the reports of what it does against the rules. */
#include <string.h>

#include "swemu.h"

/* Return the registers of the calling CPE, or of the host: zeroed storage that stays. */
void *__swemu_sw64_cpu(unsigned long bytes);
void *__swemu_sw64_cpu(unsigned long bytes)
{
    static void *host;
    void **mine = swemu_self ? &swemu_self->registers : &host;
    if (!*mine)
        *mine = swemu_zeroed(bytes);
    return *mine;
}

void __swemu_sw64_lost(const char *function, const char *what, unsigned long target, unsigned line)
    __attribute__((noreturn));
void __swemu_sw64_lost(const char *function, const char *what, unsigned long target, unsigned line)
{
    (void)line;
    if (!swemu_self)
        swemu_host_fault(CALLER(), "SW682", "", "%s %s: %#lx", function, what, target);
    swemu_fault(swemu_self, CALLER(), "SW682", "a function returns to what its caller left in $26", "%s %s: %#lx",
                function, what, target);
}

void __swemu_sw64_stack(const char *function, unsigned long sp, unsigned long low, unsigned long room, unsigned line)
    __attribute__((noreturn));
void __swemu_sw64_stack(const char *function, unsigned long sp, unsigned long low, unsigned long room, unsigned line)
{
    (void)line;
    const char *hint = "what a function takes from $sp it gives back; calls of a function by itself have 16384 bytes";
    if (!swemu_self)
        swemu_host_fault(CALLER(), "SW682", hint, "$sp of %s is %#lx, outside its stack from %#lx on of %lu bytes",
                         function, sp, low, room);
    swemu_fault(swemu_self, CALLER(), "SW682", hint,
                "$sp of %s is %ld bytes %s its stack of %lu bytes", function,
                sp < low ? (long)(low - sp) : (long)(sp - low - room), sp < low ? "below" : "above", room);
}

/* Bit k of `registers` is for register $k. */
void __swemu_sw64_unset(const char *function, unsigned long registers);
void __swemu_sw64_unset(const char *function, unsigned long registers)
{
    char names[400] = "";
    for (int k = 0; k < 64; k++)
        if (registers >> k & 1)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s$%d", *names ? " and " : "", k);
    if (!swemu_reported("SW681", CALLER(), 0))
        swemu_problem(swemu_self, CALLER(), "SW681",
                      "arguments come in $16 to $21; a call leaves only $9 to $15 and its result in $0",
                      "%s reads %s, to which nothing has been written", function, names);
}

/* Bit k of `changed` is for register $9 + k; $sp is the last one. */
void __swemu_sw64_kept(const char *function, unsigned changed);
void __swemu_sw64_kept(const char *function, unsigned changed)
{
    char names[64] = "";
    for (int k = 0; k < 32; k++)
        if (changed >> k & 1)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s$%s%.0d", *names ? ", " : "",
                     k == 21 ? "sp" : "", k == 21 ? 0 : k + 9);
    if (!swemu_reported("SW680", CALLER(), 0))
        swemu_problem(swemu_self, CALLER(), "SW680",
                      "save them to the stack first and load them again: $9 to $15 and $sp are the caller's",
                      "%s returns with other values in %s than it was called with", function, names);
}
