"""What one instruction of x86-64 code asks a CPE to do, as steps that know no x86 any more.

The code is that of a C source; its instructions stand for those that a Sunway compiler would have made:
arithmetic for arithmetic, a memory operand for a load or a store, a copy for a move between registers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

from swbuild.sw64.instructions import Kind

__all__ = ["Address", "Role", "Step", "steps"]


class Role(Enum):
    """What a step does; ``COMPUTE`` is anything that makes a value of its sources."""

    COMPUTE = "compute"
    PRODUCT = "product"
    SUM = "sum"
    ADD = "add a constant"
    COPY = "copy"
    CONSTANT = "constant"
    ADDRESS = "address"
    LOAD = "load"
    STORE = "store"
    BRANCH = "branch"
    JUMP = "jump"
    CALL = "call"
    RETURN = "return"
    DIVISION = "integer division"


@dataclass(frozen=True, slots=True)
class Address:
    """``symbol + offset + base + scale * index``; ``symbol`` keeps its relocation (``x@tpoff``)."""

    symbol: str
    offset: int
    base: str
    index: str
    scale: int

    @property
    def registers(self) -> tuple[str, ...]:
        """Return the registers that are read."""
        return tuple(name for name in (self.base, self.index) if name)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation: registers are named without their width, ``flags`` is the result that a jump tests.

    ``number`` is the constant of ``ADD`` and ``CONSTANT``; ``where`` what a jump or call goes to; ``bytes``
    what a load or store moves; ``times`` how many operations of the CPE it is, ``share`` how many such
    make one of the CPE's; ``spilled``: it moves what x86 has no register for.
    """

    kind: Kind
    role: Role = Role.COMPUTE
    sources: tuple[str, ...] = ()
    target: str = ""
    address: Address | None = None
    number: int = 0
    where: str = ""
    flags: bool = False
    bytes: int = 8
    times: int = 1
    share: int = 1
    spilled: bool = False


_FLOAT = re.compile(
    r"v?(?P<what>add|sub|mul|div|sqrt|min|max|hadd|hsub|addsub|rcp14|rsqrt14|rcp|rsqrt)[sp][sd]$"
)
_FUSED = re.compile(r"vf(n?m(add|sub)|m(addsub|subadd))\d*[sp][sd]$")
_FLOAT_MOVE = re.compile(r"v?mov([sa]s|[as]d|[au]p[sd]|dq[au](8|16|32|64)?|q|d|[hl]p[sd]|nt\w+|ddup)$")
_FLOAT_COMPARE = re.compile(r"v?u?comis[sd]$|v?cmp\w*[sp][sd]$|vfpclass[sp][sd]\w?$")
_SHUFFLE = re.compile(
    r"v?(punpck\w+|unpck\w+|p?shuf\w*|perm\w+|p?insert?\w+|pinsr\w|p?extr\w+|palign\w+|valign\w+|p?blend\w+"
    r"|p?broadcast\w+|pack\w+|pmov[sz]x\w+|shuf\w+|movhl?lp[sd]|movlhps|movddup|compress\w+|expand\w+)$"
)
_PASSES_ON = re.compile(r"v(sqrt|cvt\w+2|round|rndscale|rcp\w*|rsqrt\w*)s[sd][lq]?$")
_SIGN = re.compile(r"v?(xor|andn?|or)p[sd]$")
_PACKED = re.compile(r"v?p[a-z]{2,}\d*$")
_WIDE = re.compile(
    r"v?([a-z0-9]*p[sd]|movdq[au]\d*|movntdqa?|p[a-z]{2,}\d*|perm\w+|broadcast\w+|cvt\w+p[sd]\w*)$"
)
_UNALIGNED = re.compile(r"v?movup[sd]$")
_COPIED = re.compile(r"v?movdq[au]\d*$")
_MOVE = re.compile(r"mov(abs)?[bwlq]?$")
_WIDENED = re.compile(r"mov[sz](?P<from>[bwl])?[wlq]$|cltq$|cwtl$|cltd$|cqto$")
_COMPARE = re.compile(r"(cmp|test|bt)[bwlq]?$")
_ADDED = re.compile(r"(?P<what>add|sub|inc|dec)[bwlq]?$")
_JUMP = re.compile(r"j[a-z]+$")
_OPERATION = re.compile(r"[a-z][a-z0-9]*")
_PREFIXES = frozenset({"rep", "repz", "repnz", "repe", "repne", "lock", "notrack", "bnd", "data16"})
_NOTHING = frozenset({"endbr64", "pause", "vzeroupper", "ud2", "leave", "cltd", "cqto", "hlt", "emms"})
_OPERANDS = re.compile(r"(?:[^,(]|\([^)]*\))+")
_ADDRESS = re.compile(
    r"(?:%[fg]s:)?(?P<text>[^(%]*)(?:\((?P<base>%\w+)?(?:,\s*(?P<index>%\w+)?(?:,\s*(?P<scale>\d))?)?\))?$"
)
_SYMBOL = re.compile(r"(?P<symbol>[A-Za-z_.$][\w.$@]*)?(?P<offset>[+-]?\d+)?(?:[+-].*)?$")
_WIDTHS = {"x": 16, "y": 32, "z": 64}
_SIZES = {"b": 1, "w": 2, "l": 4, "q": 8}


