"""Our dataclasses behave as those of the standard library, whose methods are compiled at once."""

from __future__ import annotations

import dataclasses
import pickle
import re
from pathlib import Path

import pytest

from swbuild.classes import dataclass

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    left: int
    right: tuple[int, ...] = (1,)
    note: str = dataclasses.field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Triple(Pair):
    more: list[int] = dataclasses.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Swapped:
    f1: int
    f0: int = 2


@dataclass(frozen=True, slots=True)
class Plain:
    left: int
    right: int = 3


@dataclass(slots=True)
class Open:
    value: int
    double: int = 0

    def __post_init__(self) -> None:
        self.double = 2 * self.value


@dataclass(frozen=True, eq=False, slots=True)
class Thing:
    value: int


@dataclass(frozen=True, slots=True)
class Named:
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name.lower() == other.name.lower()

    def __repr__(self) -> str:
        return "named"


def test_arguments() -> None:
    assert (Pair(1).right, Pair(left=2, right=(3,)).right) == ((1,), (3,))
    assert Triple(1, more=[2]).more == [2]
    assert Triple(1).more == [] and Triple(1).more is not Triple(1).more
    assert Open(2).double == 4
    with pytest.raises(TypeError, match="left"):
        Pair()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected"):
        Pair(1, other=1)  # type: ignore[call-arg]


def test_classes_of_one_shape_keep_their_names() -> None:
    assert (Plain(1).left, Plain(1).right, Swapped(1).f1, Swapped(1).f0) == (1, 3, 1, 2)
    assert (Plain(right=5, left=4).right, Swapped(f0=7, f1=6).f1) == (5, 6)
    assert Plain(1) == Plain(1, 3) != Plain(1, 4) and Swapped(1) == Swapped(1, 2) != Swapped(2, 2)
    assert len({Plain(1), Plain(1, 3), Swapped(1), Swapped(1, 2)}) == 2
    with pytest.raises(TypeError, match="f1"):
        Swapped()  # type: ignore[call-arg]


def test_comparisons() -> None:
    assert Pair(1) == Pair(1, note="x") and hash(Pair(1)) == hash(Pair(1, note="x"))
    assert Pair(1) != Triple(1)  # other classes are never equal
    assert Pair(1) < Pair(2) and Pair(2) >= Pair(1) and sorted([Pair(2), Pair(1)])[0] == Pair(1)
    assert Thing(1) != Thing(1) and hash(Thing(1))
    assert Open(1) == Open(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Open(1))
    assert Named("A") == Named("a") and repr(Named("A")) == "named"
    assert hash(Named("A")) == hash(Named("A"))


def test_values_stay() -> None:
    pair = Pair(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="left"):
        pair.left = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="left"):
        del pair.left
    assert not hasattr(pair, "__dict__")


def test_the_standard_library_knows_them() -> None:
    assert dataclasses.replace(Triple(1), left=5) == Triple(5)
    assert [item.name for item in dataclasses.fields(Triple)] == ["left", "right", "note", "more"]
    assert dataclasses.asdict(Pair(1)) == {"left": 1, "right": (1,), "note": ""}
    assert pickle.loads(pickle.dumps(Triple(1, note="n"))).note == "n"
    assert repr(Pair(1)) == "Pair(left=1, right=(1,))"
    match Pair(1, (2,)):
        case Pair(left, right):
            assert (left, right) == (1, (2,))


def test_all_classes_of_the_generator_are_such() -> None:
    plain = re.compile(r"from dataclasses import .*\bdataclass\b(?!.*#)|@dataclasses\.dataclass")
    paths = [p for p in (ROOT / "swbuild").rglob("*.py") if not {"emulator", "sw64"} & set(p.parts)]
    found = [p for p in paths if plain.search(p.read_text(encoding="utf-8")) and p.name != "classes.py"]
    assert found == []
