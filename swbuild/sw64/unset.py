"""Registers that are read before they have a value, as C that checked mode runs.

A unit keeps a bit for every register that has one (``known``).  A function that others see begins with its
arguments and the registers of its caller; behind it, and behind a call of C, no register of the caller has
its value but those that functions save, and the result.  What a label of the file alone is called with and
returns is between the two.  Not reads are what gives the same for every value, a caller's register that is
saved, and the rest of a vector of which a part is set.  A register without a value that is spilled to the
frame has none when it comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from swbuild.sw64.flow import Jump, JumpKind, Unit, jump
from swbuild.sw64.instructions import Kind, reads, shape, writes
from swbuild.sw64.syntax import Instruction, Label, memory_operand, register_number

__all__ = ["Unset", "after_call", "begins", "given", "leaves"]

SAVED = frozenset(range(9, 16))
ARGUMENTS = frozenset(range(16, 22))
RESULT = 0
#: The addresses of returns and of the procedure, $gp, $sp and zero: they are looked after elsewhere.
_OTHERS = frozenset((26, 27, 29, 30, 31))
#: What a call may change.
CHANGED = frozenset(range(32)) - SAVED - _OTHERS - {RESULT}

_SAME = frozenset(
    (
        *("xor", "subw", "subl", "bic", "andnot", "ornot", "eqv", "cmpeq", "cmple", "cmpule", "cmplt"),
        *("cmpult", "vxorw", "vsubw", "vsubl", "vbicw", "vornotw", "veqvw"),
    )
)
_WITH_ZERO = frozenset(("and", "mulw", "mull", "umulh", "zapnot"))
_LOADS = (Kind.LOAD, Kind.FLOAT_LOAD)
#: The registers that a frame is addressed by, and how many of its places are followed.
_FRAMES, _MOST = (15, 30), 64
_PARTS = frozenset(("vinsw", "vinsf"))
_MOVES = frozenset(("mov", "fmov", "vfmov"))
_MOVES_OF_TWO = frozenset(("bis", "or", "and", "fcpys", "vcpys", "vbisw", "vandw"))


@dataclass(slots=True)
class Unset:
    """Writes the tests of one unit; ``sure`` are the registers that have values here in any case."""

    unit: Unit
    sure: set[int] = field(default_factory=set)
    slots: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Number the places of the frame that are stored to and loaded from."""
        items = [item for item in self.unit.items if isinstance(item, Instruction)]
        stored = dict.fromkeys(_place(item) for item in items if _kind(item) is Kind.STORE)
        loaded = {_place(item) for item in items if _kind(item) in _LOADS} - {""}
        self.slots = {text: k for k, text in enumerate(text for text in stored if text in loaded)}

    def label(self) -> None:
        """Note that control may come from elsewhere."""
        self.sure.clear()

    def before(self, item: Instruction, found: Jump | None, function: str) -> str:
        """Return what goes ahead of an instruction."""
        spilled = self._spilled(item)
        if spilled:
            return spilled
        moved = self._moved(item)
        needed = self._needed(item, found) if moved is None else set()
        written = _tracked(writes(item)) if found is None else set()
        text = f'SW64_READS("{function}", {_mask(needed - self.sure)}) ' if needed - self.sure else ""
        if moved is not None:
            self.sure.discard(moved[1])
            text += f"SW64_MOVES({moved[0]}, {moved[1]}) "
        elif written - self.sure:
            text += f"SW64_WRITES({_mask(written - self.sure)}) "
        if moved is None:
            self.sure |= needed | written
        if found and found.kind is not JumpKind.CONDITION:
            self.sure.clear()
        return text

    def _spilled(self, item: Instruction) -> str:
        """Return what goes ahead of a store to the frame, or of a load of what was stored there."""
        slot = self.slots.get(_place(item), _MOST)
        number = register_number(item.operands[0]) if slot < _MOST else None
        if number is None or number in _OTHERS:
            return ""
        if _kind(item) is Kind.STORE:
            return f"SW64_SPILLS({number}, {slot}) "
        self.sure.discard(number)
        return f"SW64_FILLS({slot}, {number}) "

    def _needed(self, item: Instruction, found: Jump | None) -> set[int]:
        if found:
            first = register_number(item.operands[0]) if found.kind is JumpKind.CONDITION else found.base
            return _tracked((first,) if first is not None else ())
        if _gives_the_same(item) or self._saves(item):
            return _tracked(_addresses(item))
        if item.mnemonic in _PARTS and item.operands[1] == item.operands[3]:
            return _tracked(reads(item)) - _tracked(writes(item)) | _numbers(item.operands[:1])
        return _tracked(reads(item))

    def _saves(self, item: Instruction) -> bool:
        """Return whether a register of the caller is put into the frame, or where it is taken from again."""
        known = shape(item)
        address = memory_operand(item.operands[1]) if known and known.kind is Kind.STORE else None
        if address is None or register_number(item.operands[0]) not in SAVED:
            return False
        return address.base in _FRAMES or any(_restores(other, item) for other in self.unit.items)

    def _moved(self, item: Instruction) -> tuple[int, int] | None:
        """Return the numbers of a register and of its copy where a caller's register is kept, or put back."""
        source, target = _source(item), next(iter(writes(item)), None)
        if source is None or target is None or source in self.sure or source in _OTHERS:
            return None
        back = target in SAVED and any(
            isinstance(other, Instruction) and _source(other) == target for other in self.unit.items
        )
        return (source, target) if source in SAVED or back else None


