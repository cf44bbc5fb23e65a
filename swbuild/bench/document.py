"""Measurements as JSON, and what has become slower since an earlier document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from swbuild.bench.results import Figures, Measured
from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError

__all__ = ["Change", "changes", "document", "merged", "read_document"]

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Change:
    """A region at one size on one machine: its cycles before and now."""

    name: str
    machine: str
    before: float
    now: float

    @property
    def ratio(self) -> float:
        """How many times the earlier cycles it takes."""
        return self.now / self.before if self.before else 1.0


def document(found: Iterable[Measured]) -> dict[str, Any]:
    """Return the measurements as values for a JSON file."""
    return {"format": _FORMAT, "time": "model cycles", "programs": [_program(item) for item in found]}


def _program(item: Measured) -> dict[str, Any]:
    known = {} if item.figures is None else asdict(item.figures)
    return {
        "name": item.name,
        "source": Path(item.source).name,
        "machine": item.machine,
        "sizes": dict(item.sizes),
        **known,
        "operations": item.operations,
        "budget": item.budget,
        "bound": None if item.bound is None else round(item.bound, 3),
        "x_bound": None if item.x_bound is None else round(item.x_bound, 4),
        **({"errors": [str(each) for each in item.diagnostics]} if item.diagnostics else {}),
        **({"influences": [asdict(each) for each in item.influences]} if item.influences else {}),
    }


def read_document(path: Path) -> tuple[Measured, ...]:
    """Return the measurements that :func:`document` made a file of; raise SW509 for any other file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != _FORMAT:
            raise ValueError(f"its format is {found['format']}, not {_FORMAT}")
        return tuple(map(_measured, found["programs"]))
    except OSError as error:
        why = error.strerror or str(error)
    except (ValueError, KeyError, TypeError) as error:
        why = f"it is not what 'swbuild bench --json' writes ({error!r})"
    raise SwbuildError(Diagnostic("SW509", f"cannot read the measurements: {why}", Span(str(path))))


def _measured(entry: Mapping[str, Any]) -> Measured:
    names = Figures.__dataclass_fields__
    known = Figures(**{name: entry[name] for name in names}) if "cycles" in entry else None
    sizes = {str(name): int(value) for name, value in entry["sizes"].items()}
    name, source, machine = (str(entry[key]) for key in ("name", "source", "machine"))
    return Measured(name, source, machine, sizes, known, entry["operations"], int(entry["budget"]))


def changes(before: Sequence[Measured], now: Sequence[Measured]) -> tuple[Change, ...]:
    """Return the change of everything that is in both, at the same size on the same machine."""
    earlier = {item.key: item.figures for item in before if item.figures}
    return tuple(
        Change(item.name, item.machine, earlier[item.key].cycles, item.figures.cycles)
        for item in now
        if item.figures and item.key in earlier
    )


def merged(before: Sequence[Measured], now: Sequence[Measured]) -> tuple[Measured, ...]:
    """Return the earlier measurements with those of ``now`` in their places, new ones behind them."""
    found = {(item.name, item.machine): item for item in before}
    found.update({(item.name, item.machine): item for item in now})
    return tuple(found.values())
