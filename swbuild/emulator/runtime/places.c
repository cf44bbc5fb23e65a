/* Checked mode: which bytes of the LDM belong to what, and which words other CPEs may touch.
 *
 * Slave code built for checked mode has red zones between its variables, and ldm_malloc leaves one behind
 * each block.  Words of other CPEs' interest are watched: all accesses of them go through the shadow that
 * finds races.  Any variable may be, so each is watched at first; one that a CPE has touched often while
 * no transfer of another CPE did is its own from then on, or until such a transfer comes.
 */
#define _GNU_SOURCE
#include <string.h>

#include "check.h"

enum { PATIENCE = 4096, PATIENCE_PER_WORD = 4 };

static void set_flags(struct cpe *c, const char *lo, const char *hi, uint8_t flag)
{
    const char *word = (const char *)((uintptr_t)lo & ~(uintptr_t)3);
    uint8_t *flags = swemu_check_flags(c, word, 1);
    if (!flags)
        return;
    swemu_fetched_close(c, flags, word, (size_t)(hi - word + 3) / 4);
    swemu_change_flags(flags, (size_t)(hi - word + 3) / 4, 0xff, flag);
    swemu_shadow_close(word, (size_t)(hi - word));
}

static void clear_flags(struct cpe *c, const char *lo, const char *hi, uint8_t flag)
{
    const char *word = (const char *)((uintptr_t)lo & ~(uintptr_t)3);
    uint8_t *flags = swemu_check_flags(c, word, 1);
    if (flags)
        swemu_change_flags(flags, (size_t)(hi - word + 3) / 4, (uint8_t)~flag, 0);
}

/* The word in which something ends that is no multiple of 4 bytes has to be looked at each time. */
static void mark_end(struct cpe *c, const char *hi)
{
    if ((uintptr_t)hi % 4)
        set_flags(c, hi - (uintptr_t)hi % 4, hi, IN_PART);
}

void swemu_places_setup(struct cpe *c)
{
    c->check->patience = swemu_zeroed((swemu_variable_count() + 1) * sizeof *c->check->patience);
    for (size_t k = 0; k < swemu_variable_count(); k++) {
        const struct variable *v = swemu_variable(k);
        set_flags(c, c->statics + v->lo, c->statics + v->hi, v->kind == ZONE ? NO_PLACE : WATCHED);
        c->check->patience[k] = PATIENCE + PATIENCE_PER_WORD * (long)((v->hi - v->lo) / 4);
        if (v->kind == VARIABLE)
            mark_end(c, c->statics + v->hi);
    }
    memset(c->check->heap, NO_PLACE, sizeof c->check->heap);
}

/* ldm_malloc has given a block, or ldm_free has taken it back. */
void swemu_check_block(struct cpe *c, const char *p, size_t size, bool given)
{
    if (!swemu.checked)
        return;
    clear_flags(c, p, p + size, NO_PLACE | IN_PART | WATCHED);
    if (given) {
        mark_end(c, p + size);
    } else {
        swemu_fetched_gone(c, p, p + size);
        set_flags(c, p, p + size, NO_PLACE);
    }
}

static void overrun(struct cpe *c, const char *what, const void *p, size_t n, const char *of, const char *lo,
                    const char *hi, uintptr_t pc)
{
    char where[64];
    if ((const char *)p >= hi)
        snprintf(where, sizeof where, "%zu bytes behind", (size_t)((const char *)p - hi));
    else if ((const char *)p < lo)
        snprintf(where, sizeof where, "%zu bytes ahead of", (size_t)(lo - (const char *)p));
    else
        snprintf(where, sizeof where, "from byte %zu of", (size_t)((const char *)p - lo));
    swemu_fault(c, pc, "SW623", "compare the subscript or the length with the declaration",
                "%s %zu bytes of LDM %s %s of %zu bytes: out of bounds", what, n, where, of, (size_t)(hi - lo));
}

static void check_variable(struct cpe *c, const char *p, size_t n, const char *what, uintptr_t pc)
{
    char of[300];
    const struct variable *v = swemu_variable_at(c, p);
    if (v && v->kind == ZONE)
        v = swemu_variable_beside(v, (size_t)(p - c->statics));
    if (!v || v->kind == RUNTIME || (p >= c->statics + v->lo && p + n <= c->statics + v->hi))
        return;
    snprintf(of, sizeof of, "'%s'", v->name);
    overrun(c, what, p, n, of, c->statics + v->lo, c->statics + v->hi, pc);
}

static void check_heap(struct cpe *c, const char *p, size_t n, const char *what, uintptr_t pc)
{
    char *lo, *hi;
    bool found = swemu_ldm_block(c, p, &lo, &hi);
    if (found && p + n <= hi)
        return;
    if (found && p < hi + 64)
        overrun(c, what, p, n, "an ldm_malloc block", lo, hi, pc);
    swemu_fault(c, pc, "SW623", "use a block between its ldm_malloc and its ldm_free",
                "%s %zu bytes at %p of the ldm_malloc heap, where no block is (or no longer)", what, n, (void *)p);
}

/* Fault unless all n bytes are in one variable or one block; what the stack holds is not known. */
void swemu_check_extent(struct cpe *c, const void *p, size_t n, const char *what, uintptr_t pc)
{
    if (!swemu.checked)
        return;
    enum place where = swemu_ldm_place(c, p, 1);
    if (where == IN_STATICS)
        check_variable(c, p, n, what, pc);
    else if (where == IN_HEAP)
        check_heap(c, p, n, what, pc);
}

static void share_variable(struct variable *v)
{
    if (v->shared || v->kind != VARIABLE)
        return;
    v->shared = true;
    for (int k = 0; k < swemu.count; k++)
        set_flags(swemu.cpes[k], swemu.cpes[k]->statics + v->lo, swemu.cpes[k]->statics + v->hi, WATCHED);
}

/* A transfer of another CPE is about to touch these bytes of c's LDM. */
void swemu_places_share(struct cpe *c, const void *p, size_t len)
{
    enum place where = swemu_ldm_place(c, p, len);
    struct variable *v = where == IN_STATICS ? swemu_variable_at(c, p) : NULL;
    if (v)
        share_variable(v);
    else if (where == IN_HEAP || where == IN_STATICS)
        set_flags(c, p, (const char *)p + len, WATCHED);
}

static void spend(struct cpe *c, const void *p, size_t n)
{
    const struct variable *v = swemu_ldm_place(c, p, 1) == IN_STATICS ? swemu_variable_at(c, p) : NULL;
    if (!v || v->shared)
        return;
    long *left = &c->check->patience[v - swemu_variable(0)];
    *left -= (long)(n + 3) / 4;
    if (*left < 0)
        clear_flags(c, c->statics + v->lo, c->statics + v->hi, WATCHED);
}

/* The CPE itself touches its LDM: note that where it is watched, and return whether it is a race. */
bool swemu_places_touch(struct cpe *c, const void *p, size_t n, int kind, uintptr_t pc)
{
    const uint8_t *flags = swemu_check_flags(c, (const void *)((uintptr_t)p & ~(uintptr_t)3), 1);
    if (!flags || !(*flags & WATCHED))
        return false;
    bool raced = swemu_check_memory(c, p, n, kind, pc, true);
    spend(c, p, n);
    return raced;
}
