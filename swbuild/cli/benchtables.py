"""The tables that ``swbuild bench`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, log
from typing import TextIO

from swbuild.bench.document import Change
from swbuild.bench.results import Figures, Influence, Measured
from swbuild.tables import print_rows

__all__ = ["print_changes", "print_influences", "print_measurements"]

_HEADS = (
    *("region", "machine", "model cycles", "x bound", "moved", "spawns"),
    *("host", "computing", "waiting", "idle", "LDM"),
)
_RIGHT = frozenset(range(2, len(_HEADS)))
#: Changes of model time below this share are not shown.
_VISIBLE = 0.0005


def print_measurements(found: Sequence[Measured]) -> None:
    """Print a line per region, and the mean of what could be measured."""
    print_rows(_HEADS, [_row(item) for item in found], _RIGHT)
    ratios = [item.x_bound for item in found if item.x_bound]
    if len(ratios) > 1:
        mean = exp(fsum(map(log, ratios)) / len(ratios))
        print(f"geometric mean of {len(ratios)}: {mean:.2f} x bound")


def _row(item: Measured) -> tuple[str, ...]:
    figures = item.figures
    if figures is None:
        return (item.name, item.machine, "failed", *["-"] * (len(_HEADS) - 3))
    return (
        item.name,
        item.machine,
        f"{figures.cycles:.0f}",
        _ratio(item.x_bound),
        _ratio(item.moved_ratio),
        str(figures.spawns),
        *(f"{100 * share:.0f} %" for share in _shares(figures)),
        f"{100 * figures.ldm / item.budget:.0f} %" if item.budget else "-",
    )


def _shares(figures: Figures) -> tuple[float, ...]:
    return figures.host, figures.computing, figures.waiting, figures.idle


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def print_changes(changes: Sequence[Change], tolerance: float, name: str, stream: TextIO) -> bool:
    """Print what takes another time than before; return whether anything is slower than ``tolerance`` %."""
    limit = 1 + tolerance / 100
    shown = [change for change in changes if abs(change.ratio - 1) > _VISIBLE]
    slower = [change for change in changes if change.ratio > limit]
    print(
        f"\nagainst {name}: {len(changes)} in both, {len(slower)} slower by more than {tolerance:g} %",
        file=stream,
    )
    if shown:
        rows = [_change(change) for change in sorted(shown, key=lambda change: -change.ratio)]
        print_rows(("region", "machine", "before", "now", "change"), rows, frozenset({2, 3, 4}), stream)
    return bool(slower)


def _change(change: Change) -> tuple[str, ...]:
    percent = f"{100 * (change.ratio - 1):+.1f} %"
    return change.name, change.machine, f"{change.before:.0f}", f"{change.now:.0f}", percent


def print_influences(item: Measured) -> None:
    """Print which guesses of the machine file matter to a region, the strongest first."""
    if not item.influences:
        return
    shown = [each for each in item.influences if each.strength > _VISIBLE]
    print(f"\n{item.name} on the {item.machine}: model time with guesses halved and doubled")
    if shown:
        heads = ("number", "value", "halved", "doubled")
        print_rows(heads, [_influence(each) for each in shown], frozenset({1, 2, 3}))
    print(f"no change by {len(item.influences) - len(shown)} of {len(item.influences)} guesses")


def _influence(item: Influence) -> tuple[str, ...]:
    changes = ("-" if each is None else f"{100 * each:+.1f} %" for each in (item.halved, item.doubled))
    return item.number, f"{item.value:g}", *changes
