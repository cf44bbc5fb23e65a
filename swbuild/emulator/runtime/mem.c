/* Main memory: which addresses a DMA may touch.
 *
 * Heap blocks are known exactly because the allocation functions pass through here; arrays of the
 * executable are known from its symbol table; anything else is known by mapping only.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "swemu.h"

/* ---- heap blocks: a treap ordered by address ---- */

struct node {
    char *lo;
    size_t size;
    struct node *left, *right;
    uint32_t rank;
};


static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *root, *spare;
static uint32_t rank_state = 12345;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static struct node *new_node(char *lo, size_t size)
{
    if (!spare) {
        enum { BATCH = 512 };
        struct node *more = __libc_malloc(BATCH * sizeof *more);
        if (!more)
            swemu_lacking("no memory for the list of the heap's blocks", 0, "give more memory");
        for (int k = 0; k < BATCH; k++) {
            more[k].left = spare;
            spare = &more[k];
        }
    }
    struct node *n = spare;
    spare = n->left;
    rank_state = rank_state * 1664525u + 1013904223u;
    *n = (struct node){lo, size, NULL, NULL, rank_state};
    return n;
}

static struct node *rotate_right(struct node *t)
{
    struct node *l = t->left;
    t->left = l->right;
    l->right = t;
    return l;
}

static struct node *rotate_left(struct node *t)
{
    struct node *r = t->right;
    t->right = r->left;
    r->left = t;
    return r;
}

static struct node *insert(struct node *t, struct node *n)
{
    if (!t)
        return n;
    if (n->lo < t->lo) {
        t->left = insert(t->left, n);
        return t->left->rank > t->rank ? rotate_right(t) : t;
    }
    t->right = insert(t->right, n);
    return t->right->rank > t->rank ? rotate_left(t) : t;
}

static struct node *merge(struct node *a, struct node *b)
{
    if (!a || !b)
        return a ? a : b;
    if (a->rank > b->rank) {
        a->right = merge(a->right, b);
        return a;
    }
    b->left = merge(a, b->left);
    return b;
}

static bool forget(char *lo)
{
    struct node **link = &root;
    while (*link && (*link)->lo != lo)
        link = lo < (*link)->lo ? &(*link)->left : &(*link)->right;
    struct node *n = *link;
    if (!n)
        return false;
    *link = merge(n->left, n->right);
    n->left = spare;
    spare = n;
    return true;
}

static volatile unsigned long heap_changes;

#ifndef SWEMU_SANITIZED
static void *remember(void *p, size_t size)
{
    if (!p)
        return p;
    pthread_mutex_lock(&heap_lock);
    root = insert(root, new_node(p, size));
    pthread_mutex_unlock(&heap_lock);
    return p;
}

static void drop(void *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&heap_lock);
    if (forget(p))
        heap_changes++;
    pthread_mutex_unlock(&heap_lock);
}
#endif

/* Memory of the runtime itself: not the program's, so not to be remembered. */
#ifdef SWEMU_SANITIZED
void *swemu_alloc(size_t size) { return malloc(size); }
void swemu_release(void *p) { free(p); }
#else
void *swemu_alloc(size_t size) { return __libc_malloc(size); }
void swemu_release(void *p) { __libc_free(p); }
void *malloc(size_t size) { return remember(__libc_malloc(size), size); }
void *calloc(size_t n, size_t size) { return remember(__libc_calloc(n, size), n * size); }

void *realloc(void *p, size_t size)
{
    drop(p);
    return remember(__libc_realloc(p, size), size);
}

void free(void *p)
{
    drop(p);
    __libc_free(p);
}

void *memalign(size_t alignment, size_t size) { return remember(__libc_memalign(alignment, size), size); }
void *aligned_alloc(size_t alignment, size_t size) { return remember(__libc_memalign(alignment, size), size); }

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = __libc_memalign(alignment, size);
    if (!p)
        return ENOMEM;
    *out = remember(p, size);
    return 0;
}
#endif

void *swemu_zeroed(size_t size)
{
    void *p = swemu_alloc(size);
    if (!p)
        swemu_lacking("no memory for the emulator's own tables", 0, "give more memory, or a higher limit (ulimit -v)");
    return memset(p, 0, size);
}

static bool find_heap(const char *p, struct mem_block *out, struct mem_block *below)
{
    bool found = false;
    pthread_mutex_lock(&heap_lock);
    for (struct node *t = root; t && !found; t = p < t->lo ? t->left : t->right) {
        found = p >= t->lo && p < t->lo + t->size;
        struct mem_block b = {t->lo, t->lo + t->size, "heap block"};
        if (found)
            *out = b;
        else if (below && t->lo <= p)
            *below = b;
    }
    pthread_mutex_unlock(&heap_lock);
    return found;
}

/* ---- arrays of the executable ---- */

struct object {
    char *lo, *hi;
    const char *name;
};

static struct object *objects;
static size_t object_count;
static pthread_once_t objects_once = PTHREAD_ONCE_INIT;

