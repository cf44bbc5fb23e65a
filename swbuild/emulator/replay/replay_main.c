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

static bool is_good(const struct swb_trace_record *record)
{
    return record->kind >= SWB_KERNEL_BEGIN && record->kind <= SWB_HOST;
}

/* Feed the records in runs of one CPE; return the first that is none, or null. */
static const struct swb_trace_record *feed(struct swb_replay *replay, struct records records)
{
    const struct swb_trace_record *at = records.first, *last = at + records.count, *end;
    for (; at < last; at = end) {
        for (end = at; end < last && end->cpe == at->cpe; end++)
            if (!is_good(end))
                return end;
        swb_replay_feed(replay, at, (size_t)(end - at), false);
    }
    return NULL;
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
    char *numbers = text_of(words[1]), *mixes = text_of(words[2]);
    struct swb_replay *replay = swb_replay_open(numbers, count > 4, write_out, stdout);
    read_blocks(replay, mixes);
    free(numbers);
    free(mixes);
    const struct swb_trace_record *bad = feed(replay, records);
    if (bad)
        printf("bad %u\n", bad->kind);
    else
        swb_replay_finish(replay);
    return fflush(stdout) ? 2 : 0;
}
