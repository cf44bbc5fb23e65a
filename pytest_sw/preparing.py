"""The way of a test up to its run: its region is generated and built, its reference runs."""

from __future__ import annotations

import hashlib

import pytest

from pytest_sw.context import Context
from pytest_sw.items import KernelItem, Prepared
from pytest_sw.targets.base import Target
from pytest_sw.verdicts import Category
from swbuild.check.evidence import plan_case, prepare_case
from swbuild.check.exchange import RunOutput
from swbuild.check.plan import as_given
from swbuild.check.staged import GeneratedRegion
from swbuild.files import encoded

__all__ = ["prepare"]


def prepare(context: Context, item: KernelItem, target: Target, *, to_send: bool = False) -> Prepared:
    """Generate and build the test's region, and run its reference.

    With ``to_send`` the reference waits: others are to see first what becomes of the job.
    """
    __tracebackhide__ = True
    with context.stage(item.record, "generate", Category.GENERATE):
        generated = context.store.generated(item.task)
        plan = plan_case(generated, item.sizes)
    item.record.set(digest=_digest(generated), kernels=list(generated.region.kernels))
    if not plan.cases:
        item.record.set(category=Category.NOT_APPLICABLE.value)
        pytest.skip(plan.skipped[0].message)
    with context.stage(item.record, "build", Category.COMPILE):
        executable = target.build(context.store, generated)
    directory = context.runs / item.target / context.file_name(item.nodeid)
    if context.settings.build_only:
        return Prepared(generated, plan, directory, RunOutput((), False), executable, directory)
    with context.stage(item.record, "reference", Category.REFERENCE):
        inputs = prepare_case(plan, directory)
        if to_send:
            return Prepared(generated, plan, inputs, RunOutput((), False), executable, directory)
        found = target.reference(context.store, generated, plan, inputs, context.limit(item))
        plan, reference = as_given(plan, found)
        inputs = prepare_case(plan, directory)
    if not plan.cases:
        item.record.set(category=Category.NOT_APPLICABLE.value)
        pytest.skip(plan.skipped[0].message)
    return Prepared(generated, plan, inputs, reference, executable, directory)


def _digest(generated: GeneratedRegion) -> str:
    """Return a digest of the generated files."""
    unit = generated.unit
    texts = [file.text for file in (unit.host, unit.slave, unit.header) if file is not None]
    return hashlib.sha256(encoded("\0".join(texts))).hexdigest()[:16]
