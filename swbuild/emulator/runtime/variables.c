/* The LDM variables of slave code, by name, and the red zones that checked code lays between them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define ZONE_NAME "__swemu_zone" /* driver/checks.py gives it to them */

static struct variable *variables;
static size_t variable_count;
static size_t zone_bytes;
static const char *own[] = {"swemu_self", "_MYID", "_CGN", "_ROW", "_COL", "_PEN", "__swemu_count_area", "__swemu_top",
                            "__swemu_host"};

static void count(const Elf64_Sym *symbol, const char *name, void *data)
{
    (void)name;
    *(size_t *)data += ELF64_ST_TYPE(symbol->st_info) == STT_TLS && symbol->st_shndx != SHN_UNDEF;
}

static void take(const Elf64_Sym *symbol, const char *name, void *data)
{
    (void)data;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_TLS || symbol->st_shndx == SHN_UNDEF || !symbol->st_size)
        return;
    struct variable *v = &variables[variable_count++];
    *v = (struct variable){symbol->st_value, symbol->st_value + symbol->st_size, name, VARIABLE, false};
    if (!strncmp(name, ZONE_NAME, strlen(ZONE_NAME))) {
        v->kind = ZONE;
        zone_bytes += symbol->st_size;
    }
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (!strcmp(name, own[k]))
            v->kind = RUNTIME;
}

static int by_offset(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Read the names, once; none without a symbol table, and for a library of kernels. */
void swemu_variables_load(void)
{
    size_t n = 0;
    if (swemu_in_program())
        swemu_each_symbol(count, &n);
    if (!n)
        return;
    variables = swemu_zeroed(n * sizeof *variables);
    swemu_each_symbol(take, NULL);
    qsort(variables, variable_count, sizeof *variables, by_offset);
}

/* What the red zones add to the statics, which the machine does not have. */
size_t swemu_zone_bytes(void) { return zone_bytes; }

size_t swemu_variable_count(void) { return variable_count; }

struct variable *swemu_variable(size_t number) { return &variables[number]; }

/* Return the last variable (or zone) that begins at p of this CPE's statics or ahead of it; null without one. */
struct variable *swemu_variable_at(const struct cpe *c, const void *p)
{
    size_t at = (size_t)((const char *)p - c->statics), lo = 0, hi = variable_count;
    while (lo < hi) {
        size_t middle = (lo + hi) / 2;
        if (variables[middle].lo <= at)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo ? &variables[lo - 1] : NULL;
}

/* Return the variable of which byte `at` of the statics, which a zone has, is nearest. */
const struct variable *swemu_variable_beside(const struct variable *zone, size_t at)
{
    const struct variable *below = zone, *above = zone, *last = variables + variable_count - 1;
    while (below > variables && below->kind == ZONE)
        below--;
    while (above < last && above->kind == ZONE)
        above++;
    if (below->kind != VARIABLE || (above->kind == VARIABLE && above->lo - at < at - below->hi))
        return above->kind == VARIABLE ? above : NULL;
    return below;
}
