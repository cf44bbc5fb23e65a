"""What the sizes of a check reached of what they could have: from the model, at the sizes that really ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swbuild.check.goals import Goal, GoalKind, region_goals
from swbuild.check.results import CaseResult, Coverage, Load, Missed, Outcome
from swbuild.check.sizes import permitted_sizes
from swbuild.check.work import Work
from swbuild.codegen.mappingnotes import Observed, mapping_diagnostics
from swbuild.codegen.unit import RegionUnit
from swbuild.diagnostics import Diagnostic
from swbuild.expressions.c import Conditional
from swbuild.expressions.statements import DoWhile, If, While
from swbuild.expressions.trees import walk
from swbuild.frontend.scop import AccessKind, Statement
from swbuild.options import KernelOptions

__all__ = ["coverage_of", "notes_on"]

#: The verdicts of a run that got to its end on the core group.
_RAN = (Outcome.PASS, Outcome.MISMATCH)


def coverage_of(
    region: RegionUnit, options: KernelOptions, goals: Sequence[Goal], cases: Sequence[CaseResult]
) -> Coverage:
    """Return what ``cases`` cover of ``region``; ``goals`` are its goals, found here if there are none."""
    scop = region.scop
    wanted = goals or region_goals(region, permitted_sizes(scop, options.params))
    ran = _ran(cases)
    points = [scop.at(sizes) for sizes in ran]
    reached = [any(goal.reached_at(point) for point in points) for goal in wanted]
    work = Work(region)
    counted = [work.instances(sizes) for sizes in ran]
    return Coverage(
        sizes=len(ran),
        launched=_launched(cases),
        reached=_by_kind(wanted, reached),
        missed=tuple(_missed(goal) for goal, found in zip(wanted, reached, strict=True) if not found),
        data_conditions=tuple(sorted({s.span.line for s in scop.statements if _asks_data(s)})),
        instances=None if None in counted else sum(number or 0 for number in counted),
        loads=_loads(region, work, ran),
    )


def notes_on(region: RegionUnit, coverage: Coverage, *, chosen: bool) -> tuple[Diagnostic, ...]:
    """Return what is bad about the mapping of ``region``, with figures of the check.

    How many CPEs had work at sizes that were ``chosen`` says nothing: they are as small as can be.
    """
    observed = {
        load.kernel: Observed(
            None if chosen else load.cpes, _label(load.sizes), load.launches, _label(load.launch_sizes)
        )
        for load in coverage.loads
    }
    return mapping_diagnostics(region, observed)


def _label(sizes: Sequence[tuple[str, int]]) -> str:
    return " ".join(f"{name}={value}" for name, value in sizes)


def _ran(cases: Sequence[CaseResult]) -> list[dict[str, int]]:
    """Return the sizes at which every run got to its end."""
    outcomes: dict[tuple[tuple[str, int], ...], list[Outcome]] = {}
    for case in cases:
        outcomes.setdefault(case.sizes, []).append(case.outcome)
    return [dict(sizes) for sizes, found in outcomes.items() if all(outcome in _RAN for outcome in found)]


def _launched(cases: Sequence[CaseResult]) -> int | None:
    """Return at how many sizes kernels started, None where that was not counted."""
    counted = {case.sizes: case.spawns for case in cases if case.spawns is not None}
    return sum(spawns > 0 for spawns in counted.values()) if counted else None


def _by_kind(goals: Sequence[Goal], reached: Sequence[bool]) -> dict[str, tuple[int, int]]:
    """Return, per kind of goal, how many were reached of how many."""
    result: dict[str, tuple[int, int]] = {}
    for kind in GoalKind:
        found = [is_reached for goal, is_reached in zip(goals, reached, strict=True) if goal.kind is kind]
        if found:
            result[kind.value] = (sum(found), len(found))
    return result


def _missed(goal: Goal) -> Missed:
    return Missed(goal.kind.value, goal.what, goal.line)


def _asks_data(statement: Statement) -> bool:
    """Return whether a statement has a condition on data: whether both sides were seen is not known."""
    may = any(access.kind is AccessKind.MAY_WRITE and access.affine for access in statement.accesses)
    return may or any(isinstance(node, (Conditional, DoWhile, If, While)) for node in walk(statement.body))


def _loads(region: RegionUnit, work: Work, ran: Sequence[Mapping[str, int]]) -> tuple[Load, ...]:
    """Return how busy each kernel was over the sizes in ``ran``."""
    found = [(tuple(sizes.items()), work.busy(sizes)) for sizes in ran]
    loads = []
    for name in region.kernels:
        mine = [(sizes, busy[name]) for sizes, busy in found if name in busy]
        if mine:
            sizes, widest = max(mine, key=lambda item: item[1].cpes)
            launch_sizes, longest = max(mine, key=lambda item: item[1].launches)
            loads.append(Load(name, sizes, widest.cpes, launch_sizes, longest.launches))
    return tuple(loads)
