"""Slave objects: the plain version, and inside it the versions for checked mode and for counting.

Host objects: the plain version, and inside it the one for counting.

Every external function of a slave object gets the prefix ``slave_``.  The further versions travel in
sections that a linker drops; the stand-in's hybrid link makes an executable of each of them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import checks
import counting
import elf
from process import Failure, finish, must, read, run, start, write
from tool import Tool

__all__ = [
    "VARIANTS",
    "declared_functions",
    "declaring",
    "host_object",
    "prefix_functions",
    "slave_object",
    "wanted_versions",
]

#: The further versions and the sections that hold them.
VARIANTS = {"checked": ".swbuild.checked", "counted": ".swbuild.counted"}
_KEPT = ("__swemu_", "__tsan_", "__sanitizer_", "__real_")
#: Numbers of the machine file that the counting takes instead: ``name=number``, separated by commas.
_NUMBERS = "SWBUILD_EMU_COUNTED_NUMBERS"
_COUNTED_MACRO = "-DSWBUILD_EMU_COUNTED_CODE=1"


def wanted_versions(flags: list[str]) -> list[str]:
    """Return the versions that SWBUILD_EMU_CHECKED_CODE (on) and SWBUILD_EMU_COUNTED_CODE (off) ask for.

    The latter may be a macro of the command line: build systems hand on flags, but no environment.
    """
    found = ["checked"] if os.environ.get("SWBUILD_EMU_CHECKED_CODE", "1") != "0" else []
    counted = _COUNTED_MACRO in flags or os.environ.get("SWBUILD_EMU_COUNTED_CODE", "0") != "0"
    return [*found, "counted"] if counted else found


def slave_object(
    tool: Tool, command: list[str], work: str, is_c: bool, weak: set[str], versions: list[str]
) -> bytes:
    """Compile a slave file, ``work/final.i``, plain and in the ``versions``; return one object with them all.

    The functions of the names in ``weak`` may be in other objects too.
    """
    source = f"{work}/final.i"
    passes = {"checked": (*checks.FLAGS, "-S")} if "checked" in versions else {}
    if "counted" in versions:
        passes["counted"] = counting.running(read(_source(work, "counted")))
        passes["costed"] = counting.costed(tool.gcc)
        write(f"{work}/costed.i", counting.without_tests(read(_source(work, "counted"))))
    others = {
        name: start([*command, *more, "-o", f"{work}/{name}", _source(work, name)], "/dev/null")
        for name, more in passes.items()
    }
    plain = [*command, "-o", f"{work}/out", source]
    status = declaring(plain, work) if is_c else run(plain)
    failed = [name for name, child in others.items() if finish(child)]
    if status or failed:
        text = (
            f"{source}: error[SW601]: the {failed[0]} version does not compile"
            if failed and not status
            else ""
        )
        raise Failure(text, status if status > 0 else 1)
    known = is_c and os.path.exists(f"{work}/names")
    declared = declared_functions(f"{work}/names") if known else set()
    data = prefix_functions(elf.weaken_functions(read(f"{work}/out"), weak), declared, known)
    for name in versions:
        other = _counted(tool, work, command) if name == "counted" else _checked(tool, work)
        other = prefix_functions(elf.weaken_functions(other, weak), declared, known)
        data = elf.add_section(data, VARIANTS[name], other, elf.EXCLUDE)
    return data


def _source(work: str, version: str) -> str:
    """Return what a version is made from: text of its own, or the plain version's."""
    own = f"{work}/{version}.i"
    return own if os.path.exists(own) else f"{work}/final.i"


def declaring(command: list[str], work: str) -> int:
    """Run a compilation of C that writes what the file declares to ``work/names``; return its exit status.

    gcc (seen with 12) cannot write that for functions with parameters of variable size, and ends with an
    internal error: then there is no such file.
    """
    names = f"{work}/names"
    colours = ["-fdiagnostics-color=always"] if sys.stderr.isatty() else []
    status = finish(start([*command, *colours, "-aux-info", names], f"{work}/errors"))
    text = read(f"{work}/errors")
    if status and b"internal compiler error" in text:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(names)
        return int(run(command))
    sys.stderr.write(text.decode("utf-8", "replace"))
    return int(status)


def host_object(
    tool: Tool, command: list[str], work: str, is_c: bool, weak: set[str], counted: bool
) -> bytes:
    """Compile a host file, ``work/final.i``, to an object; ``counted``: twice.

    The functions of the names in ``weak`` may be in other objects too.
    """
    source = f"{work}/final.i"
    other = [*command, *counting.HOST, "-o", f"{work}/counted", source]
    child = start(other, "/dev/null") if counted else None
    plain = [*command, "-o", f"{work}/out", source]
    status = declaring(plain, work) if is_c else run(plain)
    failed = child is not None and finish(child)
    if status or failed:
        text = "" if status else f"{source}: error[SW601]: the counted version does not compile"
        raise Failure(text, status if status > 0 else 1)
    data = bytes(elf.weaken_functions(read(f"{work}/out"), weak))
    if not counted:
        return data
    made = elf.weaken_functions(_instrumented(tool, work, "host_instrument", []), weak)
    return bytes(elf.add_section(data, VARIANTS["counted"], made, elf.EXCLUDE))


def _checked(tool: Tool, work: str) -> bytes:
    """Put the tests and the red zones into ``work/checked`` and return the object."""
    text = checks.red_zones(read(f"{work}/checked").decode("latin-1"))
    text = checks.inline_tests(text) if checks.supported() else text
    write(f"{work}/checked.s", text.encode("latin-1"))
    return _assembled(tool, f"{work}/checked")


def _counted(tool: Tool, work: str, command: list[str]) -> bytes:
    """Put the counters into ``work/counted``, by the costs of ``work/costed``, and return the object."""
    levels = [word for word in command if word.startswith("-O")]
    plain = ["compute.unroll=1"] if not levels or levels[-1] == "-O0" else []
    numbers = [*plain, *os.environ.get(_NUMBERS, "").replace(",", " ").split()]
    return _instrumented(tool, work, "instrument", [f"{work}/costed"], numbers)


def _instrumented(
    tool: Tool, work: str, module: str, beside: list[str], numbers: Sequence[str] = ()
) -> bytes:
    """Let a module of the model make ``work/counted.s`` of ``work/counted``; return the object."""
    # the folder of the call may hold files that are named like modules
    script = "import sys; sys.path = [sys.argv[1], *filter(None, sys.path)]; "
    script += f"import swbuild.emulator.model.{module} as model; sys.exit(model.main(sys.argv[2:]))"
    files = [f"{work}/counted", *beside, f"{work}/counted.s"]
    must([sys.executable, "-c", script, tool.root, tool.machine, *files, *numbers])
    return _assembled(tool, f"{work}/counted")


def _assembled(tool: Tool, path: str) -> bytes:
    must([tool.gcc, "-c", "-o", f"{path}.o", f"{path}.s"])
    return bytes(read(f"{path}.o"))


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
    """Return the object with `slave_` ahead of every external function it defines or uses, once."""
    obj = elf.ElfObject(data)
    called = set() if known else called_symbols(obj)
    names = {}
    for symbol in obj.symbols():
        if symbol.binding == 0 or symbol.name.startswith((*_KEPT, "slave_")):
            continue
        if symbol.section:
            function = symbol.kind == elf.FUNCTION
        else:
            function = symbol.name in declared or symbol.index in called
        if function:
            names[symbol.index] = "slave_" + symbol.name
    return bytes(elf.rename_symbols(obj, names))
