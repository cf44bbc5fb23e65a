"""The stand-in compiler: a Sunway command line becomes host-gcc commands.

A slave file goes through: preprocess, rewrite (spin loops, assembly), compile, prefix its functions
with ``slave_``.  A hybrid link adds the runtime and, for every library function that slave code calls,
a ``slave_`` entry that jumps to it.
"""

from __future__ import annotations

import os
import sys

import elf
import options
import rewrite

__all__ = ["main"]

_MACHINES = {"sw26010": "26010", "sw26010-pro": "26011"}
_OWN_MACHINE = {
    "sw5cc": "sw26010", "sw5CC": "sw26010", "sw5c++": "sw26010", "swcc": "sw26010", "swCC": "sw26010",
    "sw5cc.new": "sw26010", "sw9gcc": "sw26010-pro", "swgcc": "sw26010-pro", "sw9g++": "sw26010-pro",
    "swg++": "sw26010-pro",
}  # fmt: skip
_LANGUAGES = {".c": "c", ".i": "cpp-output", ".ii": "c++-cpp-output"}
ASSEMBLY = (".s", ".S")
CHECKED = ".swbuild.checked"
_KEPT = ("__swemu_", "__tsan_", "__sanitizer_", "__real_")


class Failure(Exception):
    """A message for the user and the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class Tool:
    """Who was called, for which machine, and where things are."""

    def __init__(self, name: str, machine: str, home: str, include: str) -> None:
        self.name, self.home, self.include = name, home, include
        self.machine = _OWN_MACHINE.get(name, machine)
        self.cxx = name.endswith(("++", "CC", "cxx"))
        self.mpi = name.startswith("mpi")
        self.gcc = os.environ.get("SWBUILD_EMU_CXX", "g++") if self.cxx else os.environ.get("SWBUILD_EMU_CC", "gcc")

    def library(self, kind: str) -> str:
        return f"{self.home}/lib/libswemu-{self.machine}-{kind}.a"

    def defines(self, line: options.CommandLine) -> list[str]:
        role = "slave" if line.role == "slave" else "host"
        found = [f"-D__swemu_machine={_MACHINES[self.machine]}", f"-D__swemu_{role}__=1", "-D__sw_64__=1"]
        if self.machine == "sw26010-pro":
            found.append(f"-D__sw_{role}__=1")
        if line.simd:
            found.append(f"-D_SIMD_{role.upper()}=1")
        return found


def start(command: list[str], quiet: bool = False) -> int:
    """Start a command and return its process number."""
    if os.environ.get("SWBUILD_EMU_VERBOSE"):
        print("+", " ".join(command), file=sys.stderr)
    try:
        silence = [(os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)] if quiet else []
        return os.posix_spawnp(command[0], command, os.environ, file_actions=silence)
    except FileNotFoundError:
        raise Failure(f"error[SW601]: '{command[0]}' is not installed") from None


def finish(child: int) -> int:
    """Wait for a process and return its exit status."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(command: list[str]) -> int:
    """Run a command and return its exit status."""
    return finish(start(command))


def must(command: list[str]) -> None:
    """Run a command; its failure is ours."""
    status = run(command)
    if status:
        raise Failure("", status if status > 0 else 1)


def scratch() -> str:
    """Return a fresh directory for intermediate files."""
    base = os.environ.get("TMPDIR", "/tmp")
    for attempt in range(1000):
        path = f"{base}/swemu-{os.getpid()}-{attempt}"
        try:
            os.mkdir(path, 0o700)
            return path
        except FileExistsError:
            continue
    raise Failure("error[SW601]: no scratch directory")


def clean(path: str) -> None:
    for name in os.listdir(path):
        os.unlink(f"{path}/{name}")
    os.rmdir(path)


def read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def write(path: str, data: bytes) -> None:
    """Write a file by renaming, so that a parallel reader never sees half of it."""
    part = f"{path}.{os.getpid()}.part"
    with open(part, "wb") as stream:
        stream.write(data)
    os.replace(part, path)


def stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name[: name.rfind(".")] if "." in name else name


