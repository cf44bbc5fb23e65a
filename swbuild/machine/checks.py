"""What the entries of a machine file must be to each other, and what templates must speak of."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path

from swbuild.machine.model import FEATURES, MachineModel, Vectors
from swbuild.machine.reading import Problem

__all__ = ["objections"]

#: Host and CPEs name sets of CPEs by words of 64 bits.
_MOST_CPES = 64
#: A quarter of the CPEs has to make two rows of the same length.
_STEP = 8
#: Register communication names the CPEs of a row or column by three bits.
_REACH = 8
#: The widths of vectors that the headers of the emulator have.
_VECTORS = (32, 64)
_ASSEMBLIES = ("sw3", "sws")
#: The placeholders of launchers that options of a machine may use.
_LAUNCH = ("cache_kb", "share_mb", "stack_mb")
_TRANSFER = ("memory", "ldm", "bytes", "reply")
#: The pieces that each template of a dialect has to use, and may.
_PIECES: Mapping[str, tuple[str, ...]] = {
    "declare": ("kernel",),
    "start": (),
    "spawn": ("kernel", "arguments"),
    "join": (),
    "get": _TRANSFER,
    "get_strided": (*_TRANSFER, "block", "gap"),
    "put": _TRANSFER,
    "put_strided": (*_TRANSFER, "block", "gap"),
    "wait": ("reply", "count"),
    "fence": (),
    "store_fence": (),
    "barrier": (),
}
#: The same of what it says of vectors.
_VECTOR_PIECES: Mapping[str, tuple[str, ...]] = {
    "load": ("vector", "place"),
    "store": ("vector", "place"),
    "spread": ("vector", "place"),
    "fill_double": ("value",),
    "fill_float": ("value",),
}
#: The same of vectors that it need not have.
_GATHER_PIECES: Mapping[str, tuple[str, ...]] = {"gather_double": ("values",), "gather_float": ("values",)}


#: The same of what it says of broadcasts.
_COPIED = ("ldm", "source", "bytes", "reply")
_BROADCAST_PIECES: Mapping[str, tuple[str, ...]] = {
    "row": _COPIED,
    "column": _COPIED,
    "everybody": _COPIED,
    "arrived": ("reply", "count"),
}
_BEGUN = (*_COPIED, "sent")
_BEGUN_PIECES: Mapping[str, tuple[str, ...]] = {
    "begin_row": _BEGUN,
    "begin_column": _BEGUN,
    "begin_everybody": _BEGUN,
}


#: The same of what it says of messages.
_MESSAGE_PIECES: Mapping[str, tuple[str, ...]] = {
    "load": ("vector", "place"),
    "store": ("vector", "place"),
    "send_row": ("vector",),
    "send_column": ("vector",),
    "receive_row": ("vector",),
    "receive_column": ("vector",),
}


def objections(model: MachineModel, file: Path) -> Iterator[Problem]:
    """Yield what is wrong with the machine that ``file`` describes with every entry."""
    if model.name != file.stem:
        what = f"the file is called {file.name}, the machine `{model.name}`"
        yield Problem(("name",), what, "let them agree")
    yield from _names(model)
    yield from _tools(model, file.parent)
    yield from _mesh(model)
    yield from _amounts(model)
    for word in model.features:
        if word not in FEATURES:
            yield Problem(("features",), f"there is no feature `{word}`", f"there are {', '.join(FEATURES)}")
    yield from _features(model)
    if model.emulator.assembly not in _ASSEMBLIES:
        hint = f"there are {', '.join(_ASSEMBLIES)}"
        yield Problem(("emulator", "assembly"), f"no assembly `{model.emulator.assembly}` is known", hint)
    for field, pieces in _PIECES.items():
        yield from _template(("dialect", field), getattr(model.dialect, field), pieces)
    if len(model.dialect.multiply_add) != 2:
        what, hint = "`multiply_add` needs two functions", "one of doubles and one of floats"
        yield Problem(("dialect", "multiply_add"), what, hint)
    if model.dialect.vectors.load:
        vectors = model.dialect.vectors
        gathers = vectors.gather_double or vectors.gather_float
        needed = {**_VECTOR_PIECES, **(_GATHER_PIECES if gathers else {})}
        if vectors.int_type:
            needed |= {"fill_int": ("value",), **({"gather_int": ("values",)} if gathers else {})}
        if vectors.lane:
            needed["lane"] = ("lane",)
        for field, pieces in needed.items():
            place = ("dialect", "vectors", field)
            yield from _template(place, getattr(vectors, field), pieces)
        yield from _functions(vectors)
        for field in ("multiply_add_double", "multiply_add_float"):
            count = len(getattr(vectors, field))
            if count not in (0, 3):
                what = f"`{field}` has {count} functions"
                hint = "product and operand, product less operand, operand less product"
                yield Problem(("dialect", "vectors", field), what, hint)
    broadcasts = model.dialect.broadcasts
    used = _BROADCAST_PIECES if broadcasts.row else {}
    used = {**used, **(_BEGUN_PIECES if broadcasts.begin_row else {})}
    for field, pieces in used.items():
        yield from _template(("dialect", "broadcasts", field), getattr(broadcasts, field), pieces)
    messages = model.dialect.messages
    for field, pieces in (_MESSAGE_PIECES if messages.send_row else {}).items():
        yield from _template(("dialect", "messages", field), getattr(messages, field), pieces)
    if messages.send_row and not model.dialect.vectors.load:
        what = "`messages` are vectors, and `dialect.vectors` has none"
        yield Problem(("dialect", "messages"), what, "say how C asks for vectors")


def _functions(vectors: Vectors) -> Iterator[Problem]:
    """Yield the functions on vectors that are not named."""
    for field in ("double_functions", "float_functions", *(["int_functions"] if vectors.int_type else [])):
        for function in fields(getattr(vectors, field)):
            if not getattr(getattr(vectors, field), function.name):
                place = ("dialect", "vectors", field, function.name)
                yield Problem(place, f"`{field}` does not name `{function.name}`", "vectors need all of them")


def _names(model: MachineModel) -> Iterator[Problem]:
    """Yield names that cannot be those of a file, a program or a variable of a build system."""
    own = model.emulator
    named = [(("name",), model.name), (("emulator", "binutils"), own.binutils)]
    named += [(("emulator", "compilers"), compiler) for compiler in own.compilers]
    for path, name in named:
        if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", name):
            yield Problem(path, f"`{name}` is no name", "letters, digits, and . + - _ behind the first one")


def _tools(model: MachineModel, folder: Path) -> Iterator[Problem]:
    """Yield what the emulator cannot do as the tools are called, and templates with other pieces."""
    own, tools = model.emulator, model.tools
    drivers = {role: getattr(tools, role).driver for role in ("host", "slave", "link")}
    drivers |= {"compilers": tools.compilers.c}
    for key, driver in drivers.items():
        if driver not in own.compilers:
            hint = f"emulator.compilers has {', '.join(own.compilers)}"
            yield Problem(("tools", key), f"the emulator has no stand-in for the driver `{driver}`", hint)
    if own.include and not (folder / own.include).is_dir():
        yield Problem(("emulator", "include"), f"there is no directory {folder / own.include}")
    yield from _words("tools", "launch", tools.launch, _LAUNCH)
    yield from _words("emulator", "defines", own.defines, ("role",))


def _words(section: str, field: str, words: Iterable[str], pieces: tuple[str, ...]) -> Iterator[Problem]:
    for word in words:
        yield from _unknown_pieces((section, field), word, pieces)


def _features(model: MachineModel) -> Iterator[Problem]:
    """Yield features that contradict the numbers, or that the emulator does not have without others."""
    path, has = ("features",), set(model.features)
    numbers = {"register-communication": model.register.message_bytes, "rma": model.rma.bytes_per_cycle}
    for word, number in numbers.items():
        if (word in has) != (number > 0):
            yield Problem(path, f"`{word}` and the numbers of it go together: here one is without the other")
    if ("crts" in has) != ("rma" in has):
        yield Problem(path, "`rma` is a part of the interface `crts`: a machine has both or neither")
    if "register-communication" in has and ("crts" in has or max(model.mesh) > _REACH):
        what = f"`register-communication` is for a mesh of up to {_REACH} x {_REACH} CPEs without `crts`"
        yield Problem(path, what)
    if model.simd.register_bytes not in _VECTORS:
        yield Problem(("simd", "register_bytes"), f"vectors have {_VECTORS[0]} or {_VECTORS[1]} bytes")


def _mesh(model: MachineModel) -> Iterator[Problem]:
    rows, columns = model.mesh
    if rows < 1 or columns < 2 or model.cpes > _MOST_CPES or model.cpes % _STEP:
        what = (
            f"a mesh of {rows} x {columns} CPEs: it needs rows, two columns, and a multiple of 8 CPEs up to"
        )
        yield Problem(("mesh_rows",), f"{what} {_MOST_CPES}")


def _amounts(model: MachineModel) -> Iterator[Problem]:
    if not 0 < model.ldm_budget <= model.ldm_bytes:
        yield Problem(("ldm_budget",), f"it must lie between 1 and the {model.ldm_bytes} bytes of the LDM")
    limits = {
        ("dma", "alignment"): model.dma.alignment,
        ("dma", "max_length"): model.dma.max_length,
        ("dma", "max_block"): model.dma.max_block,
        ("dma", "request_bytes"): model.dma.request_bytes,
        ("simd", "register_bytes"): model.simd.register_bytes,
        ("clock_hz",): model.clock_hz,
        ("host_clock_hz",): model.host_clock_hz,
        ("core_groups",): model.core_groups,
    }
    for path, amount in limits.items():
        if amount < 1:
            yield Problem(path, f"`{'.'.join(path)}` must be at least 1, not {amount}")


def _template(path: tuple[str, ...], text: str, pieces: tuple[str, ...]) -> Iterator[Problem]:
    yield from _unknown_pieces(path, text, pieces)
    for name in pieces:
        if f"{{{name}}}" not in text:
            yield Problem(path, f"`{'.'.join(path)}` does not use {{{name}}}")


def _unknown_pieces(path: tuple[str, ...], text: str, pieces: tuple[str, ...]) -> Iterator[Problem]:
    what = ".".join(path)
    try:
        parts = [part for part in string.Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        yield Problem(path, f"`{what}`: {error}", "a brace of C is written twice: {{ and }}")
        return
    for _, name, form, conversion in parts:
        if name not in pieces or form or conversion:
            known = ", ".join(f"{{{piece}}}" for piece in pieces) or "none"
            yield Problem(path, f"`{what}` cannot speak of {{{name}}}", f"its pieces: {known}")
