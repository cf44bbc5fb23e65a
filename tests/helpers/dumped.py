"""The kernels whose dumps are kept, and how to make them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from swbuild.compilation import Compilation, compile_regions
from swbuild.frontend import CppOptions, read_source
from swbuild.options import KernelOptions, Preset, Step, StepKind

__all__ = ["CASES", "Case", "compiled"]

_ROOT = Path(__file__).parents[2]
_EXAMPLES = _ROOT / "examples"
_KERNELS = _ROOT / "tests" / "dump" / "kernels"


@dataclass(frozen=True)
class Case:
    """A region of a file, and its options."""

    name: str
    file: Path
    region: str
    options: KernelOptions = field(default_factory=KernelOptions)


_STEPS = (Step(StepKind.INTERCHANGE, ("j", "k")), Step(StepKind.UNROLL, ("j",), (4,)))

CASES = (
    Case("gemm", _EXAMPLES / "polybench" / "gemm.c", "gemm", KernelOptions(tile=(32, 32, 32))),
    Case("gemm-classic", _EXAMPLES / "polybench" / "gemm.c", "gemm", KernelOptions(preset=Preset.CLASSIC)),
    Case(
        "jacobi-2d",
        _EXAMPLES / "polybench" / "jacobi-2d.c",
        "jacobi_2d",
        KernelOptions(machine="sw26010-pro"),
    ),
    Case("doitgen", _EXAMPLES / "polybench" / "doitgen.c", "doitgen"),
    Case("trmm", _EXAMPLES / "polybench" / "trmm.c", "trmm"),
    Case("cholesky", _KERNELS / "cholesky.c", "cholesky"),
    Case("gauss-seidel", _EXAMPLES / "loops" / "fronts.c", "gauss_seidel"),
    Case("particles", _KERNELS / "particles.c", "push"),
    Case("extremes", _EXAMPLES / "loops" / "reductions.c", "extremes", KernelOptions(reassociate=True)),
    Case("histogram", _EXAMPLES / "loops" / "reductions.c", "histogram", KernelOptions(reassociate=True)),
    Case("product", _EXAMPLES / "loops" / "orders.c", "product", KernelOptions(transform=_STEPS)),
    Case("refused", _KERNELS / "refused.c", "first"),
    Case("too-large", _KERNELS / "rows.c", "rows", KernelOptions(tile=(64, 64, 4096))),
)


def compiled(case: Case) -> Compilation:
    """Return what becomes of the region of ``case``."""
    model = read_source(case.file, CppOptions(), None)
    found = compile_regions(model, {case.region: case.options})
    return next(item for item in found if item.name == case.region)
