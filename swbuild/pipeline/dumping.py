"""Which files hold the dumps of a project, and what is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from swbuild.dump.stages import Stage
from swbuild.pipeline.outputs import Output

if TYPE_CHECKING:
    from swbuild.compilation import Compilation

__all__ = ["dump_outputs"]


def dump_outputs(compiled: Sequence[Compilation]) -> tuple[Output, ...]:
    """Return a file per region and stage, ``REGION.STAGE.txt``.

    Regions of one name in several sources are told apart by those: ``SOURCE.REGION.STAGE.txt``.
    """
    from swbuild.dump.dump import dump

    count = Counter(item.name for item in compiled)
    return tuple(
        Output(f"{_stem(item, count)}.{stage.value}.txt", dump(item, stage))
        for item in compiled
        for stage in Stage
    )


def _stem(item: Compilation, count: Counter[str]) -> str:
    return item.name if count[item.name] == 1 else f"{Path(item.source).stem}.{item.name}"
