/* The LDM of a CPE: thread-local statics, the kernel's stack, and the ldm_malloc heap.
 *
 * Statics are the thread-local block of the executable, or of the shared library that was linked from slave code,
 * so one offset names one variable on all CPEs.
 * The heap lies behind the statics; the stack comes down from the end of the LDM.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

struct ldm_block {
    struct ldm_block *next;
    size_t offset, size;
};

/* Whether this runtime is a part of the object. */
static int is_ours(const struct dl_phdr_info *info)
{
    uintptr_t here = (uintptr_t)&swemu;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && here >= lo && here < lo + p->p_memsz)
            return 1;
    }
    return 0;
}

static int find_statics(struct dl_phdr_info *info, size_t size, void *data)
{
    struct cpe *c = data;
    (void)size;
    if (!is_ours(info))
        return 0;
    for (int k = 0; k < info->dlpi_phnum; k++)
        if (info->dlpi_phdr[k].p_type == PT_TLS) {
            c->statics = info->dlpi_tls_data;
            c->statics_size = info->dlpi_phdr[k].p_memsz;
            c->statics_init = info->dlpi_phdr[k].p_filesz;
        }
    return 1;
}

#if !HAS_CRTS
/* Return where the host finds the variable of a CPE that lies at `own` for the calling thread. */
unsigned long __swemu_host_view(const volatile void *own, int pe, int group);
unsigned long __swemu_host_view(const volatile void *own, int pe, int group)
{
    struct cpe here = {0};
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    (void)group; /* a process has one, whatever its number on the machine */
    dl_iterate_phdr(find_statics, &here);
    if (!swemu.initialised || pe < 0 || pe >= SWEMU_CPES)
        swemu_host_fault(pc, "SW616", "call athread_init first; CPEs have numbers from 0 to " TEXT(LAST_CPE),
                         "the LDM of CPE %d cannot be reached", pe);
    if ((uintptr_t)own - (uintptr_t)here.statics >= here.statics_size)
        swemu_host_fault(pc, "SW616", "declare it as `extern __thread` on the host",
                         "%p is not the host's copy of a __thread_local variable", (const void *)(uintptr_t)own);
    return (uintptr_t)swemu.cpes[pe]->statics + ((uintptr_t)own - (uintptr_t)here.statics);
}
#endif

static void poison(char *lo, char *hi)
{
    const uint64_t pattern = POISON;
    for (char *p = lo; p < hi; p++)
        *p = ((const char *)&pattern)[(uintptr_t)p % 8];
}

/* Return memory for a part of an LDM, or null.  Its addresses have 31 bits if such are free: on the machine they
 * have 16, and assembly keeps them in words. */
char *swemu_ldm_map(size_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, access = PROT_READ | PROT_WRITE;
#ifdef MAP_32BIT
    char *low = mmap(NULL, size, access, flags | MAP_32BIT, -1, 0);
    if (low != MAP_FAILED)
        return low;
#endif
    char *found = mmap(NULL, size, access, flags, -1, 0);
    return found == MAP_FAILED ? NULL : found;
}

/* On the CPE's own thread: find its LDM and poison what has no initialiser. */
void swemu_ldm_setup(struct cpe *c)
{
    dl_iterate_phdr(find_statics, c);
    c->heap = swemu_ldm_map(HEAP_BYTES);
    if (!c->heap)
        swemu_lacking("no memory for the LDM of a CPE", errno, "give more memory, or a higher limit (ulimit -v)");
    if (!swemu.poison)
        return;
    poison(c->statics + c->statics_init, c->statics + c->statics_size);
    poison(c->heap, c->heap + HEAP_BYTES);
}

/* Return the CPE in whose LDM or stack p lies, or null. */
const struct cpe *swemu_ldm_owner(const void *p)
{
    const char *a = p;
    for (int k = 0; k < swemu.count; k++) {
        const struct cpe *c = swemu.cpes[k];
        if ((a >= c->stack_lo && a < c->stack_hi) || (a >= c->heap && a < c->heap + HEAP_BYTES))
            return c;
    }
    return NULL;
}

/* What the statics take on the machine, which has no red zones between them. */
size_t swemu_ldm_static_size(const struct cpe *c) { return c->statics_size - swemu_zone_bytes(); }

