"""The stand-in launchers: ``bsub`` (LSF as at the centres) and ``swrun`` (a single node).

The job runs here and now.  ``bsub -I`` frames the program's output as the real one does and ends with
the program's exit status.
"""

from __future__ import annotations

import os
import signal
import sys

from tool import Facts

__all__ = ["main"]

_FLAGS = {
    "-I",
    "-Is",
    "-Ip",
    "-b",
    "-perf",
    "-p",
    "-pr",
    "-shared",
    "-K",
    "-i",
    "-exclu",
    "-xmalloc",
    "-swrunarg_default",
}
_VALUES = {
    "-q",
    "-n",
    "-N",
    "-np",
    "-cgsp",
    "-share_size",
    "-host_stack",
    "-cross_size",
    "-m",
    "-J",
    "-node",
    "-o",
    "-e",
    "-i_file",
    "-cache_size",
    "-ldm_share_mode",
    "-ldm_share_size",
    "-mpecg",
    "-ro_size",
    "-priv_size",
    "-sw3run",
    "-sw3runarg",
    "-swrunarg",
    "-W",
    "-E",
    "-pe_stack",
    "-debug",
    "-P",
    "-R",
    "-c",
    "-M",
    "-w",
    "-asy",
    "-cgm",
}
_SWRUN_FLAGS = {"-i", "-b", "-h", "-p"}
_SWRUN_VALUES = {
    "-E",
    "-n",
    "-N",
    "-s",
    "-K",
    "-T",
    "-m",
    "-j",
    "-F",
    "-P",
    "-c",
    "-cache_size",
    "-share_size",
}


class Refused(Exception):
    """An option that the launcher does not know, or a value that it cannot take."""


def parse(arguments: list[str], flags: set[str], values: set[str]) -> tuple[dict[str, str], list[str]]:
    """Return the options and the command, which starts at the first word that is no option."""
    found: dict[str, str] = {}
    k = 0
    while k < len(arguments) and arguments[k].startswith("-"):
        word = arguments[k]
        if word in flags:
            found[word] = "1"
        elif word in values:
            if k + 1 == len(arguments):
                raise Refused(f"option '{word}' needs a value")
            found[word] = arguments[k + 1]
            k += 1
        else:
            raise Refused(f"unknown option '{word}'")
        k += 1
    if k == len(arguments):
        raise Refused("there is no command to run")
    return found, arguments[k:]


def number(options: dict[str, str], name: str, default: int) -> int:
    text = options.get(name, str(default))
    if not text.isdigit():
        raise Refused(f"option '{name}' needs a number, not '{text}'")
    return int(text)


def set_environment(options: dict[str, str], stack_option: bool) -> None:
    """Pass on what the options say about the core group."""
    if stack_option:
        os.environ.setdefault("SWBUILD_EMU_STACK", "ldm" if "-b" in options else "main")
    if "-cache_size" in options:
        os.environ.setdefault("SWBUILD_EMU_CACHE_KB", options["-cache_size"])


def command_for(command: list[str], ranks: int) -> list[str]:
    """Return the command that starts the ranks (one rank needs no mpirun)."""
    if ranks > 1:
        root = ["--allow-run-as-root"] if os.getuid() == 0 else []
        return ["mpirun", *root, "--oversubscribe", "-np", str(ranks), *command]
    return command


def execute(command: list[str], output: str) -> int:
    """Run the command in a process group of its own, forward signals to it, and return its status."""
    import ctypes

    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it does not outlive its launcher
        os.setpgid(0, 0)
        if output:
            fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.dup2(fd, 1)
            os.dup2(fd, 2)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr)
            os._exit(127)
    for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(which, lambda number, frame: os.killpg(child, number))
    while True:
        try:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except InterruptedError:
            continue


def as_shell(status: int) -> int:
    return 128 - status if status < 0 else status


def bsub(arguments: list[str], most: int) -> int:
    options, command = parse(arguments, _FLAGS, _VALUES)
    cores = number(options, "-cgsp", most)
    if not 1 <= cores <= most:
        raise Refused(f"-cgsp: a core group has {most} slave cores")
    os.environ.setdefault("SWBUILD_EMU_CPES", str(cores))
    set_environment(options, True)
    job = os.getpid()
    queue = options.get("-q", "emulator")
    print(f"Job <{job}> has been submitted to queue <{queue}>")
    if "-I" not in options and "-Is" not in options and "-K" not in options:
        return background(command, options, job)
    print("waiting for dispatch ...\ndispatching ...")
    status = execute(
        command_for(command, number(options, "-n", number(options, "-np", 1))), options.get("-o", "")
    )
    if status < 0:
        name = signal.Signals(-status).value
        print(f"warning: cg [0]: user's mpe task: tid= 0, pid= {job}, terminated by sig {name}")
    print(f"Job {job} has been finished.")
    return as_shell(status)


def background(command: list[str], options: dict[str, str], job: int) -> int:
    """Without -I the job goes on by itself, its output in a file."""
    if os.fork():
        return 0
    os.setsid()
    execute(command_for(command, number(options, "-n", 1)), options.get("-o", f"{job}.out"))
    os._exit(0)


def swrun(arguments: list[str]) -> int:
    options, command = parse(arguments, _SWRUN_FLAGS, _SWRUN_VALUES)
    set_environment(options, False)
    return as_shell(execute(command_for(command, number(options, "-n", 1)), ""))


def main(arguments: list[str]) -> int:
    """Act as the launcher that the second word names."""
    tool, machine, rest = arguments[1], arguments[3], arguments[10:]
    try:
        return bsub(rest, Facts(machine).cpes) if tool == "bsub" else swrun(rest)
    except Refused as error:
        print(f"{tool}: error[SW609]: {error}", file=sys.stderr)
        return 2
