/* Settings, from the environment; docs/emulator.md lists them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "swemu.h"

struct emulator swemu = {.lock = PTHREAD_MUTEX_INITIALIZER, .host_wake = PTHREAD_COND_INITIALIZER};

static bool flag(const char *name, bool otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strcmp(text, "0") != 0 : otherwise;
}

static void completion_mode(const char *text)
{
    if (!text || !*text || !strcmp(text, "eager")) {
        swemu.completion = EAGER;
    } else if (!strcmp(text, "late")) {
        swemu.completion = LATE;
    } else if (!strncmp(text, "random", 6) && (text[6] == ':' || !text[6])) {
        swemu.completion = RANDOM;
        swemu.seed = text[6] ? strtoull(text + 7, NULL, 0) : 1;
    } else {
        fprintf(stderr, "SWBUILD_EMU_DMA: error[SW600]: unknown mode '%s'; use eager, late or random:SEED\n", text);
        exit(SWEMU_EXIT_FAULT);
    }
}

static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};

static int rank_of_process(void)
{
    for (size_t k = 0; k < sizeof rank_names / sizeof *rank_names; k++)
        if (getenv(rank_names[k]))
            return atoi(getenv(rank_names[k]));
    return 0;
}

/* The first process writes the file of this name; of the others each has its own: NAME.1, NAME.2, ... */
static const char *output_name(const char *variable, const char *ending)
{
    const char *name = getenv(variable);
    int rank = rank_of_process();
    size_t end = strlen(ending);
    if (!name || !*name || rank <= 0)
        return name;
    size_t length = strlen(name), keep = length;
    bool ends = length > end && !strcmp(name + length - end, ending);
    if (ends)
        keep -= end;
    char *made = swemu_alloc(length + 16);
    sprintf(made, "%.*s.%d%s", (int)keep, name, rank, ends ? ending : "");
    return made;
}

/* Read the environment once, before the first CPE starts. */
void swemu_configure(void)
{
    const char *hang = getenv("SWBUILD_EMU_HANG_SECONDS");
    const char *stack = getenv("SWBUILD_EMU_STACK");
    const char *cpes = getenv("SWBUILD_EMU_CPES");
    const char *groups = getenv("SWBUILD_EMU_GROUPS");
    swemu.checked = flag("SWBUILD_EMU_CHECKED", false);
    completion_mode(getenv("SWBUILD_EMU_DMA"));
    if (swemu.checked && !getenv("SWBUILD_EMU_DMA"))
        swemu.completion = LATE;
    swemu.baton = swemu.checked || swemu.completion != EAGER || flag("SWBUILD_EMU_SERIAL", false);
    swemu.cache = DCACHE_LINE_BYTES && flag("SWBUILD_EMU_CACHE_KB", false);
    swemu.traps = flag("SWBUILD_EMU_FPE", false);
    swemu.poison = flag("SWBUILD_EMU_POISON", true);
    swemu.stack_in_ldm = !stack || strcmp(stack, "main") != 0;
    swemu.hang_seconds = hang && *hang ? atof(hang) : 5.0;
    swemu.trace_path = output_name("SWBUILD_EMU_TRACE", ".trace");
    swemu.model_path = output_name("SWBUILD_EMU_MODEL", ".model");
    if ((swemu_wanted(swemu.trace_path) || swemu_wanted(swemu.model_path)) && !swemu.checked) {
        swemu.completion = LATE;
        swemu.baton = swemu.oldest_first = true;
    }
    swemu.counters_path = output_name("SWBUILD_EMU_COUNTERS", ".json.never");
    swemu_touched_configure();
    swemu.groups = groups && *groups ? atoi(groups) : 1;
    if (swemu.groups < 1 || swemu.groups > MAX_GROUPS)
        swemu.groups = 1;
    swemu.active_limit = cpes && atoi(cpes) > 0 && atoi(cpes) < SWEMU_CPES ? atoi(cpes) : SWEMU_CPES;
}
