/* Files that the runtime writes while the program runs: without the program's heap, whose addresses must not move. */
#ifndef SWEMU_OUTPUT_H
#define SWEMU_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct swemu_output {
    const char *name; /* null: nothing is written */
    int file;
    size_t used;
    char buffer[1 << 16];
};

/* Begin NAME.part; return whether that worked, or say why not. */
bool swemu_output_open(struct swemu_output *output, const char *name);

void swemu_output_put(struct swemu_output *output, const void *data, size_t size);

/* Let `tell` (if there is one) write the last part, and give the file its name if all of it could be written. */
void swemu_output_close(struct swemu_output *output, void (*tell)(FILE *to));

#endif
