"""What a check finds: verdicts per case and region, and the exit status they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic

__all__ = [
    "ArrayReport",
    "BadElement",
    "CaseResult",
    "Counts",
    "Coverage",
    "Load",
    "Missed",
    "Outcome",
    "RegionResult",
    "exit_status",
    "in_view_of",
    "worst",
]


class Outcome(Enum):
    """The verdict; the first four after PASS are the offloaded code's fault, INFRA is nobody's.

    The two of EXPECTED and UNEXPECTED are for a region that the manifest expects to fail: it does, or
    it passes.
    """

    PASS = "pass"
    MISMATCH = "mismatch"
    CRASH = "crash"
    TIMEOUT = "timeout"
    NOT_OFFLOADED = "not offloaded"
    EXPECTED = "fails as expected"
    UNEXPECTED = "passes unexpectedly"
    SKIP = "skipped"
    INFRA = "infrastructure"
    USER_ERROR = "error"

    @property
    def exit_status(self) -> int:
        """The exit status that build systems and test drivers agree on."""
        return _EXIT.get(self, 1)


_EXIT = {Outcome.PASS: 0, Outcome.EXPECTED: 0, Outcome.SKIP: 77, Outcome.INFRA: 99, Outcome.USER_ERROR: 2}

#: From the worst to the best: the verdict of several is the first of these among them.
_SEVERITY = (
    Outcome.MISMATCH,
    Outcome.CRASH,
    Outcome.TIMEOUT,
    Outcome.NOT_OFFLOADED,
    Outcome.UNEXPECTED,
    Outcome.USER_ERROR,
    Outcome.INFRA,
    Outcome.PASS,
    Outcome.EXPECTED,
    Outcome.SKIP,
)

#: The verdicts that say that the offloaded code is wrong.
_WRONG = (Outcome.MISMATCH, Outcome.CRASH, Outcome.TIMEOUT, Outcome.NOT_OFFLOADED)


@dataclass(frozen=True, slots=True)
class BadElement:
    """One element that differs: its index in the array, what it should be and what it is."""

    index: tuple[int, ...]
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class ArrayReport:
    """How an array of the offloaded run compares with the reference's.

    ``red_zone`` is the distance in bytes of the first byte changed outside the array, counted from
    its start (negative: before it), or ``None``.  The errors are the largest ones; ``max_ulp``
    counts representable numbers in between and is 0 for integers.  ``box`` is the smallest range of
    subscripts, per dimension and both ends included, that holds all bad elements.
    """

    array: str
    elements: int
    mismatches: int
    first: tuple[BadElement, ...] = ()
    box: tuple[tuple[int, int], ...] = ()
    max_absolute: float = 0.0
    max_relative: float = 0.0
    max_ulp: int = 0
    red_zone: int | None = None
    untouchable: bool = False
    owner: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.mismatches and self.red_zone is None


@dataclass(frozen=True, slots=True)
class Counts:
    """What the emulator counted in one run; ``None`` is "not known" (on a node, say).

    ``direct`` are loads and stores of main memory without DMA, which code built for checked mode or for
    counting tells of.
    """

    spawns: int | None = None
    dma_operations: int | None = None
    dma_bytes: int | None = None
    ldm_bytes: int | None = None
    direct_accesses: int | None = None
    direct_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Missed:
    """A goal that no sizes reached: its kind, what it is, and its line in the source."""

    kind: str
    what: str
    line: int


@dataclass(frozen=True, slots=True)
class Load:
    """A kernel over all sizes that ran: how many CPEs had work per launch, and how often it was launched.

    Both are the largest numbers, ``sizes`` and ``launch_sizes`` the first sizes that lead to them.
    """

    kernel: str
    sizes: tuple[tuple[str, int], ...]
    cpes: float
    launch_sizes: tuple[tuple[str, int], ...]
    launches: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the sizes that ran brought about in a region.

    ``reached`` has, per kind of goal, how many were reached of how many; ``missed`` lists the others.
    ``launched`` counts the sizes at which kernels started, ``None`` where nobody counts; the host runs the
    serial loops at all of them, as the reference.  ``data_conditions`` are the lines with conditions on
    data, of which nothing is known here; ``instances`` counts how often statements ran, ``None`` if they are
    too many to be counted.
    """

    sizes: int
    launched: int | None
    reached: Mapping[str, tuple[int, int]]
    missed: tuple[Missed, ...]
    data_conditions: tuple[int, ...]
    instances: int | None
    loads: tuple[Load, ...]

    @property
    def total(self) -> tuple[int, int]:
        """How many goals of all kinds were reached, of how many."""
        return sum(n for n, _ in self.reached.values()), sum(n for _, n in self.reached.values())

    @property
    def cpes(self) -> float | None:
        """How many CPEs had work in the kernel that kept the fewest busy, at its best sizes."""
        return min((load.cpes for load in self.loads), default=None)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One region at one set of sizes in one run."""

    sizes: tuple[tuple[str, int], ...]
    mode: str
    outcome: Outcome
    message: str = ""
    arrays: tuple[ArrayReport, ...] = ()
    spawns: int | None = None
    reference_seconds: float = 0.0
    seconds: float = 0.0

    @property
    def label(self) -> str:
        """The sizes as text: ``ni=7 nj=11``."""
        return " ".join(f"{name}={value}" for name, value in self.sizes) or "-"


@dataclass(frozen=True, slots=True)
class RegionResult:
    """One region: the verdict over all its cases, and what there is to show in a table.

    With ``expected_failure`` the verdict is in view of it; the cases' verdicts are what they are.
    """

    region: str
    source: str
    machine: str
    threads: tuple[int, int]
    outcome: Outcome
    message: str = ""
    kernels: tuple[str, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    counts: Counts = Counts()
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    expected_failure: str = ""
    coverage: Coverage | None = None

    @property
    def bad_cases(self) -> tuple[CaseResult, ...]:
        """The cases that neither passed nor were skipped."""
        return tuple(case for case in self.cases if case.outcome not in (Outcome.PASS, Outcome.SKIP))


def in_view_of(outcome: Outcome, expected_failure: str) -> Outcome:
    """Return the verdict on a region whose manifest says why it must fail (nothing: it must not)."""
    if not expected_failure:
        return outcome
    if outcome in _WRONG:
        return Outcome.EXPECTED
    return Outcome.UNEXPECTED if outcome is Outcome.PASS else outcome


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the verdict over several: SKIP only when all are skipped (or there are none)."""
    found = set(outcomes)
    return next((outcome for outcome in _SEVERITY if outcome in found), Outcome.SKIP)


def exit_status(results: Iterable[RegionResult]) -> int:
    """Return the exit status of a run that checked these regions."""
    return worst(result.outcome for result in results).exit_status
