/* Faults and hangs: say what, where and on which CPE, then end the process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "swemu.h"

static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;

struct home {
    uintptr_t pc, bias;
    char path[512];
};

static int find_home(struct dl_phdr_info *info, size_t size, void *data)
{
    struct home *h = data;
    (void)size;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || h->pc < lo || h->pc >= lo + p->p_memsz)
            continue;
        h->bias = info->dlpi_addr;
        if (info->dlpi_name[0])
            snprintf(h->path, sizeof h->path, "%s", info->dlpi_name);
        else
            snprintf(h->path, sizeof h->path, "/proc/%d/exe", (int)getpid());
        return 1;
    }
    return 0;
}

/* An addr2line that answers one address after the other, and the end of a socket that leads to it. */
static struct {
    pthread_mutex_t lock;
    char path[512];
    pid_t child;
    int end;
    bool kept;
} asked = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = -1};

static void end_addr2line(void)
{
    if (asked.end < 0)
        return;
    shutdown(asked.end, SHUT_RDWR); /* whoever else has it after a fork */
    close(asked.end);
    asked.end = -1;
    waitpid(asked.child, NULL, 0);
}

static bool start_addr2line(const struct home *h)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    pid_t child = vfork();
    if (!child) {
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        if (ends[1] > 2)
            close(ends[1]);
        execlp("addr2line", "addr2line", "-f", "-e", h->path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return false;
    }
    asked.end = ends[0];
    asked.child = child;
    snprintf(asked.path, sizeof asked.path, "%s", h->path);
    return true;
}

/* Write the two lines that addr2line says of a place: its function, then its file and line. */
static bool converse(const struct home *h, char *answer, size_t size)
{
    char address[32];
    int length = snprintf(address, sizeof address, "%#lx\n", (unsigned long)(h->pc - h->bias));
    if (send(asked.end, address, (size_t)length, MSG_NOSIGNAL) != length)
        return false;
    size_t used = 0;
    int lines = 0;
    while (lines < 2 && used + 1 < size && recv(asked.end, answer + used, 1, 0) == 1)
        lines += answer[used++] == '\n';
    answer[used] = 0;
    return lines == 2;
}

static bool ask_addr2line(const struct home *h, char *answer, size_t size)
{
    pthread_mutex_lock(&asked.lock);
    if (asked.end >= 0 && strcmp(asked.path, h->path))
        end_addr2line();
    bool found = (asked.end >= 0 || start_addr2line(h)) && converse(h, answer, size);
    if (!found || !asked.kept)
        end_addr2line();
    pthread_mutex_unlock(&asked.lock);
    return found;
}

/* Keep addr2line from one question to the next (or no longer): a child of the program, which might wait for any. */
void swemu_keep_asking(bool kept)
{
    pthread_mutex_lock(&asked.lock);
    asked.kept = kept;
    if (!kept)
        end_addr2line();
    pthread_mutex_unlock(&asked.lock);
}

/* Ask the debug information for the function and the line of pc. */
static bool look_up(uintptr_t pc, char *function, size_t function_size, char *place, size_t place_size)
{
    struct home h = {.pc = pc};
    char answer[4096];
    if (!pc || !dl_iterate_phdr(find_home, &h) || !ask_addr2line(&h, answer, sizeof answer))
        return false;
    char *line = strchr(answer, '\n');
    if (!line)
        return false;
    *line++ = 0;
    line[strcspn(line, " \n")] = 0;
    char cwd[512];
    size_t n = getcwd(cwd, sizeof cwd) ? strlen(cwd) : 0;
    if (n && !strncmp(line, cwd, n) && line[n] == '/')
        line += n + 1;
    snprintf(function, function_size, "%s", answer);
    snprintf(place, place_size, "%s", line);
    return strcmp(line, "??:0") && strcmp(line, "??:?");
}

/* Write "file:line" of a call that returns to pc. */
void swemu_locate(uintptr_t pc, char *buffer, size_t size)
{
    char function[256];
    if (!look_up(pc ? pc - 1 : 0, function, sizeof function, buffer, size))
        snprintf(buffer, size, "(unknown place)");
}

const char *swemu_function_name(void *function, char *buffer, size_t size)
{
    char place[512];
    if (!look_up((uintptr_t)function, buffer, size, place, sizeof place))
        snprintf(buffer, size, "%p", function);
    return buffer;
}

void swemu_finish(int status)
{
    fflush(stdout);
    swemu_write_counters();
    swemu_trace_close();
    fflush(stderr);
    _exit(status);
}

static void print_cpe(const struct cpe *c)
{
    char name[256];
    if (c->func)
        fprintf(stderr, "  on CPE %d (row %d, column %d), kernel '%s', spawn %lu\n", c->id, c->row, c->col,
                swemu_function_name((void *)(uintptr_t)c->func, name, sizeof name), swemu.spawns);
}