static size_t spread(void) { return swemu.checked ? SWEMU_HEAP_SPREAD : 1; }

static size_t heap_bytes(void) { return spread() * LDM_BYTES; }

static size_t stack_now(const struct cpe *c, const void *sp)
{
    size_t depth = c->stack_top > (const char *)sp ? (size_t)(c->stack_top - (const char *)sp) : 0;
    size_t none = c->registers ? *(const unsigned long *)c->registers : 0; /* frames of C made from assembly */
    return depth > none ? depth - none : 0;
}

size_t swemu_ldm_peak(const struct cpe *c)
{
    return swemu_ldm_static_size(c) + c->heap_peak + (swemu.stack_in_ldm ? c->stack_peak : 0);
}

void swemu_ldm_check_size(struct cpe *c)
{
    size_t size = swemu_ldm_static_size(c);
    if (size > LDM_BYTES)
        swemu_host_fault(0, "SW620", "shrink the __thread_local arrays",
                         "the LDM variables take %zu bytes, the LDM of the " MACHINE_NAME " has %d", size, LDM_BYTES);
}

/* Note the depth of the stack at a call to the runtime and fault when it has run into the rest. */
void swemu_ldm_sample_stack(struct cpe *c, const void *sp, uintptr_t pc)
{
    size_t depth = stack_now(c, sp);
    if (LIKELY(depth <= c->stack_peak))
        return;
    c->stack_peak = depth;
    if (swemu.stack_in_ldm && swemu_ldm_static_size(c) + c->heap_used + depth > LDM_BYTES)
        swemu_fault(c, pc, "SW621", "shrink the LDM arrays, or run with the stack in main memory (bsub without -b)",
                    "LDM overflow: %zu bytes of variables, %zu of ldm_malloc and %zu of stack exceed %d",
                    swemu_ldm_static_size(c), c->heap_used, depth, LDM_BYTES);
}

/* Return in which part of this CPE's LDM [p, p + len) lies. */
enum place swemu_ldm_place(const struct cpe *c, const void *p, size_t len)
{
    const char *a = p;
    if (a >= c->statics && a + len <= c->statics + c->statics_size)
        return IN_STATICS;
    if (a >= c->heap && a + len <= c->heap + heap_bytes())
        return IN_HEAP;
    if (swemu.stack_in_ldm && a >= c->stack_lo && a + len <= c->stack_top)
        return IN_STACK;
    return NOWHERE;
}

/* Return the LDM address of p, as a number from 0; -1 when it is not in the LDM. */
long swemu_ldm_offset(const struct cpe *c, const void *p)
{
    const char *a = p;
    switch (swemu_ldm_place(c, p, 1)) {
    case IN_STATICS:
        return a - c->statics;
    case IN_HEAP:
        return (long)swemu_ldm_static_size(c) + (a - c->heap) / (long)spread();
    case IN_STACK:
        return LDM_BYTES - (c->stack_top - a);
    default:
        return -1;
    }
}

/* Return where the LDM address p of `from` lies in the LDM of `to`; null when p is not in the LDM. */
char *swemu_ldm_translate(const struct cpe *from, const struct cpe *to, const volatile void *p, size_t len)
{
    const char *a = (const char *)p;
    switch (swemu_ldm_place(from, a, len)) {
    case IN_STATICS:
        return to->statics + (a - from->statics);
    case IN_HEAP:
        return to->heap + (a - from->heap);
    case IN_STACK:
        return to->stack_top - (from->stack_top - a);
    default:
        return NULL;
    }
}

/* ---- ldm_malloc ---- */

static size_t room(const struct cpe *c, const void *sp)
{
    size_t used = swemu_ldm_static_size(c) + (swemu.stack_in_ldm ? stack_now(c, sp) : 0);
    return used < LDM_BYTES ? LDM_BYTES - used : 0;
}

static char *place(const struct cpe *c, const struct ldm_block *b) { return c->heap + b->offset * spread(); }

/* Find the block that p lies in, or behind which it lies; false without one. */
bool swemu_ldm_block(const struct cpe *c, const void *p, char **lo, char **hi)
{
    bool found = false;
    for (const struct ldm_block *b = c->blocks; b && place(c, b) <= (const char *)p; b = b->next) {
        *lo = place(c, b);
        *hi = *lo + b->size;
        found = true;
    }
    return found;
}

