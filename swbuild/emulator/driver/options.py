"""The command line of the Sunway compilers: what each option means here."""

from __future__ import annotations

__all__ = ["CommandLine", "UsageError", "parse"]

_ROLES = {
    "-mhost": "host",
    "-host": "host",
    "-mslave": "slave",
    "-slave": "slave",
    "-mhybrid": "hybrid",
    "-hybrid": "hybrid",
    "-mhybrid-coding": "hybrid",
}
_WITH_VALUE = {
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-x",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-T",
    "-u",
    "-z",
    "-arch",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "--param",
    "--sysroot",
    "-isysroot",
}
_SWALLOWED = {
    "-msimd",
    "-mieee",
    "-mftz",
    "-mfma",
    "-mslave-bf16",
    "-mslave-lto",
    "-allshare",
    "-static",
    "-mstatic",
    "-mdynamic",
    "-masm-volatile",
    "-fcheck-ldm-stack",
    "-fbranch-predict-hint",
    "-lm_slave",
    "-lslave",
    "-lswperf",
    "-lathread",
    "-mno-fma",
    "-host_compat",
    "-msw3",
    "-msw6a",
    "-msw6b",
    "-faddress_align",
    "-lcrts",
    "-static-libgcc",
    "-mno-ieee",
}
_SWALLOWED_STARTS = (
    "-faddress_align=",
    "-OPT:",
    "-LNO:",
    "-CG:",
    "-WOPT:",
    "-IPA:",
    "-INLINE:",
    "-TENV:",
    "-LIST:",
    "-CLIST:",
    "-VHO:",
    "-Wa,-slave",
    "-mhost-",
    "-mslave-",
)
_LINKER_SWALLOWED = {"-q", "--emit-relocs", "--stack-analysis"}
_SOURCES = {
    ".c": "c",
    ".C": "c++",
    ".cc": "c++",
    ".cpp": "c++",
    ".cxx": "c++",
    ".c++": "c++",
    ".CPP": "c++",
    ".i": "cpp-output",
    ".ii": "c++-cpp-output",
}
_MPI_HEADERS = ("-I/usr/sw-mpp/mpi", "-I/usr/sw/mpi")
_ASSEMBLER = (".s", ".S", ".asm", ".sx")


class UsageError(Exception):
    """An option that the real compiler would refuse, or that cannot be emulated."""


class CommandLine:
    """The parsed command line; ``flags`` are for the compilers, ``link`` is the linker's share, in order."""

    def __init__(self) -> None:
        self.role = ""
        self.stage = "link"
        self.output = ""
        self.flags: list[str] = []
        self.link: list[str] = []
        self.depend: list[str] = []
        self.sources: list[str] = []
        self.language = ""
        self.simd = False
        self.shared = False
        self.passthrough = False
        self.mpi = False  # the machine's MPI headers are asked for by their place
        self.align = 0  # -faddress_align=N
        self.counters = False  # -lswperf: the hardware's performance counters


def _swallow(option: str) -> bool:
    return option in _SWALLOWED or option.startswith(_SWALLOWED_STARTS)


def _suffix(path: str) -> str:
    return path[path.rfind(".") :] if "." in path.rsplit("/", 1)[-1] else ""


def _set_role(line: CommandLine, role: str) -> None:
    if line.role and line.role != role:
        raise UsageError(f"'-m{line.role}' and '-m{role}' exclude each other")
    line.role = role


def _operand(line: CommandLine, path: str) -> None:
    suffix = _suffix(path)
    if line.language not in ("", "none") or suffix in _SOURCES or suffix in _ASSEMBLER or path == "-":
        line.sources.append(path)
        line.link.append("source:" + path)
    else:
        line.link.append("file:" + path)


def _separate(line: CommandLine, option: str, value: str) -> None:
    if option == "-x":
        line.language = value
    elif option in ("-MF", "-MT", "-MQ"):
        line.depend += [option, value]
    elif option in ("-L", "-l", "-Xlinker", "-T", "-u", "-z"):
        _library(line, option, value)
    else:
        line.flags += [option, value]


def _library(line: CommandLine, option: str, value: str) -> None:
    line.counters |= option + value == "-lswperf"
    if not _swallow(option + value):
        line.link += [option + value] if option in ("-L", "-l") else [option, value]


def _linker(line: CommandLine, option: str) -> None:
    kept = [part for part in option[4:].split(",") if part not in _LINKER_SWALLOWED]
    if kept:
        line.link.append("-Wl," + ",".join(kept))


def _joined(line: CommandLine, option: str) -> None:
    """Sort in an option of one word."""
    if option in _ROLES:
        _set_role(line, _ROLES[option])
    elif option in ("-c", "-S", "-E"):
        line.stage = {"-c": "object", "-S": "assembly", "-E": "preprocess"}[option]
    elif _swallow(option):
        line.simd |= option == "-msimd"
        if option.startswith("-faddress_align=") and option[16:].isdigit():
            line.align = int(option[16:])
        line.counters |= option == "-lswperf"
    elif option in ("-M", "-MM", "-MD", "-MMD", "-MG", "-MP"):
        line.depend.append(option)
        line.passthrough |= option in ("-M", "-MM")
    elif option.startswith("-Wl,"):
        _linker(line, option)
    elif option.startswith(("-l", "-L")):
        line.link.append(option)
    elif option == "-shared":
        line.shared = True
        line.link.append(option)
    elif option in ("-pthread", "-rdynamic", "-nostdlib", "-nodefaultlibs", "-s", "-pie", "-no-pie"):
        line.link.append(option)
        if option == "-pthread":
            line.flags.append(option)
    elif option in (
        "-v",
        "--version",
        "-dumpversion",
        "-dumpmachine",
        "-###",
        "-dumpfullversion",
        "--help",
    ) or option.startswith(("-print-", "--print-", "--help=")):
        line.flags.append(option)
        line.passthrough |= option != "-v"
    elif option.startswith("-m"):
        raise UsageError(f"unknown option '{option}': the Sunway compilers do not know it")
    elif option.startswith(_MPI_HEADERS):
        line.mpi = True
    else:
        line.flags.append(option)


def _expand(arguments: list[str]) -> list[str]:
    """Replace every @file by the words in it."""
    found = []
    for argument in arguments:
        if argument.startswith("@"):
            import shlex

            try:
                with open(argument[1:], encoding="utf-8") as stream:
                    found += _expand(shlex.split(stream.read()))
                continue
            except OSError:
                pass
        found.append(argument)
    return found


def parse(arguments: list[str]) -> CommandLine:
    """Return the command line in parts, or raise :class:`UsageError`."""
    line = CommandLine()
    rest = _expand(arguments)
    rest.reverse()
    while rest:
        option = rest.pop()
        if option == "-o":
            line.output = rest.pop() if rest else ""
        elif option.startswith("-o") and option not in _ROLES and not option.startswith("-openmp"):
            line.output = option[2:]
        elif option in _WITH_VALUE and rest:
            _separate(line, option, rest.pop())
        elif option.startswith("-") and option != "-":
            if option.startswith("-x") and len(option) > 2:
                line.language = option[2:]
            else:
                _joined(line, option)
        else:
            _operand(line, option)
    return line