def language_of(tool: Tool, line: options.CommandLine, source: str) -> str:
    if line.language and line.language != "none":
        return line.language
    suffix = source[source.rfind(".") :] if "." in source else ""
    language = _LANGUAGES.get(suffix, "c++")
    return "c++" if tool.cxx and language == "c" else language


def common_flags(tool: Tool, language: str) -> list[str]:
    """Return the flags that go ahead of the user's: dialect, symbols, bit-exact floating point."""
    found = ["-g1", "-ffp-contract=off", "-Wno-psabi", "-fcommon"] if language == "c" else ["-g1", "-ffp-contract=off", "-Wno-psabi"]
    if language == "c" and tool.machine == "sw26010":
        found += ["-std=gnu99", "-fgnu89-inline"]
    if tool.machine == "sw26010":
        found.append("-O2")  # what this compiler does when it is told nothing
    return found


def preprocess_command(tool: Tool, line: options.CommandLine, source: str, language: str) -> list[str]:
    return [
        tool.gcc, *common_flags(tool, language), *tool.defines(line), "-include", f"{tool.include}/swemu_prelude.h",
        *line.flags, "-isystem", tool.include, *mpi_words(tool, "compile", line.mpi), "-x", language,
    ] + [source]  # fmt: skip


def alignment(tool: Tool, line: options.CommandLine) -> int:
    """Return the least alignment of arrays: -faddress_align, or what -msimd means on the SW26010."""
    return line.align or (32 if line.simd and tool.machine == "sw26010" else 0)


def depend_flags(line: options.CommandLine, target: str) -> list[str]:
    """Return the dependency options with the names made explicit that gcc would derive from -o."""
    if not line.depend:
        return []
    found = list(line.depend)
    if "-MF" not in found and ("-MD" in found or "-MMD" in found):
        found += ["-MF", (target[: target.rfind(".")] if "." in target.rsplit("/", 1)[-1] else target) + ".d"]
    if "-MT" not in found and "-MQ" not in found:
        found += ["-MT", target]
    return found


def compile_object(tool: Tool, line: options.CommandLine, source: str, target: str) -> None:
    """Make `target` (an object, or assembly with -S) from one source file."""
    if source.endswith(ASSEMBLY):
        assemble(tool, line, source, target)
        return
    language = language_of(tool, line, source)
    slave = line.role == "slave"
    if slave and tool.machine == "sw26010" and language.startswith("c++"):
        raise Failure(f"{source}: error[SW601]: the SW26010 compilers take no C++ for slave code")
    work = scratch()
    try:
        text = f"{work}/text.i"
        if language.endswith("cpp-output"):
            text = source
        else:
            command = preprocess_command(tool, line, source, language)
            must([*command, "-E", "-o", text, *depend_flags(line, target)])
        output = "cpp-output" if language in ("c", "cpp-output") else "c++-cpp-output"
        changed = rewrite.rewrite(read(text).decode("latin-1"), slave, alignment(tool, line))
        write(f"{work}/final.i", changed.encode("latin-1"))
        stop = "-S" if line.stage == "assembly" else "-c"
        extra = ["-fno-zero-initialized-in-bss"] if slave else []
        command = [tool.gcc, *common_flags(tool, "c" if output == "cpp-output" else "c++"), *extra]
        command += [*compile_flags(line.flags), "-fpreprocessed", "-x", output, stop]
        if slave and stop == "-c":
            write(target, slave_object(command, work, output == "cpp-output"))
        else:
            names = ["-aux-info", f"{work}/names"] if slave and output == "cpp-output" else []
            must([*command, *names, "-o", f"{work}/out", f"{work}/final.i"])
            made = read(f"{work}/out")
            write(target, made + marker(line, f"{work}/names") if stop == "-S" else made)
    finally:
        clean(work)


