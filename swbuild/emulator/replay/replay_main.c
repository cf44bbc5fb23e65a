/* Replay of a trace file: replay NUMBERS BLOCKS TRACE [details].
 *
 * NUMBERS is a file of the machine's numbers, BLOCKS one of the mixes of the host's blocks, a line for each.  The result
 * goes to the standard output. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "swb_replay.h"

enum { KINDS = 256 };

struct records {
    const struct swb_trace_record *first;
    size_t count;
};

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static void write_out(void *to, const char *text, size_t size) { fwrite(text, 1, size, to); }

/* Return the text of a file, with a null behind it. */
static char *text_of(const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about))
        fail(path);
    char *text = calloc((size_t)about.st_size + 1, 1);
    if (!text || read(file, text, (size_t)about.st_size) != about.st_size)
        fail(path);
    close(file);
    return text;
}

/* The whole records of a trace, which stay in the file. */
static struct records records_of(const char *path)
{
    struct stat about;
    const size_t head = sizeof(struct swb_trace_header), each = sizeof(struct swb_trace_record);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about))
        fail(path);
    size_t size = (size_t)about.st_size;
    if (size < head + each)
        return (struct records){0};
    const char *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED)
        fail(path);
    close(file);
    madvise((void *)data, size, MADV_SEQUENTIAL);
    return (struct records){(const struct swb_trace_record *)(data + head), (size - head) / each};
}

/* Whether a kind is among the records; found[kind] says so for each. */
static void look(struct records records, bool *found)
{
    for (size_t k = 0; k < records.count; k++)
        found[records.first[k].kind] = true;
}

/* Return the number of a kind that there is not, or -1. */
static int bad_kind(const bool *found)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (found[kind] && (kind < SWB_KERNEL_BEGIN || kind > SWB_HOST))
            return kind;
    return -1;
}

/* Feed the records in runs of one CPE. */
static void feed(struct swb_replay *replay, struct records records)
{
    for (size_t begin = 0, end; begin < records.count; begin = end) {
        for (end = begin + 1; end < records.count && records.first[end].cpe == records.first[begin].cpe; end++) {
        }
        swb_replay_feed(replay, records.first + begin, end - begin, false);
    }
}

static void read_blocks(struct swb_replay *replay, char *text)
{
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        swb_replay_block(replay, line);
}

int main(int count, char **words)
{
    if (count < 4)
        return 2;
    struct records records = records_of(words[3]);
    bool found[KINDS] = {false};
    look(records, found);
    if (bad_kind(found) >= 0) {
        printf("bad %d\n", bad_kind(found));
        return 0;
    }
    char *numbers = text_of(words[1]), *mixes = text_of(words[2]);
    struct swb_replay *replay = swb_replay_open(numbers, found[SWB_SPAWN], count > 4, write_out, stdout);
    read_blocks(replay, mixes);
    free(numbers);
    free(mixes);
    feed(replay, records);
    swb_replay_finish(replay);
    return fflush(stdout) ? 2 : 0;
}
