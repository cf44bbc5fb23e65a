/* The part of a check that is the same for every region: reads cases, calls the region, writes what it left.

   Used twice for a region, once with the serial reference behind swchk_call and once with the
   offloaded entry.  Every object that the region may touch lies between red zones; with
   SWCHK_FENCE there is an inaccessible page right after it (even cases) or before it (odd cases),
   so that a transfer that leaves the object stops the program at once.  With SWCHK_REFERENCE there
   is memory for the user's own variables, and a stack for large ones.

   usage: EXE INPUT OUTPUT NONCE
   INPUT  : for each case: int64 slots, then for each slot: int64 bytes, the bytes padded to a multiple of 8
   OUTPUT : for each case: int64 mark, int64 status, int64 spawns, double seconds, then for each slot
            int64 first changed byte outside the object (or INT64_MIN), and the padded bytes;
            at the very end int64 end mark and the nonce                                            */

#ifdef SWCHK_FENCE
#define _GNU_SOURCE
#include <sys/mman.h>
#endif
#ifdef SWCHK_REFERENCE
#include <sys/resource.h>
#include <unistd.h>
#endif
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

extern const int swchk_slots;
extern const int swchk_alignment[];
extern int swchk_call(void **slot, const unsigned long *bytes);
extern long swchk_spawns(void); /* so far, or -1 if nobody counts */

#define MARK_CASE INT64_C(0x4553414353575353)
#define MARK_END INT64_C(0x444e454353575353)
#define ZONE 4096

/* Not a number as a double and as two floats: whoever reads it shows it. */
static const unsigned char pattern[8] = {0xef, 0xbe, 0xa4, 0x7f, 0xad, 0xde, 0xf4, 0x7f};

struct object {
    unsigned char *map;   /* all of the memory that belongs to it */
    size_t mapped;
    unsigned char *zone;  /* the accessible part: red zone, data, red zone */
    size_t zoned;
    unsigned char *data;
    size_t bytes;
};

static void fail(const char *what)
{
    fprintf(stderr, "check harness: %s\n", what);
    exit(99);
}

static void fail_writing(void)
{
    fprintf(stderr, "check harness: cannot write the output: %s\n", strerror(errno));
    exit(99);
}

