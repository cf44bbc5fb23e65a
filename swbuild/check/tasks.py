"""What is asked of a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from swbuild.check.compare import Tolerance
from swbuild.classes import dataclass
from swbuild.frontend.request import CppOptions, RegionRequest
from swbuild.options import KernelOptions
from swbuild.toolchain import Overrides, Target

__all__ = ["DEFAULT_MODES", "CheckSettings", "RegionCheck", "SourceTask"]

#: Transfers at the last legal moment show missing waits; at the first one, buffers filled too early.
DEFAULT_MODES = ("late", "eager")


@dataclass(frozen=True, slots=True)
class RegionCheck:
    """How one region is tried: sizes (none: chosen), the seed, what may differ where the mapping
    reorders sums (``None``: by element type), the time limit of one run (``None``: the settings'), and why
    it is known to fail (empty: it must pass).
    """

    sizes: tuple[Mapping[str, int], ...] = ()
    seed: int = 1
    tolerance: Tolerance | None = None
    timeout: float | None = None
    expected_failure: str = ""

    def at_largest(self) -> RegionCheck:
        """Return the check with only the size that has the largest sum of parameters."""
        sizes = sorted(self.sizes, key=lambda row: sum(row.values()))[-1:]
        return replace(self, sizes=tuple(sizes))


@dataclass(frozen=True, slots=True)
class SourceTask:
    """One C file, the regions wanted of it (``None``: all, under what ``every`` states), and options and
    checks by region name.
    """

    path: Path
    cpp: CppOptions = field(default_factory=CppOptions)
    requests: tuple[RegionRequest, ...] | None = None
    every: RegionRequest = field(default_factory=RegionRequest)
    options: Mapping[str, KernelOptions] = field(default_factory=dict)
    checks: Mapping[str, RegionCheck] = field(default_factory=dict)
    default_options: KernelOptions = field(default_factory=KernelOptions)
    default_check: RegionCheck = field(default_factory=RegionCheck)

    @property
    def machine(self) -> str:
        """The machine that all regions of the file are for."""
        return next(iter(self.options.values()), self.default_options).machine


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """How a whole run is done.

    ``modes`` are the emulator's ways to complete transfers, each a run of its own; ``keep`` is a
    directory that the generated files and the data are left in (``None``: nothing is left).
    ``timeout`` limits one run of one executable, in seconds.  ``refused_is_error`` makes a region
    that cannot be modelled a user's error instead of a skip.
    """

    target: Target = Target.EMULATOR
    launcher: str = "local"
    launch_settings: Mapping[str, str] = field(default_factory=dict)
    modes: tuple[str, ...] = DEFAULT_MODES
    timeout: float = 120.0
    jobs: int = 0
    keep: Path | None = None
    refused_is_error: bool = True
    overrides: Overrides | None = None