def assemble(tool: Tool, line: options.CommandLine, source: str, target: str) -> None:
    """Assemble what this stand-in wrote with -S.

    Assembly of the real processors cannot run: when it names the C file that it was compiled from, and
    that lies beside it, the C file is compiled instead.
    """
    text = read(source).decode("latin-1")
    role = line.role or "host"
    if f"# swbuild-emulator {role}" not in text:
        origin = compiled_from(source, text)
        if origin:
            print(f"{source}: warning[SW601]: assembly of the Sunway processor cannot run here; "
                  f"compiling {origin}, from which it was made", file=sys.stderr)  # fmt: skip
            compile_object(tool, line, origin, target)
            return
        raise Failure(
            f"{source}: error[SW601]: assembly of the Sunway processors cannot be emulated\n"
            "  hint: compile the C source, or write the assembly anew with -S here"
        )
    must([tool.gcc, "-c", "-o", target, source])
    if role == "slave":
        write(target, prefix_functions(read(target), set(text.split("# declares ", 1)[-1].split("\n", 1)[0].split()), True))


def compiled_from(source: str, text: str) -> str:
    """Return the C file beside an assembly file from which the Sunway compiler says it made it, or nothing."""
    import re

    match = re.search(r"^\s*# Compiling (\S+\.[cC]\w*) ", text, re.MULTILINE)
    if not match:
        return ""
    folder = source.rsplit("/", 1)[0] + "/" if "/" in source else ""
    path = folder + match[1].rsplit("/", 1)[-1]
    return path if os.path.exists(path) else ""


_CHECKED_FLAGS = (
    "-fsanitize=thread", "--param", "tsan-distinguish-volatile=1", "-fno-tree-loop-distribute-patterns", "-fno-omit-frame-pointer",
    "-w", "-g1",
)  # fmt: skip


def slave_object(command: list[str], work: str, is_c: bool) -> bytes:
    """Compile a slave file twice, plain and for checked mode, and return one object that holds both."""
    source = f"{work}/final.i"
    names = ["-aux-info", f"{work}/names"] if is_c else []
    checked = os.environ.get("SWBUILD_EMU_CHECKED_CODE", "1") != "0"
    second = start([*command, *_CHECKED_FLAGS, "-o", f"{work}/checked.o", source], quiet=True) if checked else None
    status = run([*command, *names, "-o", f"{work}/out", source])
    if second is not None and finish(second) and not status:
        raise Failure(f"{source}: error[SW601]: the version for checked mode does not compile")
    if status:
        raise Failure("", status if status > 0 else 1)
    declared = declared_functions(f"{work}/names") if is_c else set()
    data = prefix_functions(read(f"{work}/out"), declared, is_c)
    if second is None:
        return data
    other = prefix_functions(read(f"{work}/checked.o"), declared, is_c)
    return elf.add_section(data, CHECKED, other, elf.EXCLUDE)


def marker(line: options.CommandLine, names: str) -> bytes:
    """Return the last lines of an assembly file: what `assemble` needs to know."""
    declared = " ".join(sorted(declared_functions(names)))
    return f"# swbuild-emulator {line.role or 'host'}\n# declares {declared}\n".encode()


def compile_flags(flags: list[str]) -> list[str]:
    """Return the user's flags without those that were spent in preprocessing."""
    found, skip = [], False
    for flag in flags:
        if skip:
            skip = False
        elif flag in ("-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix"):
            skip = True
        elif not flag.startswith(("-I", "-D", "-U", "-Wp,")):
            found.append(flag)
    return found


def declared_functions(path: str) -> set[str]:
    """Return the names of the functions that the file declares, from gcc's -aux-info."""
    import re

    if not os.path.exists(path):
        return set()
    pattern = re.compile(r"([A-Za-z_$][\w$]*) \(")
    found: set[str] = set()
    for text in read(path).decode("latin-1").splitlines():
        found.update(pattern.findall(text.split("*/", 1)[-1]))
    return found


def called_symbols(obj: elf.ElfObject) -> set[int]:
    """Return the indices of undefined symbols that are called (for C++, where declarations are not known)."""
    import struct

    found = set()
    for header in obj.headers:
        if header[1] != 4:
            continue
        for at in range(header[4], header[4] + header[5], 24):
            info = struct.unpack_from("<Q", obj.data, at + 8)[0]
            if info & 0xFFFFFFFF == 4:
                found.add(info >> 32)
    return found