static int by_address(const void *a, const void *b)
{
    const struct object *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static int first_bias(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(uintptr_t *)data = info->dlpi_addr;
    return 1;
}

static bool is_array(const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size;
}

static void count_object(const Elf64_Sym *symbol, const char *name, void *data)
{
    (void)name;
    *(size_t *)data += is_array(symbol);
}

static void take_object(const Elf64_Sym *symbol, const char *name, void *data)
{
    char *at = (char *)*(const uintptr_t *)data + symbol->st_value;
    if (is_array(symbol))
        objects[object_count++] = (struct object){at, at + symbol->st_size, name};
}

static void load_objects(void)
{
    uintptr_t bias = 0;
    size_t n = 0;
    dl_iterate_phdr(first_bias, &bias);
    swemu_each_symbol(count_object, &n);
    objects = swemu_alloc(n * sizeof *objects);
    swemu_each_symbol(take_object, &bias);
    qsort(objects, object_count, sizeof *objects, by_address);
}

static bool find_object(const char *p, struct mem_block *out, struct mem_block *below)
{
    pthread_once(&objects_once, load_objects);
    size_t lo = 0, hi = object_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (objects[mid].lo <= p)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo)
        return false;
    struct object *o = &objects[lo - 1];
    struct mem_block b = {o->lo, o->hi, o->name};
    if (p < o->hi)
        *out = b;
    else if (below)
        *below = b;
    return p < o->hi;
}

/* ---- mappings ---- */

static int holds_runtime(struct dl_phdr_info *info, size_t size, void *data)
{
    uintptr_t here = (uintptr_t)&swemu;
    (void)size;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;
        *(bool *)data |= p->p_type == PT_LOAD && here >= lo && here < lo + p->p_memsz;
    }
    return 1; /* the first object is the executable */
}

/* Whether the runtime is a part of the program.  In a library that a program loads, blocks of another malloc and
 * variables of others are not known. */
bool swemu_in_program(void)
{
    bool ours = false;
    dl_iterate_phdr(holds_runtime, &ours);
    return ours;
}

static bool read_mappings(const char *p, struct mem_block *out)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool found = false, heap = false;
    unsigned long lo, hi;
    char rights[8];
    while (maps && !found && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &lo, &hi, rights) != 3)
            continue;
        found = (uintptr_t)p >= lo && (uintptr_t)p < hi && rights[0] == 'r';
        heap = found && strstr(line, "[heap]");
    }
    if (maps)
        fclose(maps);
    if (!found || (heap && swemu_in_program()))
        return false; /* what the heap has and no block covers is free */
    *out = (struct mem_block){(char *)lo, (char *)hi, "mapped memory"};
    return true;
}

/* Mappings found before stay known: reading the kernel's list takes long. */
static struct mem_block mappings[16];
static int next_mapping;
static pthread_mutex_t mapping_lock = PTHREAD_MUTEX_INITIALIZER;

static bool find_mapping(const char *p, struct mem_block *out)
{
    bool known = false;
    pthread_mutex_lock(&mapping_lock);
    for (int k = 0; k < 16 && !known; k++)
        if ((known = p >= mappings[k].lo && p < mappings[k].hi))
            *out = mappings[k];
    if (!known && (known = read_mappings(p, out))) {
        mappings[next_mapping] = *out;
        next_mapping = (next_mapping + 1) % 16;
    }
    pthread_mutex_unlock(&mapping_lock);
    return known;
}

/* The program may have mapped more, or other memory, at the same place since. */
static void forget_mappings(void)
{
    pthread_mutex_lock(&mapping_lock);
    memset(mappings, 0, sizeof mappings);
    pthread_mutex_unlock(&mapping_lock);
}

/* Find the block of main memory that p lies in: as narrow as it can be known. */
bool swemu_mem_find(const void *p, struct mem_block *out)
{
    struct mem_block below = {0};
    if (find_object(p, out, NULL) || find_heap(p, out, &below))
        return true;
    if (swemu_ldm_owner(p) || !find_mapping(p, out))
        return false;
    struct mem_block next;
    if (below.hi && below.hi > out->lo && (char *)p < below.hi + 4096 && find_heap(below.lo, &next, NULL))
        return false; /* just behind a heap block: the red zone between blocks */
    return true;
}

bool swemu_mem_valid(struct cpe *c, const void *p, size_t len)
{
    const char *a = p;
    unsigned long now = heap_changes;
    if (UNLIKELY(now != c->heap_seen)) {
        memset(c->known, 0, sizeof c->known);
        c->heap_seen = now;
    }
    for (int k = 0; k < 4; k++)
        if (LIKELY(a >= c->known[k].lo && a + len <= c->known[k].hi))
            return true;
    struct mem_block b;
    if (!swemu_mem_find(p, &b) || a + len > b.hi) {
        forget_mappings();
        if (!swemu_mem_find(p, &b) || a + len > b.hi)
            return false;
    }
    c->known[c->known_next].lo = b.lo;
    c->known[c->known_next].hi = b.hi;
    c->known_next = (c->known_next + 1) % 4;
    return true;
}

/* Say where p lies, or what it lies behind. */
void swemu_mem_describe(const void *p, char *buffer, size_t size)
{
    struct mem_block b = {0}, below = {0};
    const char *a = p;
    if (find_object(p, &b, &below) || find_heap(p, &b, &below))
        snprintf(buffer, size, "'%s' of %zu bytes ends at %p", b.kind, (size_t)(b.hi - b.lo), (void *)b.hi);
    else if (below.hi && a - below.hi < 1 << 20)
        snprintf(buffer, size, "%zu bytes behind '%s' of %zu bytes", (size_t)(a - below.hi), below.kind,
                 (size_t)(below.hi - below.lo));
    else if (find_mapping(p, &b))
        snprintf(buffer, size, "the mapped memory there ends at %p", (void *)b.hi);
    else
        snprintf(buffer, size, "nothing is mapped there");
}