def steps(line: str, width: int) -> tuple[Step, ...]:
    """Return the steps of one line of AT&T assembly; none for a directive, a label or an empty line.

    ``width`` is that of the CPE's vectors in bytes: a wider operation is several of the CPE's.
    """
    words = line.split("#", 1)[0].strip().split(None, 1)
    if not words or not _OPERATION.fullmatch(words[0]):
        return ()
    name, text = words[0], words[1].strip() if len(words) > 1 else ""
    if name in _PREFIXES:
        return steps(text, width)
    if name in _NOTHING or name.startswith(("nop", "prefetch", "kmov")):
        return _mask_move(name, text)
    if name.startswith("call"):
        return (Step(Kind.CALL, Role.CALL, where=text.split("@")[0].lstrip("*"), sources=_names(text)),)
    if name.startswith("ret"):
        return (Step(Kind.CALL, Role.RETURN),)
    if name == "jmp":
        return (Step(Kind.NONE, Role.JUMP, _names(text), where=text),)
    if _JUMP.match(name):
        return (Step(Kind.BRANCH, Role.BRANCH, ("flags",), where=text),)
    operands = [part.strip() for part in _OPERANDS.findall(text)]
    found = _data(name, operands, width)
    halves = width // 16 if "%xmm" in text and _WIDE.match(name) else 1
    return tuple(replace(step, share=halves) for step in found) if halves > 1 else tuple(found)


def _mask_move(name: str, text: str) -> tuple[Step, ...]:
    if not name.startswith("kmov"):
        return ()
    names = [_register(part.strip()) for part in text.split(",")]
    return (Step(Kind.NONE, Role.COPY, (names[0],), names[-1]),)


def _data(name: str, operands: list[str], width: int) -> list[Step]:
    """Return the steps of an instruction that computes or moves data."""
    memory = next((k for k, part in enumerate(operands) if _is_memory(part)), -1)
    if name.startswith("lea"):
        return [Step(Kind.INTEGER, Role.ADDRESS, (), _register(operands[1]), _address(operands[0]))]
    if name.startswith(("push", "pop")):
        return _stacked(name, operands[0])
    if memory < 0:
        return _in_parts(name, _computed(name, operands, width))
    address = _address(operands[memory])
    assert address is not None
    moved, count = _moved(name, operands, width)
    load = Step(_load_kind(name), Role.LOAD, (), "loaded", address, bytes=moved, times=count)
    is_move = bool(_MOVE.match(name) or _FLOAT_MOVE.match(name) or "broadcast" in name)
    into = memory == len(operands) - 1 and not _only_reads(name)
    if is_move and not into:
        masked = _mask(operands[-1])
        target = _register(operands[-1])
        half = re.match(r"v?mov[hl]p[sd]$", name)
        if half or masked:
            others = tuple(_register(part) for part in operands[1:]) + masked
            kind = Kind.SHUFFLE if half else Kind.COMPARE
            return [load, Step(kind, Role.COMPUTE, ("loaded", *others), target)]
        return [replace(load, target=target)]
    if is_move:
        return _stores(name, operands, load)
    inner = [*operands]
    inner[memory] = "%loaded"
    step = _computed(name, inner, width)
    if not into:
        return [load, *_in_parts(name, step)]
    store = Step(Kind.STORE, Role.STORE, ("loaded",), "", address, bytes=moved, times=count)
    if name.startswith("set"):
        return [replace(store, sources=("flags",))]
    return [load, replace(step, target="loaded"), store]


def _in_parts(name: str, step: Step) -> list[Step]:
    """Return the operations that the CPE needs where x86 has one instruction."""
    if re.match(r"v?cvtu?si2s[sd][lq]?$", name):
        first = replace(step, kind=Kind.TRANSFER, target="part")
        return [first, replace(step, sources=("part",))]
    if re.match(r"v?cvtt?s[sd]2u?si[lq]?$", name):
        return [replace(step, target="part"), replace(step, kind=Kind.TRANSFER, sources=("part",))]
    if re.match(r"v?(min|max)[sp][sd]$", name):  # a comparison and a selection
        return [replace(step, target="part"), replace(step, sources=("part", *step.sources))]
    return [step]


