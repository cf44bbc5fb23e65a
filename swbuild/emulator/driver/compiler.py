"""The stand-in compiler: a Sunway command line becomes host-gcc commands.

A slave file goes through: preprocess, rewrite (spin loops, assembly), compile, prefix its functions
with ``slave_``.  A hybrid link adds the runtime and, for every library function that slave code calls,
a ``slave_`` entry that jumps to it.
"""

from __future__ import annotations

import copy
import os
import sys

import ctext
import elf
import loose
import options
import rewrite
import sw64
from link import (
    check_roles,
    foreign_stubs,
    has_counted_code,
    has_slave_code,
    link_image,
    linked_objects,
)
from process import Failure, clean, must, read, run, scratch, write
from slave import (
    declared_functions,
    declaring,
    host_object,
    prefix_functions,
    slave_object,
    wanted_versions,
)
from tool import Tool, mpi_words

__all__ = ["main"]

_LANGUAGES = {".c": "c", ".i": "cpp-output", ".ii": "c++-cpp-output"}
ASSEMBLY = (".s", ".S")
#: What translated assembly says of its version.
UNCHECKED, CHECKED = "SW64_CHECKED = 0", "SW64_CHECKED = 1"
UNCOUNTED, COUNTED = "SW64_COUNTED = 0", "SW64_COUNTED = 1"
#: The machine's headers, and what tells a copy of one of them from a file that only has its name.
_VENDOR = ("athread.h", "slave.h", "dma.h", "simd.h", "crts.h")
_VENDOR_MARKS = (b"__real_athread_spawn", b"__builtin_sw64", b"__thread_local_fix", b"__builtin_sw_")


def stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name[: name.rfind(".")] if "." in name else name


def language_of(tool: Tool, line: options.CommandLine, source: str) -> str:
    if line.language and line.language != "none":
        return str(line.language)
    suffix = source[source.rfind(".") :] if "." in source else ""
    language = _LANGUAGES.get(suffix, "c++")
    return "c++" if tool.cxx and language == "c" else language


def common_flags(tool: Tool, language: str) -> list[str]:
    """Return the flags that go ahead of the user's: dialect, symbols, bit-exact floating point."""
    found = (
        ["-g1", "-ffp-contract=off", "-Wno-psabi", "-fcommon"]
        if language == "c"
        else ["-g1", "-ffp-contract=off", "-Wno-psabi"]
    )
    if language == "c":
        found += tool.facts.c_flags
        found.append("-fgnu89-inline")  # every object has its inline functions, weak: see inline_functions
    return [*found, *tool.facts.flags]


def copies(line: options.CommandLine) -> list[bytes]:
    """Return the contents of copies of the machine's own headers in the folders of the command line."""
    words = [*line.flags, ""]
    folders = [w[2:] or words[k + 1] for k, w in enumerate(words[:-1]) if w.startswith("-I")]
    paths = [f"{folder}/{name}" for folder in folders for name in _VENDOR]
    found = [read(path) for path in paths if os.path.isfile(path)]
    return [text for text in found if any(mark in text for mark in _VENDOR_MARKS)]


def include_flags(tool: Tool, line: options.CommandLine) -> list[str]:
    """Return the user's flags with the place of our headers, ahead of copies of the machine's.

    The guards of the copies are set, for headers beside them include them by the nearest place.
    """
    import re

    found = copies(line)
    if not found:
        return [*line.flags, *tool.headers()]
    guards = [re.search(rb"#\s*ifndef\s+(\w+)\s+#\s*define\s+\1\b", text) for text in found]
    ours = "slave.h" if line.role == "slave" else "athread.h"
    flags = [f"-D{guard[1].decode()}" for guard in guards if guard]
    return [
        *(word.replace("-isystem", "-I") for word in tool.headers()),
        *flags,
        "-include",
        f"{tool.include}/{ours}",
        *line.flags,
    ]


def preprocess_command(tool: Tool, line: options.CommandLine, source: str, language: str) -> list[str]:
    return [
        tool.gcc,
        *common_flags(tool, language),
        *tool.defines(line),
        "-include",
        f"{tool.include}/swemu_prelude.h",
        *include_flags(tool, line),
        *mpi_words(tool, "compile", line.mpi),
        "-x",
        language,
        source,
    ]


