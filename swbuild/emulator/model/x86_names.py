"""What the mnemonics of x86-64 stand for: the classes of operations, and what they do with their operands."""

from __future__ import annotations

import re

from swbuild.emulator.model.step import Role
from swbuild.emulator.model.x86_operands import widest
from swbuild.sw64.instructions import Kind

__all__ = [
    "PREFIXES",
    "added",
    "class_of",
    "compares",
    "compares_floating",
    "copies",
    "does_nothing",
    "halves_of",
    "is_jump",
    "load_kind",
    "moved",
    "moves",
    "moves_half",
    "only_reads",
    "only_writes",
    "parts",
    "reads_target",
    "source_only",
    "times",
]

PREFIXES = frozenset({"rep", "repz", "repnz", "repe", "repne", "lock", "notrack", "bnd", "data16"})
_NOTHING = frozenset({"endbr64", "pause", "vzeroupper", "ud2", "leave", "cltd", "cqto", "hlt", "emms"})

_MOVE = re.compile(r"mov(abs)?[bwlq]?$")
_WIDENED = re.compile(r"mov[sz](?P<from>[bwl])?[wlq]$|cltq$|cwtl$|cltd$|cqto$")
_FLOAT_MOVE = re.compile(r"v?mov([sa]s|[as]d|[au]p[sd]|dq[au](8|16|32|64)?|q|d|[hl]p[sd]|nt\w+|ddup)$")
_SCALAR_MOVE = re.compile(r"vmovs[sd]$")
_HALF = re.compile(r"v?mov[hl]p[sd]$")
_COMPARE = re.compile(r"(cmp|test|bt)[bwlq]?$")
_FLOAT_COMPARE = re.compile(r"v?u?comis[sd]$|v?cmp\w*[sp][sd]$|vfpclass[sp][sd]\w?$")
_FLAGGED = re.compile(r"v?u?comis")
_ADDED = re.compile(r"(?P<what>add|sub|inc|dec)[bwlq]?$")
_JUMP = re.compile(r"j[a-z]+$")
_FUSED = re.compile(r"vf(n?m(add|sub)|m(addsub|subadd))\d*[sp][sd]$")
_PASSES_ON = re.compile(r"v(sqrt|cvt\w+2|round|rndscale|rcp\w*|rsqrt\w*)s[sd][lq]?$")
_FROM_INTEGER = re.compile(r"v?cvtu?si2s[sd][lq]?$")
_TO_INTEGER = re.compile(r"v?cvtt?s[sd]2u?si[lq]?$")
_LESSER = re.compile(r"v?(min|max)[sp][sd]$")
_WIDE = re.compile(
    r"v?([a-z0-9]*p[sd]|movdq[au]\d*|movntdqa?|p[a-z]{2,}\d*|perm\w+|broadcast\w+|cvt\w+p[sd]\w*)$"
)
_UNALIGNED = re.compile(r"v?movup[sd]$")
_COPIED = re.compile(r"v?movdq[au]\d*$")
_EIGHT = re.compile(r"v?(mov[hl]p[sd]|movddup)$|v?broadcasts[sd]$|vp?broadcast[bwdq]$")
_SIZES = {"b": 1, "w": 2, "l": 4, "q": 8}

_SHUFFLE = (
    r"v?(punpck\w+|unpck\w+|p?shuf\w*|perm\w+|p?insert?\w+|pinsr\w|p?extr\w+|palign\w+|valign\w+"
    r"|p?broadcast\w+|pack\w+|pmov[sz]x\w+|shuf\w+|movhl?lp[sd]|movlhps|movddup|compress\w+|expand\w+)$"
)
#: The classes of operations on registers: the first pattern that fits counts, integers else.
_CLASSES = tuple(
    (re.compile(pattern), kind, role)
    for pattern, kind, role in (
        (r"v?(div|sqrt|rcp14|rsqrt14|rcp|rsqrt)[sp][sd]$", Kind.DIVIDE, Role.COMPUTE),
        (_LESSER.pattern, Kind.COMPARE, Role.COMPUTE),
        (r"v?mul[sp][sd]$", Kind.FLOAT, Role.PRODUCT),
        (r"v?(add|sub)[sp][sd]$", Kind.FLOAT, Role.SUM),
        (r"v?(hadd|hsub|addsub)[sp][sd]$", Kind.FLOAT, Role.COMPUTE),
        (_FUSED.pattern, Kind.FLOAT, Role.COMPUTE),
        (_FLOAT_COMPARE.pattern, Kind.COMPARE, Role.COMPUTE),
        (r"v?(xor|andn?|or)p[sd]$", Kind.COMPARE, Role.COMPUTE),  # a sign
        (r".*cvt", Kind.CONVERT, Role.COMPUTE),
        (r"v?(round|rndscale)[sp][sd]$", Kind.CONVERT, Role.COMPUTE),
        (_FLOAT_MOVE.pattern, Kind.COMPARE, Role.COMPUTE),  # a selection
        (r".*blend", Kind.COMPARE, Role.COMPUTE),
        (_SHUFFLE, Kind.SHUFFLE, Role.COMPUTE),
        (r"(?!push|pop|pause)v?p[a-z]{2,}\d*$", Kind.VECTOR, Role.COMPUTE),
        (r"i?div[bwlq]?$", Kind.INTEGER, Role.DIVISION),
        (r"(i?mul|mulx)[bwlq]?$", Kind.MULTIPLY, Role.COMPUTE),
        (r"", Kind.INTEGER, Role.COMPUTE),
    )
)


