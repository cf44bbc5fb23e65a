"""The stand-in linker: ``sw5ld -r`` joins objects of both roles to one object, in every version."""

from __future__ import annotations

import sys

import elf
from process import Failure, clean, must, read, scratch, write
from slave import VARIANTS

__all__ = ["main"]


def parse(arguments: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the output, the objects, and the other words of a command line with ``-r``."""
    output, objects, words = "a.out", [], []
    rest = iter(arguments)
    for word in rest:
        if word == "-o":
            output = next(rest, "")
        elif word.startswith("-"):
            words.append(word)
        else:
            objects.append(word)
    if not {"-r", "-i", "--relocatable"} & set(words):
        raise Failure(
            "error[SW601]: the linker is emulated for joining objects (-r) only\n"
            "  hint: link the program with the compiler, sw5cc -hybrid or swgcc -mhybrid"
        )
    return output, objects, words


def join(objects: list[str], words: list[str], kind: str, work: str) -> bytes:
    """Return the objects joined, each in the version ``kind`` if it has that ("" for the plain one)."""
    files = []
    for number, path in enumerate(objects):
        other = elf.ElfObject(read(path)).section(VARIANTS[kind]) if kind else None
        files.append(f"{work}/{number}.o")
        write(files[-1], other if other is not None else read(path))
        removed = [f"--remove-section={section}" for section in VARIANTS.values()]
        must(["objcopy", *removed, files[-1]])
    must(["ld", *words, "-o", f"{work}/joined", *files])
    return bytes(read(f"{work}/joined"))


def main(tool: str, arguments: list[str]) -> int:
    """Act as the linker."""
    work = scratch()
    try:
        output, objects, words = parse(arguments)
        data = join(objects, words, "", work)
        for kind, section in VARIANTS.items():
            if any(elf.ElfObject(read(path)).section(section) is not None for path in objects):
                data = elf.add_section(data, section, join(objects, words, kind, work), elf.EXCLUDE)
        write(output, data)
    except Failure as failure:
        if str(failure):
            print(f"{tool}: {failure}", file=sys.stderr)
        return int(failure.status)
    except (OSError, ValueError) as error:
        print(f"{tool}: error[SW601]: {error}", file=sys.stderr)
        return 1
    finally:
        clean(work)
    return 0