def prefix_functions(data: bytes, declared: set[str], known: bool) -> bytes:
    """Return the object with `slave_` ahead of every external function it defines or uses."""
    obj = elf.ElfObject(data)
    called = set() if known else called_symbols(obj)
    names = {}
    for symbol in obj.symbols():
        if symbol.binding == 0 or symbol.name.startswith(_KEPT):
            continue
        if symbol.section:
            function = symbol.kind == elf.FUNCTION
        else:
            function = symbol.name in declared or symbol.index in called
        if function:
            names[symbol.index] = "slave_" + symbol.name
    return elf.rename_symbols(obj, names)


def object_role(obj: elf.ElfObject) -> str:
    """Return the role that an object was compiled for: slave, host, or nothing for a foreign object."""
    if ".swbuild.slave" in obj.sections:
        return "slave"
    return "host" if ".swbuild.host" in obj.sections else ""


def linked_objects(line: options.CommandLine) -> list[tuple[str, elf.ElfObject]]:
    """Return the objects of the link that can be looked into: files, and members of archives."""
    found: list[tuple[str, elf.ElfObject]] = []
    for path in archive_paths(line):
        try:
            data = read(path)
        except OSError:
            continue
        pieces = elf.members(data) if data[:8] == b"!<arch>\n" else [("", data)]
        for name, piece in pieces:
            try:
                found.append((f"{path}({name})" if name else path, elf.ElfObject(piece)))
            except ValueError:
                continue
    return found


def archive_paths(line: options.CommandLine) -> list[str]:
    """Return the files of the link, with the archives that -L and -l name."""
    folders = [word[2:] for word in line.link if word.startswith("-L")]
    found = []
    for word in line.link:
        if word.startswith("file:"):
            found.append(word[5:])
        elif word.startswith("-l"):
            found += [p for p in (f"{folder}/lib{word[2:]}.a" for folder in folders) if os.path.exists(p)][:1]
    return found


def slave_entries(objects: list[tuple[str, elf.ElfObject]], runtime: set[str]) -> list[str]:
    """Return the library functions that slave code calls: undefined everywhere in the link."""
    defined, wanted = set(runtime), set()
    for _, obj in objects:
        for symbol in obj.symbols():
            if not symbol.name.startswith("slave_") or symbol.binding == 0:
                continue
            (defined if symbol.section else wanted).add(symbol.name)
    slave = [obj for _, obj in objects if object_role(obj) == "slave"]
    wanted = {s.name for obj in slave for s in obj.symbols() if not s.section and s.name.startswith("slave_")}
    return sorted(name[6:] for name in wanted - defined)


def entries_assembly(names: list[str]) -> bytes:
    text = ['\t.section .note.GNU-stack,"",@progbits\n\t.text\n']
    for name in names:
        text.append(f"\t.globl slave_{name}\n\t.type slave_{name},@function\nslave_{name}:\n\tjmp *{name}@GOTPCREL(%rip)\n")
        text.append(f"\t.size slave_{name},.-slave_{name}\n")
    return "".join(text).encode()


def check_roles(line: options.CommandLine, objects: list[tuple[str, elf.ElfObject]]) -> None:
    if line.role == "hybrid":
        return
    for path, obj in objects:
        if obj.type == 1 and object_role(obj) == "slave":
            raise Failure(
                f"{path}: error[SW601]: slave object in a {line.role or 'host'} link\n"
                "  hint: link host and slave objects with -mhybrid (SW26010: -hybrid)"
            )


def link(tool: Tool, line: options.CommandLine) -> None:
    """Compile what is still source, then link."""
    work = scratch()
    try:
        role, line.role = line.role, line.role if line.role == "slave" else "host"
        words = []
        for number, word in enumerate(line.link):
            if word.startswith("source:"):
                made = f"{work}/{number}-{stem(word[7:])}.o"
                compile_object(tool, line, word[7:], made)
                word = "file:" + made
            words.append(word)
        line.link, line.role = words, role
        stubs = foreign_stubs(tool, line, work)
        line.link += stubs
        objects = linked_objects(line)
        check_roles(line, objects)
        link_image(tool, line, objects, work)
    finally:
        clean(work)


