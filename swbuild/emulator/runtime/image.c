/* An executable carries its checked twin; when checked mode is asked for, it becomes the twin. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "swemu.h"

extern const int swemu_instrumented __attribute__((weak));

static const Elf64_Shdr *find_twin(const char *image)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    const char *names = image + sections[header->e_shstrndx].sh_offset;
    for (int k = 0; k < header->e_shnum; k++)
        if (!strcmp(names + sections[k].sh_name, ".swbuild.checked"))
            return &sections[k];
    return NULL;
}

static void become(const char *image, const Elf64_Shdr *twin, char **argv, char **envp)
{
    int fd = memfd_create("checked", MFD_CLOEXEC);
    size_t done = 0;
    ssize_t n;
    while (fd >= 0 && done < twin->sh_size &&
           (n = write(fd, image + twin->sh_offset + done, twin->sh_size - done)) > 0)
        done += (size_t)n;
    if (done == twin->sh_size)
        fexecve(fd, argv, envp);
    fprintf(stderr, "error[SW600]: cannot start the checked version of this program\n");
    _exit(SWEMU_EXIT_FAULT);
}

static __attribute__((constructor)) void choose_image(int argc, char **argv, char **envp)
{
    const char *wanted = getenv("SWBUILD_EMU_CHECKED");
    struct stat status;
    (void)argc;
    if (&swemu_instrumented || !wanted || !*wanted || !strcmp(wanted, "0"))
        return;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status))
        return;
    const char *image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    const Elf64_Shdr *twin = image == MAP_FAILED ? NULL : find_twin(image);
    if (twin)
        become(image, twin, argv, envp);
    fprintf(stderr, "note: this program was built without checked code: loads and stores are not watched\n");
    close(fd);
}
