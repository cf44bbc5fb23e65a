/* An executable carries twins for checked mode and for counting; when one is asked for, it becomes it. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "swemu.h"

extern const int swemu_instrumented __attribute__((weak));

extern bool swb_count_any(void) __attribute__((weak));

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0");
}

/* Whether the run is for model time. */
static bool timed(void) { return is_set("SWBUILD_EMU_TRACE") || is_set("SWBUILD_EMU_MODEL"); }

static const Elf64_Shdr *find_twin(const char *image, const char *section)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    const char *names = image + sections[header->e_shstrndx].sh_offset;
    for (int k = 0; k < header->e_shnum; k++)
        if (!strcmp(names + sections[k].sh_name, section))
            return &sections[k];
    return NULL;
}

static void become(const char *image, const Elf64_Shdr *twin, char **argv, char **envp)
{
    signal(SIGXFSZ, SIG_IGN); /* a limit is told of as an error */
    int fd = memfd_create("swbuild", MFD_CLOEXEC);
    size_t done = 0;
    ssize_t n;
    while (fd >= 0 && done < twin->sh_size &&
           (n = write(fd, image + twin->sh_offset + done, twin->sh_size - done)) > 0)
        done += (size_t)n;
    signal(SIGXFSZ, SIG_DFL);
    if (done == twin->sh_size)
        fexecve(fd, argv, envp);
    swemu_lacking("cannot start the other version of this program", errno,
                  "it goes to memory as a file: raise the limits on files (ulimit -f) and memory");
}

/* Counts of 128-byte requests depend on addresses: with fixed ones, two runs count the same. */
static bool fix_addresses(void)
{
    int now = personality(0xffffffff);
    if (now < 0 || now & ADDR_NO_RANDOMIZE || (!is_set("SWBUILD_EMU_COUNTERS") && !timed()))
        return false;
    return personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0;
}

/* What to say at the first spawn: a program without kernels misses nothing. */
static const char *missing;

static __attribute__((constructor)) void choose_image(int argc, char **argv, char **envp)
{
    bool checked = is_set("SWBUILD_EMU_CHECKED"), counted = !checked && timed();
    struct stat status;
    (void)argc;
    if (&swemu_instrumented || &swb_count_any)
        return;
    bool fixed = fix_addresses();
    if (!checked && !counted) {
        if (fixed)
            execve("/proc/self/exe", argv, envp);
        return;
    }
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status))
        return;
    const char *image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    const Elf64_Shdr *twin = image == MAP_FAILED ? NULL : find_twin(image, checked ? ".swbuild.checked" : ".swbuild.counted");
    if (twin)
        become(image, twin, argv, envp);
    if (fixed)
        execve("/proc/self/exe", argv, envp);
    missing = checked ? "note: this program was built without checked code: loads and stores are not watched\n"
                      : "note: this program was built without counting code (SWBUILD_EMU_COUNTED_CODE=1): "
                        "computing takes no model time\n";
    close(fd);
}

void swemu_say_what_is_missing(void)
{
    if (missing)
        fputs(missing, stderr);
    missing = NULL;
}
