"""What an object says of its assembly and of its declarations, for the link."""

from __future__ import annotations

from dataclasses import dataclass, field

from swbuild.sw64.prototypes import Prototype, from_note

__all__ = ["Notes", "notes"]

#: gcc's numbers for types: up to this one they are integers.
_INTEGERS = 4


@dataclass(slots=True)
class Notes:
    """What one object says: of a file of assembly, or of a C file's declarations."""

    slave: bool = True
    path: str = ""
    units: dict[str, int] = field(default_factory=dict)
    entries: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, str, int]] = field(default_factory=list)
    addresses: dict[str, int] = field(default_factory=dict)
    indirect: int = 0
    prototypes: list[Prototype] = field(default_factory=list)
    called: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)


def notes(text: str) -> list[Notes]:
    """Return the notes of an object, which may have been joined from several."""
    found: list[Notes] = [Notes()]
    for line in text.splitlines():
        words = line.split("\t")
        if words[0] == "file":
            found.append(Notes(words[1] == "slave", words[2]))
        elif words[0] == "unit":
            found[-1].units[words[1]] = int(words[2])
        elif words[0] == "entry":
            found[-1].entries[words[2]] = words[1]
        elif words[0] == "call":
            found[-1].calls.append((words[1], words[2], int(words[3])))
        elif words[0] == "address":
            found[-1].addresses[words[1]] = int(words[2])
        elif words[0] == "indirect":
            found[-1].indirect = int(words[1])
        elif words[0] == "prototype":
            found[-1].prototypes.append(from_note(words))
        elif words[0] == "called":
            found[-1].called.append((words[1], tuple(map(_class_of, words[2].split(",")))))
    return found


def _class_of(text: str) -> str:
    """Return the class of an argument from gcc's number for its kind of type and its size."""
    kind, _, size = text.partition("/")
    if int(kind) <= _INTEGERS:
        return "i8"
    return {"5": "p", "8": "d" if int(size) <= 8 else "long double"}.get(kind, "?")
