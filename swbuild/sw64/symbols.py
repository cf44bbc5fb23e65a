"""What addresses of symbols become: C expressions in code, names of the box's assembler in data."""

from __future__ import annotations

from dataclasses import dataclass, field

from swbuild.sw64.data import labels, section_symbol
from swbuild.sw64.program import Program, SectionKind
from swbuild.sw64.syntax import Label

__all__ = ["REFERENCE", "SHORT_DOUBLE", "TEXT", "Symbols"]

#: Symbols whose nature only the link knows: a function of the same side, or data.
REFERENCE = "__swemu_sw64_a_"
#: The vendor's library for its 8-byte long double.
SHORT_DOUBLE = "__nldbl_"
#: Stands for the code, one byte for each place whose address is taken.
TEXT = ".Lsw64_text"
#: Streams of the CPEs' library.
_ALIASES = {f"_slave_{name}": name for name in ("stdin", "stdout", "stderr")}
_LOCAL = (SectionKind.LOCAL, SectionKind.LOCAL_ZEROS)


@dataclass(slots=True)
class Symbols:
    """The symbols of one file; ``slave`` says for which side it is.

    ``places`` are the labels of code whose address is taken, with their numbers; ``asked`` the external names
    by what they are called in the object, with the line.
    """

    made: Program
    slave: bool
    called: set[str]
    places: dict[str, int] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    sections: set[str] = field(default_factory=set)
    asked: dict[str, int] = field(default_factory=dict)
    code: set[str] = field(default_factory=set)
    data: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.code = {item.name for item in self.made.code if isinstance(item, Label)}
        for section in self.made.sections.values():
            for item in section.items:
                if isinstance(item, Label):
                    self.data[item.name] = section.kind in _LOCAL

    def place(self, label: str) -> int:
        """Return the number of a place of the code."""
        return self.places.setdefault(label, len(self.places))

    def function(self, name: str) -> str:
        """Return what a function is called that others see."""
        plain = name.removeprefix(SHORT_DOUBLE)
        return f"slave_{plain.removeprefix('slave_')}" if self.slave else plain

    def address(self, name: str, line: int, thread_local: bool = False) -> str:
        """Return the C expression of a symbol's address, a char pointer.

        Raise ValueError with the reason if there is none.
        """
        if name in self.code and not self._is_function(name):
            return f"SW64_PLACE({self.place(name)})"
        local = thread_local or self.data.get(name, False) or self._is_local_section(name)
        return f"((unsigned long){self._declared(self.reference(name, line), local, name)})"

    def reference(self, name: str, line: int) -> str:
        """Return what the box's assembler calls a symbol."""
        if name in self.made.sections:
            self.sections.add(name)
            return section_symbol(list(self.made.sections).index(name))
        if name in self.data or name in labels(self.made):
            return name
        if self._is_function(name):
            if name in self.code and name not in self.made.visible:
                raise ValueError(
                    f"the address of the function '{name}' is taken, which is not global (.globl)"
                )
            return self.function(name)
        if name in self.code:
            return f"{TEXT}+{self.place(name)}"
        return self._external(name, line)

    def _external(self, name: str, line: int) -> str:
        if name in _ALIASES:
            return _ALIASES[name]
        if name in self.called:
            return self.function(name)
        if any(name == d.arguments.split(",")[0].strip() for d in self.made.common):
            return name
        self.asked.setdefault(name, line)
        return REFERENCE + name

    def _is_function(self, name: str) -> bool:
        return name in self.code and (name in self.made.functions or name in self.made.visible)

    def _is_local_section(self, name: str) -> bool:
        section = self.made.sections.get(name)
        return section is not None and section.kind in _LOCAL

    def _declared(self, symbol: str, local: bool, name: str) -> str:
        """Return the C name of a symbol, declared once."""
        if local and symbol.startswith(REFERENCE):
            self.asked.pop(name, None)
            symbol = name
        if symbol not in self.declared:
            kind = "extern __thread_local char" if local else "extern char"
            hidden = symbol.startswith(".L")
            own = ' __attribute__((visibility("hidden")))' if hidden else ""
            self.declared[symbol] = f'{kind} sw64_s{len(self.declared)}[] __asm__("{symbol}"){own};'
        return self.declared[symbol].split("[]", 1)[0].rsplit(" ", 1)[1]

    def declarations(self) -> list[str]:
        """Return the C declarations of all symbols that expressions name."""
        return list(self.declared.values())
