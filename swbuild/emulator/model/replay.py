"""Model time of a run: its events go through the simulation in ``emulator/replay``, which is native code."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.install import replay_tool
from swbuild.emulator.model.numbers import numbers_text
from swbuild.emulator.model.outcome import read_outcome
from swbuild.emulator.model.result import Replay
from swbuild.emulator.model.trace import Process, write_trace
from swbuild.endings import workplace
from swbuild.machine import MachineModel

__all__ = ["modelled", "replay"]


def replay(process: Process, machine: MachineModel, details: bool = False) -> Replay:
    """Return the model time of ``process`` on ``machine``; ``details``: with every CPE's times and time line.

    Raise :class:`SwbuildError` if some CPE waits for what never comes (a trace cut short).
    """
    return read_outcome(modelled(process, machine, details), process)


def modelled(process: Process, machine: MachineModel, details: bool = False) -> Iterator[str]:
    """Yield what the replay says of ``process``, in the lines of ``outcome``."""
    with workplace("replay") as folder:
        numbers, blocks, trace = folder / "numbers", folder / "blocks", folder / "trace"
        numbers.write_text(numbers_text(machine), encoding="utf-8")
        blocks.write_text("".join(f"{block.mix}\n" for block in process.blocks), encoding="utf-8")
        if process.trace.path is None:
            write_trace(trace, process.trace.records)
        command = [str(replay_tool()), str(numbers), str(blocks), str(process.trace.path or trace)]
        yield from _lines([*command, *(["details"] if details else [])], process)


def _lines(command: list[str], process: Process) -> Iterator[str]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as tool:
        assert tool.stdout is not None
        yield from (line.rstrip("\n") for line in tool.stdout)
    if tool.returncode:
        place = Span(str(process.trace.path or "<trace>"))
        raise SwbuildError(Diagnostic("SW692", f"the replay ended with status {tool.returncode}", place))