def _stores(name: str, operands: list[str], load: Step) -> list[Step]:
    source = operands[0]
    store = replace(load, kind=Kind.STORE, role=Role.STORE, target="", sources=(_register(source),))
    if not source.startswith("$"):
        return [store]
    number = _number(source)
    if number == 0:
        return [replace(store, sources=())]
    constant = Step(Kind.INTEGER, Role.CONSTANT, (), "loaded", number=number)
    return [constant, replace(store, sources=("loaded",))]


def _stacked(name: str, operand: str) -> list[Step]:
    place = Address("", 0, "sp", "", 1)
    if name.startswith("push"):
        return [Step(Kind.STORE, Role.STORE, tuple(_names(operand)), "", place)]
    return [Step(Kind.LOAD, Role.LOAD, (), _register(operand), place)]


def _computed(name: str, operands: list[str], width: int) -> Step:
    """Return the step of an instruction whose operands are registers and numbers."""
    target = _register(operands[-1]) if operands else ""
    masked = _mask(operands[-1]) if operands else ()
    named = tuple(_register(part) for part in operands[:-1] if not part.startswith("$"))
    copies = _MOVE.match(name) or _WIDENED.match(name) or _FLOAT_MOVE.match(name)
    if copies and not masked and (len(operands) <= 2 or re.match(r"vmovs[sd]$", name)):
        return _copied(operands, named[:1], target)
    if _zeroes(name, operands):
        return Step(Kind.NONE, Role.CONSTANT, (), target, number=0)
    if _COMPARE.match(name):
        return _compared(name, operands, target)
    if name.startswith("set"):
        return Step(Kind.NONE, Role.COPY, ("flags",), target)
    if added := _added(name, operands, target):
        return added
    vex = name.startswith("v")
    if _PASSES_ON.match(name):
        named = named[:1]
    reads_target = (not vex and not _only_writes(name)) or bool(_FUSED.match(name)) or bool(masked)
    sources = (*named, *masked, *((target,) if reads_target and target else ()))
    if name.startswith(("cmov", "adc", "sbb")):
        sources = (*sources, "flags")
    if name.startswith(("ucomis", "comis", "vucomis", "vcomis")):
        return Step(Kind.COMPARE, Role.COMPUTE, (*named, target), "flags")
    kind, role = _class(name)
    flags = kind in (Kind.INTEGER, Kind.MULTIPLY) and not name.startswith(("cmov", "not", "bswap"))
    times = _times(name, operands, width)
    if role is Role.DIVISION:
        return Step(kind, role, (target, "ax", "dx"), "ax", flags=True)
    return Step(kind, role, sources, target, flags=flags, times=times)


def _copied(operands: list[str], named: tuple[str, ...], target: str) -> Step:
    if operands and operands[0].startswith("$"):
        return Step(Kind.INTEGER, Role.CONSTANT, (), target, number=_number(operands[0]))
    return Step(Kind.NONE, Role.COPY, named or (target or "ax",), target or "ax")


def _compared(name: str, operands: list[str], target: str) -> Step:
    """Return a comparison; a value against itself, or against zero, needs no operation ahead of its jump."""
    first = operands[0]
    if (name.startswith("test") and first == operands[-1]) or (name.startswith("cmp") and first == "$0"):
        return Step(Kind.NONE, Role.COPY, (target,), "flags")
    sources = (target,) if first.startswith("$") else (_register(first), target)
    return Step(Kind.INTEGER, Role.COMPUTE, sources, "flags")


def _added(name: str, operands: list[str], target: str) -> Step | None:
    """Return the sum of a register and a number, None for anything else."""
    match = _ADDED.match(name)
    if not match or (len(operands) == 2 and not operands[0].startswith("$")):
        return None
    number = _number(operands[0]) if len(operands) == 2 else 1
    sign = -1 if match["what"] in ("sub", "dec") else 1
    return Step(Kind.INTEGER, Role.ADD, (target,), target, number=sign * number, flags=True)


def _class(name: str) -> tuple[Kind, Role]:
    """Return the class of an operation on registers."""
    arithmetic = _FLOAT.match(name)
    if arithmetic:
        what = arithmetic["what"]
        if what in ("div", "sqrt") or what.startswith("r"):
            return Kind.DIVIDE, Role.COMPUTE
        if what in ("min", "max"):
            return Kind.COMPARE, Role.COMPUTE
        return Kind.FLOAT, {"mul": Role.PRODUCT, "add": Role.SUM, "sub": Role.SUM}.get(what, Role.COMPUTE)
    if _FUSED.match(name):
        return Kind.FLOAT, Role.COMPUTE
    if _FLOAT_COMPARE.match(name) or _SIGN.match(name):
        return Kind.COMPARE, Role.COMPUTE
    if "cvt" in name or re.match(r"v?(round|rndscale)[sp][sd]$", name):
        return Kind.CONVERT, Role.COMPUTE
    if _FLOAT_MOVE.match(name) or "blend" in name:
        return Kind.COMPARE, Role.COMPUTE  # a selection
    if _SHUFFLE.match(name):
        return Kind.SHUFFLE, Role.COMPUTE
    if _PACKED.match(name) and not name.startswith(("push", "pop", "pause")):
        return Kind.VECTOR, Role.COMPUTE
    if re.match(r"i?div[bwlq]?$", name):
        return Kind.INTEGER, Role.DIVISION
    return (Kind.MULTIPLY if re.match(r"(i?mul|mulx)[bwlq]?$", name) else Kind.INTEGER), Role.COMPUTE