static size_t rounded(size_t size) { return (size + 63) & ~(size_t)63; }

void *slave_ldm_malloc(size_t size);
void *slave_ldm_malloc(size_t size)
{
    struct cpe *c = swemu_enter(CALLER(), "ldm_malloc");
    size_t end = room(c, __builtin_frame_address(0)), need = rounded(size), at = 0;
    struct ldm_block **link = &c->blocks;
    for (; *link && (*link)->offset - at < need; link = &(*link)->next)
        at = (*link)->offset + rounded((*link)->size);
    if (!size || at + need > end)
        return NULL;
    struct ldm_block *made = swemu_alloc(sizeof *made);
    *made = (struct ldm_block){*link, at, size};
    *link = made;
    if (at + need > c->heap_used)
        c->heap_used = at + need;
    if (c->heap_used > c->heap_peak)
        c->heap_peak = c->heap_used;
    swemu_check_block(c, place(c, made), size, true);
    return place(c, made);
}

static size_t heap_end(const struct cpe *c)
{
    size_t end = 0;
    for (struct ldm_block *b = c->blocks; b; b = b->next)
        end = b->offset + rounded(b->size);
    return end;
}

/* What is under way to or from the block would go to whatever is there next. */
static void refuse_transfers(struct cpe *c, const char *lo, size_t size, uintptr_t pc)
{
    char there[600];
    const struct xfer *head = &c->pending.head;
    for (const struct xfer *x = head->next; x && x != head; x = x->next) {
        const char *reply = (const char *)x->reply;
        if ((x->ldm >= lo + size || x->ldm + x->len <= lo) && (reply < lo || reply >= lo + size))
            continue;
        swemu_locate(x->pc, there, sizeof there);
        swemu_fault(c, pc, "SW661", "wait for the reply word before the block is freed",
                    "ldm_free of a block of %zu bytes, but the transfer of it started at %s is still under way", size,
                    there);
    }
}

void slave_ldm_free(void *p, size_t size);
void slave_ldm_free(void *p, size_t size)
{
    struct cpe *c = swemu_enter(CALLER(), "ldm_free");
    for (struct ldm_block **link = &c->blocks; *link; link = &(*link)->next) {
        struct ldm_block *b = *link;
        if (place(c, b) != p)
            continue;
        if (b->size != size)
            swemu_fault(c, CALLER(), "SW622", "pass the size that was given to ldm_malloc",
                        "ldm_free of %zu bytes, but ldm_malloc gave %zu", size, b->size);
        refuse_transfers(c, p, size, CALLER());
        *link = b->next;
        poison(p, (char *)p + size);
        swemu_check_block(c, p, size, false);
        swemu_release(b);
        c->heap_used = heap_end(c);
        return;
    }
    swemu_fault(c, CALLER(), "SW622", "free each block once, by the address that ldm_malloc gave",
                "ldm_free of %p, which ldm_malloc has not given (or which is free)", p);
}

/* Say what p is a part of. */
void swemu_ldm_describe(const struct cpe *c, const void *p, char *buffer, size_t size)
{
    const char *a = p;
    char *lo, *hi;
    enum place where = swemu_ldm_place(c, p, 1);
    if (where == IN_STATICS && swemu_variable_at(c, p)) {
        const struct variable *v = swemu_variable_at(c, p);
        snprintf(buffer, size, "byte %zu of '%s' (%zu bytes)", (size_t)(a - c->statics) - v->lo, v->name, v->hi - v->lo);
    } else if (where == IN_HEAP && swemu_ldm_block(c, p, &lo, &hi) && a < hi) {
        snprintf(buffer, size, "byte %ld of an ldm_malloc block of %ld bytes", (long)(a - lo), (long)(hi - lo));
    } else {
        snprintf(buffer, size, "LDM %#lx", (unsigned long)swemu_ldm_offset(c, p));
    }
}

size_t slave_get_allocatable_size(void);
size_t slave_get_allocatable_size(void)
{
    struct cpe *c = swemu_enter(CALLER(), "get_allocatable_size");
    size_t end = room(c, __builtin_frame_address(0));
    return end > c->heap_used ? end - c->heap_used : 0;
}
