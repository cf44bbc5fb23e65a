"""The LDM variables of a program must fit the LDM: told when it is linked, with who takes how much."""

from __future__ import annotations

import struct

import elf
from process import Failure

__all__ = ["check_statics"]

_TLS_SEGMENT = 7
_SHOWN = 12


def check_statics(image: bytes, objects: list[tuple[str, elf.ElfObject]], machine: str, limit: int) -> None:
    """Fail, with the variables from the largest on, if the LDM variables exceed ``limit`` bytes."""
    size = _thread_local_bytes(image)
    if size <= limit:
        return
    found = sorted(_variables(objects), key=lambda entry: (-entry[0], entry[1:]))
    place = found[0][1] if found else "a.out"
    lines = [f"  {source}: '{name}' takes {count} bytes" for count, source, name in found[:_SHOWN]]
    rest = found[_SHOWN:]
    if rest:
        lines.append(f"  and {len(rest)} more take {sum(entry[0] for entry in rest)} bytes")
    raise Failure(
        f"{place}: error[SW620]: the LDM variables take {size} bytes, the LDM of the {machine} has {limit}\n"
        + "\n".join(lines)
        + f"\n  hint: {_hint(found)}"
    )


def _hint(found: list[tuple[int, str, str]]) -> str:
    generated = [source for _, source, name in found if name.startswith("sw_ldm_")]
    if len(generated) > 1:
        return "list the files of the program in one manifest, or give each a smaller `ldm-budget`"
    return "shrink the largest arrays, or get them in parts"


def _thread_local_bytes(image: bytes) -> int:
    start = struct.unpack_from("<Q", image, 32)[0]
    entry, count = struct.unpack_from("<HH", image, 54)
    for k in range(count):
        kind, _, _, _, _, _, memory, _ = struct.unpack_from("<IIQQQQQQ", image, start + k * entry)
        if kind == _TLS_SEGMENT:
            return int(memory)
    return 0


def _variables(objects: list[tuple[str, elf.ElfObject]]) -> list[tuple[int, str, str]]:
    """Return (bytes, source file, name) of the thread-local variables of the objects."""
    found = []
    for path, obj in objects:
        source = path
        for symbol in obj.symbols():
            if symbol.kind == elf.FILE:
                source = symbol.name
            elif symbol.kind == elf.THREAD and symbol.section and symbol.size:
                found.append((symbol.size, source, _plain(symbol.name)))
    return found


def _plain(name: str) -> str:
    """Return the name in the source: gcc numbers the static variables of functions."""
    stem, dot, number = name.rpartition(".")
    return stem if dot and number.isdigit() else name
