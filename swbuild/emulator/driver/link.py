"""The hybrid link: roles, library entries for slave code, further versions, foreign libraries."""

from __future__ import annotations

import os
import sys

import elf
import options
from process import Failure, finish, must, read, run, start, write
from slave import VARIANTS
from statics import check_statics
from tool import Tool, mpi_words

__all__ = [
    "check_roles",
    "foreign_stubs",
    "has_counted_code",
    "has_slave_code",
    "link_image",
    "linked_objects",
]

Objects = list[tuple[str, elf.ElfObject]]


def object_role(obj: elf.ElfObject) -> str:
    """Return the role that an object was compiled for: slave, host, or nothing for a foreign object."""
    if ".swbuild.slave" in obj.sections:
        return "slave"
    return "host" if ".swbuild.host" in obj.sections else ""


def linked_objects(line: options.CommandLine) -> Objects:
    """Return the objects of the link that can be looked into: files, and members of archives."""
    found: Objects = []
    for path in archive_paths(line):
        try:
            _, pieces = elf.pieces(path)
        except OSError:
            continue
        for name, piece in pieces:
            try:
                found.append((f"{path}({name})" if name else path, elf.ElfObject(piece)))
            except ValueError:
                continue
    return found


def library_path(line: options.CommandLine, word: str) -> str:
    """Return the file that a word of the link stands for: itself, or the archive that -l finds with -L."""
    if not word.startswith("-l"):
        return word.removeprefix("file:")
    folders = [other[2:] for other in line.link if other.startswith("-L")]
    return next((p for p in (f"{folder}/lib{word[2:]}.a" for folder in folders) if os.path.exists(p)), word)


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


def slave_entries(objects: Objects, runtime: set[str]) -> list[str]:
    """Return the library functions that slave code calls: undefined everywhere in the link."""
    defined = set(runtime)
    wanted: set[str] = set()
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
        text.append(
            f"\t.globl slave_{name}\n\t.type slave_{name},@function\n"
            f"slave_{name}:\n\tjmp *{name}@GOTPCREL(%rip)\n"
        )
        text.append(f"\t.size slave_{name},.-slave_{name}\n")
    return "".join(text).encode()


def has_slave_code(objects: Objects) -> bool:
    return any(object_role(obj) == "slave" for _, obj in objects)


def has_counted_code(objects: Objects) -> bool:
    return any(obj.section(VARIANTS["counted"]) for _, obj in objects)


def check_roles(line: options.CommandLine, objects: Objects) -> None:
    if line.role == "hybrid":
        return
    for path, obj in objects:
        if obj.type == 1 and object_role(obj) == "slave":
            raise Failure(
                f"{path}: error[SW601]: slave object in a {line.role or 'host'} link\n"
                "  hint: link host and slave objects with -mhybrid or -hybrid"
            )


def link_image(tool: Tool, line: options.CommandLine, objects: Objects, work: str) -> None:
    """Link the executable; with slave code in it, link its further versions too and put them inside."""
    target = line.output or "a.out"
    files = [w[5:] if w.startswith("file:") else w for w in line.link]
    twins = {}
    for kind, section in () if other_runtime() else VARIANTS.items():
        if line.role == "hybrid" and not line.shared and any(obj.section(section) for _, obj in objects):
            twin_files, twin_objects = variant_words(line, kind, work)
            command = link_command(tool, line, twin_files, twin_objects, f"{work}/{kind}.exe", kind, work)
            twins[kind] = start(command, f"{work}/{kind}.err")
    image = f"{work}/image"
    status = run(link_command(tool, line, files, objects, image, "fast", work))
    for kind, child in twins.items():  # they run beside the first one: only one of them may speak at a time
        bad = finish(child)
        if bad and not status:
            sys.stderr.write(read(f"{work}/{kind}.err").decode(errors="replace"))
        status = status or bad
    if status:
        raise Failure("", status if status > 0 else 1)
    data = read(image)
    if line.role == "hybrid":
        check_statics(data, objects, tool.machine, tool.facts.ldm_bytes)
    for kind in twins:
        data = elf.add_section(data, VARIANTS[kind], read(f"{work}/{kind}.exe"))
    write(target, data)
    if os.path.isfile(target):
        os.chmod(target, os.stat(image).st_mode & 0o777)