static void say(const char *severity, const struct cpe *c, uintptr_t pc, const char *code, const char *hint, const char *format,
                va_list arguments)
{
    char place[600];
    pthread_mutex_lock(&report_lock);
    fflush(stdout);
    swemu_locate(pc, place, sizeof place);
    fprintf(stderr, "%s: %s[%s]: ", place, severity, code);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    if (c)
        print_cpe(c);
    if (hint && *hint)
        fprintf(stderr, "  hint: %s\n", hint);
}

void swemu_fault(struct cpe *c, uintptr_t pc, const char *code, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("error", c, pc, code, hint, format, arguments);
    swemu_finish(SWEMU_EXIT_FAULT);
}

void swemu_host_fault(uintptr_t pc, const char *code, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("error", NULL, pc, code, hint, format, arguments);
    swemu_finish(SWEMU_EXIT_FAULT);
}

void swemu_lacking(const char *what, int error, const char *hint)
{
    fprintf(stderr, "error[SW603]: %s%s%s\n  hint: %s\n", what, error ? ": " : "", error ? strerror(error) : "", hint);
    swemu_finish(SWEMU_EXIT_LACKING);
}

struct seen {
    struct seen *next;
    const char *code;
    uintptr_t pc, other;
};

/* Return whether this problem was reported before; if not, it is now. */
bool swemu_reported(const char *code, uintptr_t pc, uintptr_t other)
{
    static struct seen *all;
    for (const struct seen *s = all; s; s = s->next)
        if (s->code == code && ((s->pc == pc && s->other == other) || (s->pc == other && s->other == pc)))
            return true;
    struct seen *made = swemu_alloc(sizeof *made);
    *made = (struct seen){all, code, pc, other};
    all = made;
    return false;
}

void swemu_problem(struct cpe *c, uintptr_t pc, const char *code, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(swemu.checked ? "error" : "warning", c, pc, code, hint, format, arguments);
    va_end(arguments);
    pthread_mutex_unlock(&report_lock);
    if (swemu.checked && ++swemu.problems >= 20) {
        fprintf(stderr, "error: more than 20 problems; the rest is not reported\n");
        swemu_finish(SWEMU_EXIT_FAULT);
    }
}

static void print_stuck(const struct cpe *first, int count)
{
    char place[600];
    swemu_locate(first->pc, place, sizeof place);
    fprintf(stderr, "  %d CPE%s (first: %d, row %d, column %d) in %s at %s\n", count, count == 1 ? "" : "s", first->id,
            first->row, first->col,
            first->state == CPE_BLOCKED && first->blocked_in ? first->blocked_in : "a spin loop", place);
}

static bool same_place(const struct cpe *a, const struct cpe *b)
{
    return a->func && b->func && a->pc == b->pc && (a->state == CPE_BLOCKED) == (b->state == CPE_BLOCKED);
}

static void list_cpes(const struct cpe *like)
{
    fprintf(stderr, "   ");
    for (int k = 0; k < swemu.count; k++)
        if (same_place(swemu.cpes[k], like))
            fprintf(stderr, " %d", k);
    fputc('\n', stderr);
}

/* Nobody can go on: every CPE's place, grouped. */
void swemu_hang(void)
{
    char place[600];
    pthread_mutex_lock(&report_lock);
    fflush(stdout);
    const struct cpe *any = NULL;
    int finished = 0;
    for (int k = swemu.count - 1; k >= 0; k--) {
        if (swemu.cpes[k]->func)
            any = swemu.cpes[k];
        else
            finished++;
    }
    swemu_locate(any ? any->pc : 0, place, sizeof place);
    fprintf(stderr, "%s: error[SW640]: hang: no CPE can go on and nothing is under way\n", place);
    for (int k = 0; k < swemu.count; k++) {
        const struct cpe *c = swemu.cpes[k];
        int count = 0, before = 0;
        for (int j = 0; j < swemu.count; j++) {
            count += same_place(c, swemu.cpes[j]);
            before += j < k && same_place(c, swemu.cpes[j]);
        }
        if (c->func && !before) {
            print_stuck(c, count);
            list_cpes(c);
        }
    }
    if (finished)
        fprintf(stderr, "  %d CPEs have finished the kernel or have not been started\n", finished);
    swemu_finish(SWEMU_EXIT_HANG);
}

void swemu_report_crash(struct cpe *c, int signal, const void *address, void *context)
{
    char place[600], function[256];
    uintptr_t pc = 0;
#ifdef __x86_64__
    pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
    (void)context;
#endif
    if (!look_up(pc, function, sizeof function, place, sizeof place) && !look_up(c->pc, function, sizeof function, place,
                                                                                sizeof place))
        snprintf(place, sizeof place, "(unknown place)");
    const char *stack = (const char *)address < c->stack_lo + 4096 && (const char *)address >= c->stack_lo - 65536
                            ? " (the stack is full)"
                            : "";
    fprintf(stderr, "%s: error[SW641]: CPE %d (row %d, column %d) got signal %d (%s) at address %p%s\n", place, c->id,
            c->row, c->col, signal, strsignal(signal), address, stack);
    swemu_write_counters();
}