def link_image(tool: Tool, line: options.CommandLine, objects: list[tuple[str, elf.ElfObject]], work: str) -> None:
    """Link the executable; with slave code in it, link its checked twin too and put it inside."""
    target = line.output or "a.out"
    files = [w[5:] if w.startswith("file:") else w for w in line.link]
    twin = None
    if line.role == "hybrid" and not line.shared and any(obj.section(CHECKED) for _, obj in objects):
        checked_files, checked_objects = checked_words(line, work)
        twin = start(link_command(tool, line, checked_files, checked_objects, f"{work}/twin", "checked", work))
    status = run(link_command(tool, line, files, objects, f"{work}/image" if twin else target, "fast", work))
    if twin is None:
        if status:
            raise Failure("", status if status > 0 else 1)
        return
    status = finish(twin) or status
    if status:
        raise Failure("", status if status > 0 else 1)
    write(target, elf.add_section(read(f"{work}/image"), CHECKED, read(f"{work}/twin")))
    os.chmod(target, os.stat(f"{work}/image").st_mode & 0o777)


def link_command(tool: Tool, line: options.CommandLine, files: list[str], objects: list[tuple[str, elf.ElfObject]],
                 target: str, kind: str, work: str) -> list[str]:  # fmt: skip
    command = [tool.gcc, *[f for f in line.flags if f in ("-v", "-w") or f.startswith(("-f", "-g", "-O"))]]
    command += ["-o", target, *files]
    if line.role == "hybrid":
        command += hybrid_words(tool, objects, kind, work)
    return [*command, "-lm", *mpi_words(tool, "link")]


def checked_words(line: options.CommandLine, work: str) -> tuple[list[str], list[tuple[str, elf.ElfObject]]]:
    """Return the link's files with every slave object replaced by its checked version, and the objects."""
    files: list[str] = []
    objects: list[tuple[str, elf.ElfObject]] = []
    folders = [word[2:] for word in line.link if word.startswith("-L")]
    for number, word in enumerate(line.link):
        path = word[5:] if word.startswith("file:") else ""
        if word.startswith("-l"):
            path = next((p for p in (f"{f}/lib{word[2:]}.a" for f in folders) if os.path.exists(p)), "")
        files.append(checked_file(path, number, work, objects) if path else word)
    return files, objects


def checked_file(path: str, number: int, work: str, objects: list[tuple[str, elf.ElfObject]]) -> str:
    """Write the checked version of one object or archive, note its objects, and return its path."""
    data = read(path)
    archive = data[:8] == b"!<arch>\n"
    pieces = elf.members(data) if archive else [("", data)]
    changed, parts = False, []
    for name, piece in pieces:
        try:
            other = elf.ElfObject(piece).section(CHECKED)
        except ValueError:
            parts.append((name, piece))
            continue
        changed |= other is not None
        piece = other if other is not None else piece
        objects.append((path, elf.ElfObject(piece)))
        parts.append((name, piece))
    if not changed:
        return path
    names = []
    for k, (_, piece) in enumerate(parts):
        names.append(f"{work}/{number}-{k}.checked.o")
        write(names[-1], piece)
    if not archive:
        return names[0]
    made = f"{work}/{number}.checked.a"
    must(["ar", "rcs", made, *names])
    return made


def hybrid_words(tool: Tool, objects: list[tuple[str, elf.ElfObject]], kind: str, work: str) -> list[str]:
    library = tool.library(kind)
    with open(f"{library}.names", encoding="utf-8") as stream:
        runtime = set(stream.read().split())
    names = slave_entries(objects, runtime)
    words = []
    if names:
        write(f"{work}/{kind}.s", entries_assembly(names))
        must(["gcc", "-c", "-o", f"{work}/{kind}.o", f"{work}/{kind}.s"])
        words.append(f"{work}/{kind}.o")
    return [*words, "-Wl,--whole-archive", library, "-Wl,--no-whole-archive", "-pthread"]


def mpi_words(tool: Tool, stage: str, asked: bool = False) -> list[str]:
    """Return the words that the installed MPI adds when compiling (or linking); none without an MPI."""
    if not tool.mpi and not asked:
        return []
    wrapper = find_mpi("mpicxx" if tool.cxx else "mpicc")
    if not wrapper:
        if stage == "link":
            print(f"{tool.name}: note: no MPI is installed here (tried Open MPI); linking without it", file=sys.stderr)
        return []
    import subprocess

    shown = subprocess.run([wrapper, f"--showme:{stage}"], capture_output=True, text=True, check=False)
    return shown.stdout.split() if shown.returncode == 0 else []