static size_t padded(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static void map_object(struct object *o, int fence_after, size_t alignment)
{
#ifdef SWCHK_FENCE
    const size_t page = 4096;
    const size_t inner = padded(o->bytes + ZONE, page);

    o->mapped = inner + 2 * page;
    o->map = mmap(NULL, o->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (o->map == MAP_FAILED)
        fail("out of memory");
    mprotect(o->map, page, PROT_NONE);
    mprotect(o->map + page + inner, page, PROT_NONE);
    o->zone = o->map + page;
    o->zoned = inner;
    o->data = fence_after ? o->zone + inner - padded(o->bytes, alignment) : o->zone;
#else
    (void)fence_after;
    o->mapped = o->zoned = padded(o->bytes, alignment) + 2 * ZONE + 128;
    o->map = o->zone = malloc(o->mapped);
    if (!o->map)
        fail("out of memory");
    o->data = (unsigned char *)padded((size_t)(o->zone + ZONE), 128);
#endif
}

static void unmap_object(struct object *o)
{
#ifdef SWCHK_FENCE
    munmap(o->map, o->mapped);
#else
    free(o->map);
#endif
}

static void paint(struct object *o)
{
    size_t i;
    for (i = 0; i < o->zoned; i++)
        o->zone[i] = pattern[i % 8];
}

/* Return where, counted from the data, the first byte outside them has changed, or INT64_MIN. */
static int64_t changed_outside(const struct object *o)
{
    const size_t before = (size_t)(o->data - o->zone);
    size_t i;
    for (i = 0; i < o->zoned; i++)
        if ((i < before || i >= before + o->bytes) && o->zone[i] != pattern[i % 8])
            return (int64_t)i - (int64_t)before;
    return INT64_MIN;
}

static void read_bytes(FILE *in, void *to, size_t bytes)
{
    if (bytes && fread(to, 1, bytes, in) != bytes)
        fail("the input ends early");
}

static void write_bytes(FILE *out, const void *from, size_t bytes)
{
    if (bytes && fwrite(from, 1, bytes, out) != bytes)
        fail_writing();
}

static void write_padding(FILE *out, size_t bytes)
{
    static const unsigned char zero[8];
    write_bytes(out, zero, padded(bytes, 8) - bytes);
}

static void read_object(FILE *in, struct object *o, int64_t bytes, int fence_after, size_t alignment)
{
    unsigned char rest[8];
    o->bytes = (size_t)bytes;
    map_object(o, fence_after, alignment);
    paint(o);
    read_bytes(in, o->data, o->bytes);
    read_bytes(in, rest, padded(o->bytes, 8) - o->bytes);
}

static double now(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* With SWCHK_ADDRESSES=FILE, add a line for each object: case, slot, address and bytes. */
static void tell_addresses(int number, const struct object *object)
{
    const char *path = getenv("SWCHK_ADDRESSES");
    FILE *file = path ? fopen(path, "a") : NULL;
    int i;

    if (!file)
        return;
    for (i = 0; i < swchk_slots; i++)
        fprintf(file, "%d %d %lu %lu\n", number, i, (unsigned long)object[i].data, (unsigned long)object[i].bytes);
    fclose(file);
}

static void run_case(FILE *out, struct object *object, void **slot, const unsigned long *bytes)
{
    const int64_t mark = MARK_CASE;
    const long before = swchk_spawns();
    const double start = now();
    const int64_t status = swchk_call(slot, bytes);
    const double seconds = now() - start;
    const int64_t spawns = before < 0 ? -1 : swchk_spawns() - before;
    int i;

    write_bytes(out, &mark, 8);
    write_bytes(out, &status, 8);
    write_bytes(out, &spawns, 8);
    write_bytes(out, &seconds, 8);
    for (i = 0; i < swchk_slots; i++) {
        const int64_t changed = changed_outside(&object[i]);
        write_bytes(out, &changed, 8);
        write_bytes(out, object[i].data, object[i].bytes);
        write_padding(out, object[i].bytes);
        unmap_object(&object[i]);
    }
    fflush(out);
}

#ifdef SWCHK_REFERENCE
#define STACK ((rlim_t)1 << 30)
#define RESERVE ((size_t)1 << 26)
#define SPARE ((size_t)1 << 30)

static void *reserve(size_t bytes)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (found == MAP_FAILED)
        fail("out of memory");
    return found;
}

/* Return the middle of a lot of memory that holds zeros, for pointers that nothing depends on. */
void *swchk_spare(void)
{
    static unsigned char *spare;
    if (!spare)
        spare = reserve(SPARE);
    return spare + SPARE / 2;
}

/* Fill a structure so that whatever pointer is in it leads to spare memory. */
void swchk_seed(void *structure, unsigned long bytes)
{
    void *const spare = swchk_spare();
    unsigned long i;
    for (i = 0; i + sizeof spare <= bytes; i += sizeof spare)
        memcpy((char *)structure + i, &spare, sizeof spare);
}

/* Return memory for a structure that a pointer is to lead to, with room behind it. */
void *swchk_new(unsigned long bytes)
{
    void *found = reserve(bytes + RESERVE);
    swchk_seed(found, bytes < 4096 ? 4096 : bytes);
    return found;
}

/* Make sure that an array of the user's is as large as the model takes it to be. */
void swchk_room(int slot, unsigned long bytes, unsigned long room)
{
    if (bytes <= room)
        return;
    fprintf(stderr, "check harness: object %d has %lu bytes, not %lu\n", slot, room, bytes);
    exit(99);
}

/* Large local arrays are ordinary in what is checked: start again with a stack that holds them. */
static void enlarge_stack(char **argv)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= STACK)
        return;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max <= limit.rlim_cur)
        return;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > STACK ? STACK : limit.rlim_max;
    if (!setrlimit(RLIMIT_STACK, &limit))
        execv("/proc/self/exe", argv);
}
#endif

static int work(char **argv)
{
    const int64_t end = MARK_END;
    struct object *object = calloc((size_t)swchk_slots + 1, sizeof *object);
    void **slot = calloc((size_t)swchk_slots + 1, sizeof *slot);
    unsigned long *sizes = calloc((size_t)swchk_slots + 1, sizeof *sizes);
    FILE *in, *out;
    int64_t count, bytes;
    int number, i;

    in = fopen(argv[1], "rb");
    out = fopen(argv[2], "wb");
    if (!in || !out || !object || !slot || !sizes)
        fail("cannot open the files");
    for (number = 0; fread(&count, 8, 1, in) == 1; number++) {
        if (count != swchk_slots)
            fail("these inputs are for another region");
        for (i = 0; i < swchk_slots; i++) {
            read_bytes(in, &bytes, 8);
            read_object(in, &object[i], bytes, number % 2 == 0, (size_t)swchk_alignment[i]);
            slot[i] = object[i].data;
            sizes[i] = (unsigned long)bytes;
        }
        tell_addresses(number, object);
        run_case(out, object, slot, sizes);
    }
    write_bytes(out, &end, 8);
    write_bytes(out, argv[3], strlen(argv[3]));
    if (fclose(out))
        fail_writing();
    return 0;
}

/* What kernels fetch from the host's stack lies in the same requests in every run, whatever the environment and
   the arguments take of it: all that follows begins where a page does. */
int main(int argc, char **argv)
{
    volatile char *rest = __builtin_alloca((uintptr_t)__builtin_frame_address(0) % 4096 + 1);

    rest[0] = 0;
    if (argc != 4)
        fail("usage: EXE INPUT OUTPUT NONCE");
#ifdef SWCHK_REFERENCE
    enlarge_stack(argv);
#endif
    return work(argv);
}