def other_runtime() -> str:
    """Return the archive that SWBUILD_EMU_RUNTIME names in place of the runtime (of a sanitizer, say)."""
    return os.environ.get("SWBUILD_EMU_RUNTIME", "")


def link_command(
    tool: Tool,
    line: options.CommandLine,
    files: list[str],
    objects: Objects,
    target: str,
    kind: str,
    work: str,
) -> list[str]:
    command = [tool.gcc, *[f for f in line.flags if f in ("-v", "-w") or f.startswith(("-f", "-g", "-O"))]]
    command += ["-o", target, *files]
    if line.role == "hybrid":
        command += hybrid_words(tool, objects, kind, work)
    return [*command, "-lm", *mpi_words(tool, "link")]


def variant_words(line: options.CommandLine, kind: str, work: str) -> tuple[list[str], Objects]:
    """Return the link's files with objects replaced by their other version if they have one; the objects."""
    files: list[str] = []
    objects: Objects = []
    folders = [word[2:] for word in line.link if word.startswith("-L")]
    for number, word in enumerate(line.link):
        path = word[5:] if word.startswith("file:") else ""
        if word.startswith("-l"):
            path = next((p for p in (f"{f}/lib{word[2:]}.a" for f in folders) if os.path.exists(p)), "")
        files.append(variant_file(path, kind, f"{work}/{kind}-{number}", objects) if path else word)
    return files, objects


def variant_file(path: str, kind: str, prefix: str, objects: Objects) -> str:
    """Write the other version of one object or archive, note its objects, and return its path."""
    archive, pieces = elf.pieces(path)
    changed, parts = False, []
    for name, piece in pieces:
        try:
            other = elf.ElfObject(piece).section(VARIANTS[kind])
        except ValueError:
            parts.append(piece)
            continue
        changed |= other is not None
        parts.append(other if other is not None else piece)
        objects.append((f"{path}({name})", elf.ElfObject(parts[-1])))
    if not changed:
        return path
    names = []
    for k, piece in enumerate(parts):
        names.append(f"{prefix}-{k}.o")
        write(names[-1], piece)
    if not archive:
        return names[0]
    must(["ar", "rcs", f"{prefix}.a", *names])
    return f"{prefix}.a"


def hybrid_words(tool: Tool, objects: Objects, kind: str, work: str) -> list[str]:
    library = other_runtime() or tool.library(kind)
    with open(f"{library}.names", encoding="utf-8") as stream:
        runtime = set(stream.read().split())
    names = slave_entries(objects, runtime)
    words = []
    if names:
        write(f"{work}/{kind}.s", entries_assembly(names))
        must(["gcc", "-c", "-o", f"{work}/{kind}.o", f"{work}/{kind}.s"])
        words.append(f"{work}/{kind}.o")
    return [*words, "-Wl,--whole-archive", library, "-Wl,--no-whole-archive", "-pthread"]


def foreign_stubs(tool: Tool, line: options.CommandLine, work: str) -> list[str]:
    """Drop libraries with Sunway machine code; give their functions that are called empty bodies.

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
    names = sorted(
        n for n in wanted if n in offered or (line.counters and n.removeprefix("slave_").startswith("penv_"))
    )
    line.link = [word for word in line.link if library_path(line, word) not in lost]
    if lost or names:
        what = f"{', '.join(sorted(lost)) or '-lswperf'}: code of another processor cannot run here"
        calls = ", ".join(names) or "(none is called)"
        print(f"{tool.name}: warning[SW601]: {what}; these functions do nothing: {calls}", file=sys.stderr)
    text = "".join(f"\t.globl {n}\n\t.type {n},@function\n{n}:\n\txorl %eax,%eax\n\tret\n" for n in names)
    write(f"{work}/foreign.s", f'\t.section .note.GNU-stack,"",@progbits\n\t.text\n{text}'.encode())
    must(["gcc", "-c", "-o", f"{work}/foreign.o", f"{work}/foreign.s"])
    return [f"file:{work}/foreign.o"]
