/* The symbol table of the program that runs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "swemu.h"

static const char *map_program(void)
{
    struct stat status;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *image = fstat(fd, &status) ? MAP_FAILED : mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return image == MAP_FAILED ? NULL : image;
}

/* Call `take` for each symbol of the program; the names stay where they are. */
void swemu_each_symbol(void (*take)(const Elf64_Sym *symbol, const char *name, void *data), void *data)
{
    static const char *image;
    if (!image && !(image = map_program()))
        return;
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    for (int s = 0; s < header->e_shnum; s++) {
        if (sections[s].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbols = (const void *)(image + sections[s].sh_offset);
        const char *names = image + sections[sections[s].sh_link].sh_offset;
        for (size_t k = 0; k < sections[s].sh_size / sizeof *symbols; k++)
            take(&symbols[k], names + symbols[k].st_name, data);
    }
}