def find_mpi(name: str) -> str:
    """Return the real MPI compiler on PATH that is not one of the stand-ins."""
    own = f"{os.path.realpath(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))}/"
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for candidate in (f"{folder}/{name}.openmpi", f"{folder}/{name}"):
            if os.access(candidate, os.X_OK) and not os.path.realpath(candidate).startswith(own):
                return candidate
    return ""


def foreign_stubs(tool: Tool, line: options.CommandLine, work: str) -> list[str]:
    """Drop libraries with Sunway machine code from the link; give their functions that are called empty bodies.

    The functions of -lswperf (penv_…, the hardware's counters) are treated in the same way.
    """
    objects = linked_objects(line)
    lost = {path.split("(", 1)[0] for path, obj in objects if obj.foreign}
    if not lost and not line.counters:
        return []
    offered = {s.name for _, obj in objects if obj.foreign for s in obj.symbols() if s.section and s.binding}
    native = [obj for _, obj in objects if not obj.foreign]
    defined = {s.name for obj in native for s in obj.symbols() if s.section and s.binding}
    wanted = {s.name for obj in native for s in obj.symbols() if not s.section} - defined
    names = sorted(n for n in wanted if n in offered or line.counters and n.removeprefix("slave_").startswith("penv_"))
    line.link = [word for word in line.link if word.removeprefix("file:") not in lost]
    if lost or names:
        what = f"{', '.join(sorted(lost)) or '-lswperf'}: code of another processor cannot run here"
        print(f"{tool.name}: warning[SW601]: {what}; these functions do nothing: {', '.join(names) or '(none is called)'}",
              file=sys.stderr)  # fmt: skip
    text = "".join(f"\t.globl {n}\n\t.type {n},@function\n{n}:\n\txorl %eax,%eax\n\tret\n" for n in names)
    write(f"{work}/foreign.s", f'\t.section .note.GNU-stack,"",@progbits\n\t.text\n{text}'.encode())
    must(["gcc", "-c", "-o", f"{work}/foreign.o", f"{work}/foreign.s"])
    return [f"file:{work}/foreign.o"]


def preprocess(tool: Tool, line: options.CommandLine) -> None:
    for source in line.sources:
        command = preprocess_command(tool, line, source, language_of(tool, line, source))
        must([*command, "-E", *(["-o", line.output] if line.output else []), *line.depend])


def compile_all(tool: Tool, line: options.CommandLine) -> None:
    if line.output and len(line.sources) > 1:
        raise Failure("error[SW601]: cannot name one output (-o) for several files with -c or -S")
    for source in line.sources:
        suffix = ".s" if line.stage == "assembly" else ".o"
        compile_object(tool, line, source, line.output or stem(source) + suffix)


def dispatch(tool: Tool, line: options.CommandLine) -> int:
    if line.passthrough and not (line.depend and line.sources):
        return run([tool.gcc, *line.flags])
    if line.passthrough or line.stage == "preprocess":
        preprocess(tool, line)
    elif not line.link:
        return run([tool.gcc, *line.flags])
    elif line.stage == "link":
        link(tool, line)
    else:
        if line.role == "hybrid":
            raise Failure("error[SW601]: -mhybrid is for linking; compile with -mhost or -mslave")
        compile_all(tool, line)
    return 0


def main(arguments: list[str]) -> int:
    """Act as the stand-in; the first words are ours, the rest is the user's command line."""
    settings = dict(zip(arguments[:8:2], arguments[1:8:2]))
    tool = Tool(settings["--tool"], settings["--machine"], settings["--home"], settings["--include"])
    try:
        return dispatch(tool, options.parse(arguments[8:]))
    except options.UsageError as error:
        print(f"{tool.name}: error[SW601]: {error}", file=sys.stderr)
        return 1
    except rewrite.SourceError as error:
        print(error, file=sys.stderr)
        return 1
    except Failure as failure:
        if str(failure):
            print(f"{tool.name}: {failure}" if str(failure).startswith("error") else str(failure), file=sys.stderr)
        return failure.status
