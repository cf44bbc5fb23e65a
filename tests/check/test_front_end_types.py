"""A front end that takes a type for another one is caught by the check, by two means of their own.

The compiler is asked before anything is generated; and the reference is compiled from the user's own
declarations, so that a wrong type makes wrong results where it makes a difference at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from swbuild.check import CheckSettings, Outcome, SourceTask, check_sources
from swbuild.diagnostics import Diagnostic
from swbuild.expressions.types import ElementType, TypeKind
from swbuild.frontend import CppOptions, constants, places, read_source, reader
from swbuild.frontend.ctype import _BASE, CType, StructType
from swbuild.frontend.layout import Extent, offset_of, size_of

SETTINGS = CheckSettings(modes=("checked",), jobs=1)
Patch = pytest.MonkeyPatch

#: Every way in which a number can stand in a region.
_USES = """
typedef {t} mine;
struct one {{ char c; {t} m; }};
struct many {{ {t} k, m; }};
static {t} rows[70][50];
void parameter(int n, double *restrict o, {t} s) {{ {begin} o[i] = s; {end}
void array(int n, double *restrict o, const {t} *restrict b) {{ {begin} o[i] = b[i]; {end}
void named(int n, double *restrict o, mine b[n]) {{ {begin} o[i] = b[i]; {end}
void nested(int n, double *restrict o) {{ {begin} o[i] = rows[i][3]; {end}
void private(int n, double *restrict o) {{ {begin} {t} x = i; o[i] = x / 2; {end}
void member(int n, double *restrict o, struct one *g) {{ {begin} o[i] = g->m; {end}
void record(int n, double *restrict o, struct many g[n]) {{ {begin} o[i] = g[i].m; {end}
"""
_BEGIN = "\n#pragma scop\n for (int i = 0; i < n; i++) {"
_END = "}\n#pragma endscop\n}"


def models(path: Path) -> list[str]:
    """Return the regions of which a model is made; all others must be refused as ordinary C is."""
    found = read_source(path, CppOptions(), None)
    assert all(d.code.startswith("SW2") for region in found.refused for d in region.diagnostics)
    return [scop.name for scop in found.scops]


def others(element: ElementType) -> Iterator[ElementType]:
    """Yield what a type may be taken for: another size, signedness or kind, by another name or its own."""
    signs = {TypeKind.SIGNED: TypeKind.UNSIGNED, TypeKind.UNSIGNED: TypeKind.SIGNED}
    known = [other for other in _BASE.values() if (other.size, other.kind) != (element.size, element.kind)]
    yield next(other for other in known if other.size != element.size)
    yield next(other for other in known if other.kind is not element.kind)
    yield next(other for other in reversed(known) if other.size == element.size or other.size > 4)
    yield replace(element, kind=signs.get(element.kind, TypeKind.SIGNED))
    yield replace(element, size=element.size * 2)


@pytest.mark.parametrize("name", sorted(_BASE))
def test_a_type_taken_for_another_is_refused(tmp_path: Path, monkeypatch: Patch, name: str) -> None:
    path = tmp_path / "types.c"
    path.write_text(_USES.format(t=name, begin=_BEGIN, end=_END))
    assert len(models(path)) == 7
    for other in others(_BASE[name]):
        with monkeypatch.context() as patch:
            patch.setitem(_BASE, name, other)
            assert not models(path), f"'{name}' was taken for {other}"


_ENUMS = """enum plain { none, some = 5 };
enum low { less = -3, more };
typedef enum plain alias;
"""


@pytest.mark.parametrize(
    ("kind", "other"),
    [(kind, other) for kind in ("enum plain", "alias") for other in ("int", "long", "unsigned char")]
    + [("enum low", other) for other in ("unsigned int", "long", "signed char", "double")],
)
def test_an_enumeration_taken_for_another_type_is_refused(
    tmp_path: Path, monkeypatch: Patch, kind: str, other: str
) -> None:
    path = tmp_path / "enums.c"
    path.write_text(_ENUMS + _USES.format(t=kind, begin=_BEGIN, end=_END))
    assert len(models(path)) == 7
    monkeypatch.setattr(constants, "_enum_type", lambda low, high: _BASE[other])
    assert not models(path)


def test_types_that_are_named_later_are_not_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "later.c"
    later = "typedef double later;\nlater last(later x);\n"
    path.write_text(_USES.format(t="int", begin=_BEGIN, end=_END) + later)
    assert len(models(path)) == 7


def _later(found: int | None) -> int | None:
    return None if found is None else found + 8


_RECORDS = f"""struct part {{ double k; double m[3]; double x; }};
struct nest {{ struct part p[2]; long id; double y; }};
void plain(int n, double *restrict o, struct part *restrict g) {{ {_BEGIN} o[i] = g[i].x; {_END}
void arrays(int n, double *restrict o, struct part g[n]) {{ {_BEGIN} o[i] = g[i].m[i % 3]; {_END}
void nested(int n, double *restrict o, struct nest g[n][4]) {{ {_BEGIN} o[i] = g[i][2].p[1].x; {_END}
"""


def _shifted(kind: StructType, member: str, extent: Extent) -> int | None:
    found = offset_of(kind, member, extent)
    return _later(found) if member in ("x", "m", "p") else found


def _stretched(kind: CType, extent: Extent) -> int | None:
    return _later(size_of(kind, extent)) if isinstance(kind, StructType) else size_of(kind, extent)


_LAYOUTS: dict[str, Callable[..., int | None]] = {"offset_of": _shifted, "size_of": _stretched}


@pytest.mark.parametrize("name", sorted(_LAYOUTS))
@pytest.mark.parametrize("asked", [True, False], ids=["compiler asked", "reference alone"])
def test_members_and_strides_out_of_place(tmp_path: Path, monkeypatch: Patch, name: str, asked: bool) -> None:
    path = tmp_path / "records.c"
    path.write_text(_RECORDS)
    assert len(models(path)) == 3
    monkeypatch.setattr(places, name, _LAYOUTS[name])
    if asked:
        assert not models(path)
    else:
        monkeypatch.setattr(reader, "disagreements", _nothing)
        assert not passed(path)


def passed(path: Path) -> list[str]:
    """Return the regions that the check lets pass."""
    results = check_sources([SourceTask(path)], SETTINGS)
    return [result.region for result in results if result.outcome is Outcome.PASS]


def _nothing(*_: object) -> dict[str, tuple[Diagnostic, ...]]:
    return {}


#: What the reference shows by itself: a type, what it is taken for, and a computation that tells them apart.
_TOLD_APART = [
    ("unsigned int", "int", "(b[i] - 20) / 3"),
    ("int", "unsigned int", "(b[i] - 20) / 2"),
    ("unsigned long", "long", "(b[i] - 20) / 3"),
    ("short", "int", "b[i]"),
    ("long", "int", "b[i]"),
    ("float", "double", "b[i] + 1"),
    ("double", "float", "b[i] + 1"),
    ("double", "long", "b[i] + 1"),
]


def test_the_reference_shows_wrong_types_by_itself(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(reader, "disagreements", _nothing)
    for number, (name, other, value) in enumerate(_TOLD_APART):
        path = tmp_path / f"apart{number}.c"
        head = f"void f(int n, double *restrict o, const {name} *restrict b)"
        path.write_text(f"{head} {{ {_BEGIN} o[i] = {value}; {_END}\n")
        with monkeypatch.context() as patch:
            patch.setitem(_BASE, name, _BASE[other])
            assert not passed(path), f"'{name}' taken for '{other}' passes"