def alignment(tool: Tool, line: options.CommandLine) -> int:
    """Return the least alignment of arrays: -faddress_align, or what -msimd means on the machine."""
    return line.align or (tool.facts.vector_bytes if line.simd and tool.facts.simd_aligns else 0)


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
    if slave and language.startswith("c++") and not tool.facts.slave_cxx:
        raise Failure(
            f"{source}: error[SW601]: the compilers of the {tool.machine} take no C++ for slave code"
        )
    work = scratch()
    try:
        text = f"{work}/text.i"
        if language.endswith("cpp-output"):
            text = source
        else:
            command = preprocess_command(tool, line, source, language)
            must([*command, "-E", "-o", text, *depend_flags(line, target)])
        output = "cpp-output" if language in ("c", "cpp-output") else "c++-cpp-output"
        changed = read(text).decode("latin-1")
        if UNCHECKED in changed:
            write(f"{work}/checked.i", changed.replace(UNCHECKED, CHECKED).encode("latin-1"))
            write(f"{work}/counted.i", changed.replace(UNCOUNTED, COUNTED).encode("latin-1"))
        else:
            changed = rewritten(tool, line, changed, work, source, output == "cpp-output")
        write(f"{work}/final.i", changed.encode("latin-1"))
        weak = rewrite.inline_functions(changed) if output == "cpp-output" else set()
        stop = "-S" if line.stage == "assembly" else "-c"
        versions = wanted_versions(line.flags)
        # Integers that overflow, as those of random data do, wrap here and in the serial reference alike; the
        # machine's compilers are taken to make use of what C leaves undefined, so costed code may, too.
        extra = [] if "counted" in versions else ["-fwrapv"]
        extra += ["-fno-zero-initialized-in-bss"] if slave else []
        command = [tool.gcc, *common_flags(tool, "c" if output == "cpp-output" else "c++"), *extra]
        command += [*compile_flags(line.flags), "-fpreprocessed", "-x", output, stop]
        if slave and stop == "-c":
            is_c = output == "cpp-output"
            data = slave_object(tool, command, work, is_c, weak, versions)
            data = with_noted_calls(tool, command, work, changed, weak, versions) or data if is_c else data
            write(target, noted(tool, data, work, changed, "slave"))
        else:
            is_c = output == "cpp-output"
            if stop == "-S":
                plain = [*command, "-o", f"{work}/out", f"{work}/final.i"]
                status = declaring(plain, work) if is_c else run(plain)
                if status:
                    raise Failure("", status if status > 0 else 1)
                write(target, read(f"{work}/out") + marker(line, f"{work}/names"))
            else:
                data = host_object(tool, command, work, is_c, weak, "counted" in versions)
                write(target, noted(tool, data, work, changed, "host"))
    finally:
        clean(work)


def with_noted_calls(
    tool: Tool, command: list[str], work: str, text: str, weak: set[str], versions: list[str]
) -> bytes:
    """Return the object with the classes of arguments that C was not told; nothing where it was."""
    if not os.path.exists(f"{work}/names"):
        return b""
    names = loose.undeclared(read(f"{work}/names").decode("latin-1"))
    if not names or UNCHECKED in text:
        return b""
    write(f"{work}/final.i", loose.noted_calls(text, names).encode("latin-1"))
    return bytes(slave_object(tool, [*command, "-w"], work, True, weak, versions))


def noted(tool: Tool, data: bytes, work: str, text: str, role: str) -> bytes:
    """Return the object of a C file with what calls between it and assembly need to know."""
    names = f"{work}/names"
    if not os.path.exists(names) or elf.ElfObject(data).section(sw64.NOTES) is not None:
        return data
    return bytes(elf.add_section(data, sw64.NOTES, sw64.declarations(tool, names, text, role), elf.EXCLUDE))


def rewritten(tool: Tool, line: options.CommandLine, text: str, work: str, source: str, is_c: bool) -> str:
    """Return preprocessed text as the host's compiler takes it."""
    made = rewrite.rewrite(text, line.role == "slave", alignment(tool, line), is_c, tool.facts.assembly)
    sw64.tell_inferred(made.inferred)
    text = str(made.text)
    return registers(tool, line, work, source, is_c) + text if made.registers else text


def registers(tool: Tool, line: options.CommandLine, work: str, source: str, is_c: bool) -> str:
    """Return the preprocessed header of the processor's registers, to go ahead of the text of ``source``."""
    language = "c" if is_c else "c++"
    command = [tool.gcc, *common_flags(tool, language), *tool.defines(line), "-E", "-x", language]
    must([*command, "/dev/null", "-include", f"{tool.include}/swemu_sw64.h", "-o", f"{work}/registers.i"])
    text: str = read(f"{work}/registers.i").decode("latin-1")
    return text.replace('"/dev/null"', f'"{source}"') + f'\n# 1 "{source}"\n'