def class_of(name: str) -> tuple[Kind, Role]:
    """Return the class of an operation on registers."""
    return next((kind, role) for pattern, kind, role in _CLASSES if pattern.match(name))


def does_nothing(name: str) -> bool:
    """Return whether an instruction costs nothing and its result is nobody's."""
    return name in _NOTHING or name.startswith(("nop", "prefetch"))


def is_jump(name: str) -> bool:
    """Return whether a jump has a condition."""
    return _JUMP.match(name) is not None


def moves(name: str) -> bool:
    """Return whether an instruction moves a value and leaves it as it is."""
    return bool(_MOVE.match(name) or _FLOAT_MOVE.match(name) or "broadcast" in name)


def copies(name: str, operands: int) -> bool:
    """Return whether an instruction on registers needs none of the machine's: a move, or a wider integer."""
    if operands > 2:
        return _SCALAR_MOVE.match(name) is not None
    return bool(_FLOAT_MOVE.match(name)) or _widens(name) or name.startswith("kmov")


def moves_half(name: str) -> bool:
    """Return whether an instruction moves one half of a vector and keeps the other."""
    return _HALF.match(name) is not None


def _widens(name: str) -> bool:
    return bool(_MOVE.match(name) or _WIDENED.match(name))


def compares_floating(name: str) -> bool:
    """Return whether an instruction compares floating values for a jump."""
    return _FLAGGED.match(name) is not None


def compares(name: str) -> bool:
    """Return whether an instruction compares integers."""
    return _COMPARE.match(name) is not None


def added(name: str) -> int:
    """Return 1 for an addition of integers, -1 for a subtraction, 0 for anything else."""
    match = _ADDED.match(name)
    return 0 if match is None else -1 if match["what"] in ("sub", "dec") else 1


def parts(name: str) -> tuple[Kind | None, ...]:
    """Return what the CPE needs where x86 has one instruction: a kind for each, None for its own class."""
    if _FROM_INTEGER.match(name):
        return Kind.TRANSFER, None
    if _TO_INTEGER.match(name):
        return None, Kind.TRANSFER
    return (None, None) if _LESSER.match(name) else (None,)  # a comparison and a selection


def source_only(name: str) -> bool:
    """Return whether the second operand of three gives no more than the rest of a vector."""
    return _PASSES_ON.match(name) is not None


def reads_target(name: str) -> bool:
    """Return whether an instruction on registers reads the old value of its target."""
    return bool(_FUSED.match(name)) or not (name.startswith("v") or only_writes(name))


def only_writes(name: str) -> bool:
    """Return whether a two-operand instruction ignores the old value of its target."""
    return name.startswith(
        ("mov", "set", "cvt", "sqrt", "pshuf", "tzcnt", "lzcnt", "popcnt", "bs", "rcp", "rs")
    )


def only_reads(name: str) -> bool:
    """Return whether an instruction changes none of its operands."""
    if compares(name) or _FLOAT_COMPARE.match(name):
        return True
    return name.startswith(("mul", "imul", "div", "idiv"))


def moved(name: str, operands: list[str], width: int) -> tuple[int, int]:
    """Return how many bytes an instruction moves from or to memory, and with how many operations."""
    if not _WIDE.match(name) or "{1to" in "".join(operands):
        return _scalar_bytes(name), 1
    if _EIGHT.match(name):
        return 8, 1
    found = widest(operands, 8)
    if _COPIED.match(name) and found != width:
        return found, found // 8  # a copy of a structure
    pieces = 2 if _UNALIGNED.match(name) and found >= width else 1
    return found, pieces * max(1, found // width)


def _scalar_bytes(name: str) -> int:
    widened = _WIDENED.match(name)
    if widened and widened["from"]:
        return _SIZES[widened["from"]]
    if "cvt" in name and "2" in name:
        source = name.split("2", 1)[0]
        return 4 if source.endswith("ss") or (source.endswith("si") and name.endswith("l")) else 8
    if name.endswith(("ss", "movd", "ps")):
        return 4
    if name.endswith(("sd", "pd")):
        return 8
    return 1 if name.startswith("set") else _SIZES.get(name[-1], 8)


def times(name: str, operands: list[str], width: int) -> int:
    """Return how many operations of the machine an operation on registers is."""
    return max(1, widest(operands, 16) // width) if _WIDE.match(name) else 1


def halves_of(name: str, text: str, width: int) -> int:
    """Return how many such operations make one of the machine's: more than 1 for a narrow vector's."""
    return width // 16 if "%xmm" in text and _WIDE.match(name) else 1


def load_kind(name: str) -> Kind:
    """Return the class of the load for an operand in memory."""
    whole = _widens(name) or compares(name) or _ADDED.match(name) or _FROM_INTEGER.match(name)
    floating = not whole and (name.startswith("v") or re.search(r"([sp][sd]|dq[au]|movd|movq)$", name))
    return Kind.FLOAT_LOAD if floating else Kind.LOAD
