#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 1024 };

static const char *part_of(const struct swemu_output *output, char *buffer)
{
    snprintf(buffer, LONGEST, "%s.part", output->name);
    return buffer;
}

bool swemu_output_open(struct swemu_output *output, const char *name)
{
    char part[LONGEST];
    output->name = name;
    output->used = 0;
    output->file = open(part_of(output, part), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output->file >= 0)
        return true;
    perror(part);
    output->name = NULL;
    return false;
}

/* Write what is in the buffer; a file that takes no more is given up. */
static void flush(struct swemu_output *output)
{
    for (size_t done = 0; done < output->used;) {
        ssize_t size = write(output->file, output->buffer + done, output->used - done);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0) {
            perror(output->name);
            close(output->file);
            output->name = NULL;
            break;
        }
        done += (size_t)size;
    }
    output->used = 0;
}

void swemu_output_put(struct swemu_output *output, const void *data, size_t size)
{
    const char *from = data;
    while (output->name && size) {
        size_t room = sizeof output->buffer - output->used, some = size < room ? size : room;
        memcpy(output->buffer + output->used, from, some);
        output->used += some;
        from += some;
        size -= some;
        if (output->used == sizeof output->buffer)
            flush(output);
    }
}

void swemu_output_close(struct swemu_output *output, void (*tell)(FILE *to))
{
    char part[LONGEST];
    if (output->name)
        flush(output);
    if (!output->name)
        return;
    FILE *to = fdopen(output->file, "a");
    if (to && tell)
        tell(to);
    if (to && fclose(to) == 0)
        rename(part_of(output, part), output->name);
    output->name = NULL;
}