def _zeroes(name: str, operands: list[str]) -> bool:
    """Return whether an instruction makes zero of a register and itself."""
    return (
        len(operands) >= 2
        and ("xor" in name or re.match(r"v?psub|sub[lq]?$", name) is not None)
        and len(set(operands)) == 1
    )


def _only_writes(name: str) -> bool:
    """Return whether a two-operand instruction ignores the old value of its target."""
    return name.startswith(
        ("mov", "set", "cvt", "sqrt", "pshuf", "tzcnt", "lzcnt", "popcnt", "bs", "rcp", "rs")
    )


def _only_reads(name: str) -> bool:
    if _COMPARE.match(name) or _FLOAT_COMPARE.match(name):
        return True
    return name.startswith(("mul", "imul", "div", "idiv"))


def _moved(name: str, operands: list[str], width: int) -> tuple[int, int]:
    """Return how many bytes an instruction moves from or to memory, and with how many operations."""
    if not _WIDE.match(name) or "{1to" in "".join(operands):
        return _scalar_bytes(name), 1
    if re.match(r"v?(mov[hl]p[sd]|movddup)$|v?broadcasts[sd]$|vp?broadcast[bwdq]$", name):
        return 8, 1
    moved = max((_WIDTHS[k] for k in re.findall(r"%([xyz])mm", " ".join(operands))), default=8)
    if _COPIED.match(name) and moved != width:
        return moved, moved // 8  # a copy of a structure
    halves = 2 if _UNALIGNED.match(name) and moved >= width else 1
    return moved, halves * max(1, moved // width)


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


def _times(name: str, operands: list[str], width: int) -> int:
    """Return how many operations of the CPE an operation on registers is."""
    if not _WIDE.match(name):
        return 1
    widest = max((_WIDTHS[k] for k in re.findall(r"%([xyz])mm", " ".join(operands))), default=16)
    return max(1, widest // width)


def _load_kind(name: str) -> Kind:
    whole = _MOVE.match(name) or _WIDENED.match(name) or _COMPARE.match(name) or _ADDED.match(name)
    whole = whole or re.match(r"v?cvtu?si2s[sd][lq]?$", name)
    floating = not whole and (name.startswith("v") or re.search(r"([sp][sd]|dq[au]|movd|movq)$", name))
    return Kind.FLOAT_LOAD if floating else Kind.LOAD


def _is_memory(operand: str) -> bool:
    return not operand.startswith(("%", "$", "*%")) or operand.startswith(("%fs:", "%gs:"))


def _address(text: str) -> Address | None:
    match = _ADDRESS.match(text.split("{")[0].strip().lstrip("*"))
    if not match:
        return Address(text, 0, "", "", 1)
    symbol = _SYMBOL.match(match["text"].strip())
    name = symbol["symbol"] or "" if symbol else match["text"]
    offset = int(symbol["offset"] or 0) if symbol else 0
    base, index = (_register(part) if part else "" for part in (match["base"], match["index"]))
    return Address(name, offset, "" if base == "ip" else base, index, int(match["scale"] or 1))


def _number(text: str) -> int:
    try:
        return int(text[1:], 0)
    except ValueError:
        return 1 << 40  # an address


def _mask(operand: str) -> tuple[str, ...]:
    """Return the mask register of a target such as ``%ymm1{%k1}``."""
    return tuple(re.findall(r"\{%(k\d)\}", operand))


def _names(text: str) -> tuple[str, ...]:
    found = re.findall(r"%([a-z0-9]+)", text)
    return tuple(_register("%" + name) for name in found if name not in ("fs", "gs"))


def _register(text: str) -> str:
    """Return one name for all widths of a register: rax, eax, ax, al -> ax; xmm1, ymm1 -> v1; r8d -> r8."""
    name = text.split("{")[0].strip().lstrip("*%")
    if name[1:3] == "mm":
        return "v" + name[3:]
    if name[:1] == "r" and name[1:2].isdigit():
        return name.rstrip("dwb")
    short = name[1:] if name[:1] in ("r", "e") and len(name) == 3 else name
    if len(short) == 2 and short[1] in "lh":
        return short[0] + "x"
    return short.removesuffix("l") if len(short) == 3 else short
