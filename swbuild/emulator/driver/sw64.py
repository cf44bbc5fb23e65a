"""Assembly of the real processors: translated when it is compiled, connected with C when it is linked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import elf
import loose
from process import Failure, must, read, write
from tool import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from link import Objects

__all__ = ["NOTES", "bridges", "declarations", "tell_inferred", "translated"]

#: The section with what the link has to know of an object (swbuild/sw64/notes.py reads it).
NOTES = ".swbuild.sw64"
#: What calls of the libraries are declared by.
_HEADERS = ("stdio.h", "stdlib.h", "string.h", "math.h", "ctype.h", "time.h", "unistd.h", "sys/time.h")


def translated(tool: Tool, source: str, text: str, slave: bool, work: str) -> str:
    """Write the C for an assembly file and return its path."""
    modules(tool)
    from swbuild.sw64.translate import Refused, translate

    try:
        made = translate(text, source, slave, tool.facts.assembly == "sws")
    except Refused as refused:
        raise Failure(str(refused)) from None
    tell_inferred(made.inferred)
    target = f"{work}/assembly.c"
    notes = _library(tool, made.needs, slave, work) if made.needs else []
    block = "".join(f'    "\\t.ascii \\"{note}\\\\n\\"\\n"\n' for note in notes)
    extra = f'__asm__("\\t.pushsection {NOTES},\\"\\",@progbits\\n"\n{block}    "\\t.popsection\\n");\n'
    write(target, (made.text + (extra if notes else "")).encode("latin-1"))
    return target


def tell_inferred(places: Mapping[str, str]) -> None:
    """Say of which instructions the meaning is inferred, at the first place of each."""
    for name, place in sorted(places.items()):
        print(f"{place}: note: what '{name}' does is inferred from public programs", file=sys.stderr)


def modules(tool: Tool) -> None:
    """Make the package's modules importable."""
    if tool.root not in sys.path:
        sys.path.append(tool.root)


def _library(tool: Tool, needs: tuple[str, ...], slave: bool, work: str) -> list[str]:
    """Return the notes on those functions that the libraries' headers declare."""
    from swbuild.sw64.prototypes import prototypes

    own = ["slave.h", "simd.h", "dma.h"] if slave else ["athread.h"]
    text = "".join(f"#include <{name}>\n" for name in (*_HEADERS, *own))
    write(f"{work}/library.c", text.encode())
    role = "slave" if slave else "host"
    words = ["gcc", "-D_GNU_SOURCE", *_side_words(tool, role), "-x", "c", f"{work}/library.c"]
    must([*words, "-E", "-o", f"{work}/library.i"])
    must(
        [
            "gcc",
            "-w",
            "-fpreprocessed",
            "-fsyntax-only",
            "-aux-info",
            f"{work}/library.names",
            f"{work}/library.i",
        ]
    )
    names = {name.removeprefix("__nldbl_") for name in needs} | set(needs)
    listing = read(f"{work}/library.names").decode("latin-1")
    preprocessed = read(f"{work}/library.i").decode("latin-1")
    return [p.note() for p in prototypes(listing, preprocessed, lambda _, name: name in names)]


def _side_words(tool: Tool, role: str) -> list[str]:
    return [*tool.side(role, True), "-include", f"{tool.include}/swemu_prelude.h", *tool.headers()]


def declarations(tool: Tool, names: str, text: str, role: str) -> bytes:
    """Return the notes on the functions that a C file and its own headers declare."""
    modules(tool)
    from swbuild.sw64.prototypes import prototypes

    def own(path: str, _: str) -> bool:
        return not path.startswith(("/usr/", tool.include, "<"))

    found = prototypes(read(names).decode("latin-1"), text, own)
    return "".join([f"file\t{role}\t\n", *(f"{prototype.note()}\n" for prototype in found)]).encode("latin-1")


def bridges(tool: Tool, objects: Objects, work: str) -> list[str]:
    """Return what a link with translated assembly needs more: objects with the bridges, and names."""
    modules(tool)
    if not any(b"unit\t" in (obj.section(NOTES) or b"") for _, obj in objects):
        return []
    words: list[str] = []
    problems: list[str] = []
    for slave in (True, False):
        words += _side(tool, objects, slave, work, problems)
    if problems:
        raise Failure("\n".join(problems))
    return words


def _side(tool: Tool, objects: Objects, slave: bool, work: str, problems: list[str]) -> list[str]:
    from swbuild.sw64.bridges import Links
    from swbuild.sw64.notes import notes

    files = [note for _, obj in objects for note in notes(_notes(obj))]
    named, defined = _names(objects, slave)
    links = Links(files, slave, named, defined)
    if not links.files or not any(file.units for file in links.files):
        return []
    text = links.text()
    problems += links.problems
    role = "slave" if slave else "host"
    write(f"{work}/bridges-{role}.c", text.encode("latin-1"))
    words = ["gcc", "-O1", "-g1", "-w", "-fno-builtin", "-fPIC", "-Wno-psabi", *_side_words(tool, role)]
    if not problems:
        must([*words, "-c", "-o", f"{work}/bridges-{role}.o", f"{work}/bridges-{role}.c"])
    found = [f"-Wl,--defsym=__swemu_sw64_a_{name}={real}" for name, real in links.lookups().items()]
    return [f"file:{work}/bridges-{role}.o", *found]


def _notes(obj: elf.ElfObject) -> str:
    return b"".join(obj.section(name) or b"" for name in (NOTES, loose.SECTION)).decode("latin-1")


def _names(objects: Objects, slave: bool) -> tuple[set[str], set[str]]:
    """Return the functions that C of one side names without defining them, and those that it defines."""
    section = ".swbuild.slave" if slave else ".swbuild.host"
    named: set[str] = set()
    defined: set[str] = set()
    for _, obj in objects:
        if section not in obj.sections:
            continue
        for symbol in obj.symbols():
            name = symbol.name.removeprefix("slave_") if slave else symbol.name
            if symbol.binding and not symbol.section:
                named.add(name)
            elif symbol.binding and symbol.kind == elf.FUNCTION:
                defined.add(name)
    return named, defined
