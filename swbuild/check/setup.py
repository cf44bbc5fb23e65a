"""What the reference of a region does before and after it: the user's variables get their values."""

from __future__ import annotations

import re  # reads expressions for what lies at the region
from collections.abc import Iterator, Sequence

from swbuild.check.slots import Slot
from swbuild.frontend.scop import Scop, Variable, VariableKind

__all__ = ["Setup"]

_AUTOMATIC = frozenset({"typedef", "extern", "static"})


class Setup:
    """The C text around the untouched region; objects are named as the user's source spells them.

    Pointers that lead to objects of the model are aimed at the harness's memory, those on the way at
    memory of their own, all others at readable memory.
    """

    def __init__(self, scop: Scop, slots: Sequence[Slot]) -> None:
        self._scop = scop
        self._numbers = {slot.name: number for number, slot in enumerate(slots)}
        self._slots = [slot for slot in slots if slot.table is None or slot.array is not None]
        self._by_text = {slot.text: slot for slot in self._slots}
        self._around = {variable.name: variable for variable in scop.around}
        self._automatic = self._find_automatic()

    def _find_automatic(self) -> frozenset[str]:
        """Return the names whose values their declarations can give."""
        frame = self._scop.frame
        assert frame is not None
        names = {parameter.name for parameter in frame.parameters}
        for block in frame.blocks:
            for declaration in block:
                if not any(map(declaration.has, _AUTOMATIC)):
                    names |= {item.name for item in declaration.declarators}
        return frozenset(names)

    @property
    def roots(self) -> frozenset[str]:
        """The variables from which all paths of the model start."""
        return frozenset(_root(text) for text in (*self._by_text, *self._scop.idle))

    def kind(self, name: str) -> VariableKind:
        """Return what the variable ``name`` of the function holds."""
        return self._variable(name).kind

    def keeps(self, name: str) -> bool:
        """Whether the model takes the variable for what its own initialiser says."""
        return self._variable(name).keeps

    def _variable(self, name: str) -> Variable:
        return self._around.get(name) or Variable(name, VariableKind.OTHER, False)

    def initial(self, name: str) -> str | None:
        """Return the value for an automatic variable ``name`` where it is declared, None for no value."""
        slot, kind = self._by_text.get(name), self.kind(name)
        if kind is VariableKind.OTHER:
            return None
        if slot is not None:
            if slot.table is not None:
                return self._rows(slot)
            number = self._numbers[slot.name]
            return f"swchk_value({name}, {number})" if slot.is_scalar else f"swchk_slot[{number}]"
        if kind is VariableKind.NUMBER:
            return None if self.keeps(name) else "8"
        if kind is VariableKind.RECORD_POINTER:
            return f"swchk_new(sizeof *{name})"
        return "swchk_new(4096)" if name in self.roots else "swchk_spare()"

    def _rows(self, slot: Slot) -> str:
        """Return the table that leads to the rows of ``slot``."""
        assert slot.table is not None
        extents = [self._numbers[name] for name in slot.table.extents]
        return f"swchk_rows({self._numbers[slot.name]}, {extents[-1]}, {extents[0]}, {slot.element.size})"

    def before(self) -> Iterator[str]:
        """Yield the statements that come before the region."""
        yield from self._seeds()
        paths = sorted((*self._by_text, *self._scop.idle), key=len)
        for prefix in dict.fromkeys(prefix for path in paths for prefix in _prefixes(path)):
            if prefix not in self._automatic and prefix not in self._by_text:
                yield f"swchk_aim({prefix}, swchk_new(sizeof *({prefix})));"
        for path in self._scop.idle:
            if path not in self._automatic:
                yield f"swchk_aim({path}, swchk_spare());"
        yield from self._entered(scalars=False)
        yield from self._entered(scalars=True)

    def _seeds(self) -> Iterator[str]:
        """Yield statements that fill structures of the function, so that every pointer in them is good."""
        for name in sorted(self.roots & self._automatic):
            if self.kind(name) is VariableKind.OTHER and self._is_unset(name):
                yield f"swchk_seed((void *)&{name}, sizeof {name});"

    def _is_unset(self, root: str) -> bool:
        """Whether nothing gives the variable its contents as a whole."""
        return not any(_root(slot.text) == root and (slot.given or slot.text == root) for slot in self._slots)

    def _entered(self, scalars: bool) -> Iterator[str]:
        for slot in self._slots:
            done = slot.text in self._automatic and self.kind(slot.text) is not VariableKind.OTHER
            if slot.table is not None:
                if not (scalars or done):
                    yield f"swchk_lead({slot.text}, {self._rows(slot)});"
            elif slot.is_scalar is scalars and (slot.given or not done):
                tell = "agree" if slot.parameter is not None else "tell"
                verb = (tell if slot.given else "set") if scalars else "leave" if slot.given else "enter"
                yield f"swchk_{verb}({slot.text}, {self._numbers[slot.name]});"

    def after(self) -> Iterator[str]:
        """Yield the statements that come after the region: what it left goes to the harness."""
        for slot in self._slots:
            if slot.array is not None and not slot.array.is_const and slot.table is None:
                number = self._numbers[slot.name]
                value = f"swchk_value({slot.text}, {number}) = {slot.text};"
                yield value if slot.is_scalar else f"swchk_leave({slot.text}, {number});"


def _root(path: str) -> str:
    found = re.search(r"[A-Za-z_$][\w$]*", path)
    assert found is not None
    return found[0]


def _prefixes(path: str) -> list[str]:
    """Return the pointers on the way to an object, outermost first: ``g``, ``g->o`` for ``g->o->a``."""
    first = re.match(r"\(\*([\w$]+)\)", path)
    found = [path[: match.start()] for match in re.finditer(r"->|\[", path)]
    return [first[1], *found] if first else found