def assemble(tool: Tool, line: options.CommandLine, source: str, target: str) -> None:
    """Assemble what this stand-in wrote with -S.  Assembly of the real processors is translated."""
    if source.endswith(".s"):
        text = read(source).decode("latin-1")
        if "# swbuild-emulator " in text:
            assemble_own(tool, line, source, text, target)
            return
    work = scratch()
    try:
        text = preprocessed_assembly(tool, line, source, work) if source.endswith(".S") else text
        made = sw64.translated(tool, source, text, line.role == "slave", work)
        own = copy.copy(tool)
        own.cxx, own.gcc = False, "gcc"
        compile_object(own, assembly_line(line, made, source), made, target)
    finally:
        clean(work)


def assembly_line(line: options.CommandLine, made: str, source: str) -> options.CommandLine:
    """Return the command line for translated assembly, whose meaning no option changes.

    What is ``made`` goes by the name of its ``source``: some readers of debugging information name that file.
    """
    found = copy.copy(line)
    kept = [flag for flag in line.flags if flag.startswith(("-g", "-DSWBUILD_EMU_"))]
    found.flags = [*kept, "-O2", "-fno-strict-aliasing", "-fwrapv", "-fno-trapping-math", "-w"]
    found.flags.append(f"-fdebug-prefix-map={made}={source}")
    found.flags += ["-fno-crossjumping", "-fno-tree-tail-merge"]  # each report is at its own line
    found.flags += ["-fPIC", "-ftls-model=initial-exec"]  # a name may be of a library's function
    if os.uname().machine == "x86_64":  # registers on the stack need no more than SSE does
        found.flags.append("-mpreferred-stack-boundary=5")
    found.language, found.depend = "c", []
    return found


def preprocessed_assembly(tool: Tool, line: options.CommandLine, source: str, work: str) -> str:
    """Return the text of an assembly file that is for the C preprocessor; it has its marks of lines."""
    command = [tool.gcc, *tool.defines(line), *include_flags(tool, line), "-D__ASSEMBLER__=1", "-w"]
    must([*command, "-x", "assembler-with-cpp", source, "-E", "-o", f"{work}/assembly.i", *line.depend])
    return str(read(f"{work}/assembly.i").decode("latin-1"))


def assemble_own(tool: Tool, line: options.CommandLine, source: str, text: str, target: str) -> None:
    """Assemble what this stand-in wrote with -S."""
    role = line.role or "host"
    if f"# swbuild-emulator {role}" not in text:
        raise Failure(f"{source}: error[SW601]: it was compiled for the other side: assemble it as that")
    must([tool.gcc, "-c", "-o", target, source])
    if role == "slave":
        declared = set(text.split("# declares ", 1)[-1].split("\n", 1)[0].split())
        write(target, prefix_functions(read(target), declared, True))


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
        elif flag in (
            "-I",
            "-D",
            "-U",
            "-include",
            "-imacros",
            "-isystem",
            "-iquote",
            "-idirafter",
            "-iprefix",
        ):
            skip = True
        elif not flag.startswith(("-I", "-D", "-U", "-Wp,")):
            found.append(flag)
    return found


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
        line.link += sw64.bridges(tool, linked_objects(line), work)
        line.link += foreign_stubs(tool, line, work)
        objects = linked_objects(line)
        if not role and tool.mpi and has_slave_code(objects):
            line.role = "hybrid"  # what the machine's mpicc does without being told
        check_roles(line, objects)
        if role != "slave" and not line.shared and has_counted_code(objects):
            line.role = "hybrid"  # what counts its work needs the runtime, even without slave code
        link_image(tool, line, objects, work)
    finally:
        clean(work)


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
        return int(run([tool.gcc, *line.flags]))
    if line.passthrough or line.stage == "preprocess":
        preprocess(tool, line)
    elif not line.link:
        return int(run([tool.gcc, *line.flags]))
    elif line.stage == "link":
        link(tool, line)
    else:
        if line.role == "hybrid":
            raise Failure("error[SW601]: -mhybrid is for linking; compile with -mhost or -mslave")
        compile_all(tool, line)
    return 0


def main(arguments: list[str]) -> int:
    """Act as the stand-in; the first words are ours, the rest is the user's command line."""
    settings = dict(zip(arguments[:10:2], arguments[1:10:2], strict=True))
    tool = Tool(*(settings[name] for name in ("--tool", "--machine", "--home", "--include", "--root")))
    sys.path.append(tool.root)
    try:
        return dispatch(tool, options.parse(arguments[10:]))
    except options.UsageError as error:
        print(f"{tool.name}: error[SW601]: {error}", file=sys.stderr)
        return 1
    except ctext.SourceError as error:
        print(error, file=sys.stderr)
        return 1
    except Failure as failure:
        if str(failure):
            print(
                f"{tool.name}: {failure}" if str(failure).startswith("error") else str(failure),
                file=sys.stderr,
            )
        return int(failure.status)
    except OSError as error:
        print(f"{tool.name}: error[SW601]: {error}", file=sys.stderr)
        return 1