def begins(unit: Unit, seen: set[str]) -> list[str]:
    """Return the declarations: what has a value, and what has none any more when a function returns."""
    clobbered = [
        (k, CHANGED if name in seen else _written(unit, name))
        for k, name in enumerate(unit.entries)
        if name in unit.functions
    ]
    lost = "".join(f"entry == {k} ? {_mask(mask)} : " for k, mask in clobbered)
    own = " || ".join(f"entry == {k}" for k, name in enumerate(unit.entries) if name in seen) or "0"
    begun = _mask(CHANGED - ARGUMENTS | {RESULT})
    return [
        f"    const unsigned long lost = {lost}0;",
        "    unsigned long spilled = ~0UL; /* bit k: place k of the frame has a value */",
        f"    unsigned long known = SW64_CHECKED ? sw64_known(cpu) & ~({own} ? {begun} : 0UL) : 0;",
    ]


def leaves() -> str:
    """Return what a function that others see does when it returns."""
    return "if (SW64_CHECKED) known &= ~lost;"


def given(arguments: int) -> str:
    """Return the mask of the registers that C has set for a function with so many arguments."""
    return _mask(set(sorted(ARGUMENTS)[:arguments]))


def after_call(result: bool) -> str:
    """Return what stands behind a call of C, with or without a result."""
    return (
        f"cpu->known = (cpu->known & ~{_mask(CHANGED | {RESULT})}) | {_mask({RESULT} if result else set())};"
    )


def _written(unit: Unit, name: str) -> set[int]:
    """Return what a function of this file alone changes, apart from its result."""
    found: set[int] = set()
    inside = False
    for item in unit.items:
        if isinstance(item, Label):
            inside = item.name == name if item.name in unit.functions else inside
        elif inside:
            found |= set(writes(item)) if _jump(item) is None else set()
    return found & CHANGED


def _jump(item: Instruction) -> Jump | None:
    try:
        return jump(item)
    except ValueError:
        return None


def _gives_the_same(item: Instruction) -> bool:
    """Return whether the result does not depend on the registers."""
    operands = item.operands
    if item.mnemonic in _SAME:
        return operands[0] == operands[1]
    return item.mnemonic in _WITH_ZERO and bool({"0", "0x0", "$31", "$zero"}.intersection(operands[:2]))


def _source(item: Instruction) -> int | None:
    """Return the number of the register that an instruction copies."""
    operands = item.operands
    if item.mnemonic == "ldi":
        address = memory_operand(operands[1])
        return address.base if address and address.displacement in ("", "0") else None
    if item.mnemonic in _MOVES:
        return register_number(operands[0])
    if item.mnemonic in _MOVES_OF_TWO:
        if operands[0] == operands[1]:
            return register_number(operands[0])
        zeros = ("$31", "0", "$zero") if item.mnemonic in ("bis", "or") else ()
        rest = [text for text in operands[:2] if text not in zeros]
        return register_number(rest[0]) if len(rest) == 1 else None
    return None


def _restores(other: Instruction | Label, item: Instruction) -> bool:
    return isinstance(other, Instruction) and other.operands == item.operands and _kind(other) in _LOADS


def _kind(item: Instruction) -> Kind | None:
    known = shape(item)
    return known.kind if known else None


def _place(item: Instruction) -> str:
    """Return the place of the frame that a load or store accesses; nothing for others."""
    address = memory_operand(item.operands[1]) if len(item.operands) == 2 and shape(item) else None
    known = _kind(item) in (*_LOADS, Kind.STORE)
    return f"{address.displacement}({address.base})" if address and known and address.base in _FRAMES else ""


def _addresses(item: Instruction) -> list[int]:
    found = [memory_operand(operand) for operand in item.operands]
    return [address.base for address in found if address]


def _numbers(operands: Sequence[str]) -> set[int]:
    numbers = [register_number(operand) for operand in operands]
    return _tracked([number for number in numbers if number is not None])


def _tracked(numbers: Sequence[int] | set[int] | frozenset[int]) -> set[int]:
    return set(numbers) - _OTHERS


def _mask(numbers: set[int] | frozenset[int]) -> str:
    return f"{sum(1 << number for number in numbers):#x}UL"
