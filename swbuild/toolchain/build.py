"""Compile and link; a failure is a located diagnostic with the command and the compiler's own words."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.toolchain.model import Role, Toolchain
from swbuild.toolchain.process import Completed, run

__all__ = ["CompileStep", "compile_object", "link", "link_failure", "require_driver", "undefined_symbols"]

#: A compiler that takes longer than this hangs.
_BUILD_TIMEOUT = 600.0
_MAX_LINES = 40
_LOCATED = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::(?P<column>\d+))?: (?:fatal )?error: (?P<what>.*)$", re.MULTILINE
)
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<symbol>\w+)'")


@dataclass(frozen=True, slots=True)
class CompileStep:
    """One object to make: ``source`` in ``role``, with arguments such as ``-I`` and ``-D`` of its own."""

    role: Role
    source: Path
    output: Path
    arguments: tuple[str, ...] = ()


def compile_object(toolchain: Toolchain, step: CompileStep) -> None:
    """Make the object; raise SW401 when the compiler is missing, SW402 when it refuses the source."""
    tool = toolchain.tools[step.role]
    command = tool.command(*step.arguments, "-c", str(step.source), "-o", str(step.output))
    done = _call(toolchain, step.role, command)
    if done.status or done.timed_out:
        raise SwbuildError(
            _failure("SW402", f"the {step.role.value} compiler failed", done, str(step.source))
        )


def link(
    toolchain: Toolchain, objects: Sequence[Path], output: Path, arguments: Sequence[str] = ()
) -> Completed:
    """Link the objects and return how the linker ended: the caller may know what to do about a failure.

    Use :func:`link_failure` to turn a failure into a diagnostic.
    """
    tool = toolchain.tools[Role.LINK]
    command = tool.command(*map(str, objects), "-o", str(output), *arguments, *toolchain.libraries)
    return _call(toolchain, Role.LINK, command)


def link_failure(done: Completed, output: Path) -> SwbuildError:
    """Return the error (SW403) for a failed link."""
    return SwbuildError(_failure("SW403", "linking failed", done, str(output)))


def undefined_symbols(done: Completed) -> tuple[str, ...]:
    """Return the symbols that the linker missed, in the order of their names."""
    return tuple(sorted({match["symbol"] for match in _UNDEFINED.finditer(done.output)}))


def require_driver(toolchain: Toolchain, role: Role) -> str:
    """Return the path of the role's driver; raise SW401 when it is nowhere on ``PATH``."""
    name = toolchain.tools[role].driver.split()[0]
    found = shutil.which(name, path=toolchain.environment()["PATH"])
    if found is None:
        raise SwbuildError(_missing(toolchain, role, name))
    return found


def _call(toolchain: Toolchain, role: Role, command: Sequence[str]) -> Completed:
    require_driver(toolchain, role)
    return run(command, environment=toolchain.environment(), timeout=_BUILD_TIMEOUT)


def _missing(toolchain: Toolchain, role: Role, name: str) -> Diagnostic:
    hints = {
        "emulator": "the emulator's stand-ins are incomplete; `swbuild doctor` shows what is there",
        "node": "load the machine's compiler module, or build for the emulator with --target emulator",
        "host": f"install {name}, or name another compiler in SWBUILD_{role.name}_CC",
    }
    what = f"no {role.value} compiler: {name} is not on PATH (target {toolchain.target.value})"
    return Diagnostic("SW401", what, Span(name), hints[toolchain.target.value])


def _failure(code: str, what: str, done: Completed, subject: str) -> Diagnostic:
    """Return a diagnostic at the compiler's first located error, with its own words and the command."""
    located = _LOCATED.search(done.output)
    span = Span(subject)
    if located:
        span = Span(located["file"], int(located["line"]), int(located["column"] or 0))
        what = f"{what}: {located['what']}"
    elif done.timed_out:
        what = f"{what}: it did not end within {_BUILD_TIMEOUT:.0f} s"
    lines = done.output.splitlines()
    shown = [*lines[:_MAX_LINES], *(["..."] if len(lines) > _MAX_LINES else [])]
    message = "\n".join([what, f"  command: {shlex.join(done.command)}", *(f"  | {line}" for line in shown)])
    return Diagnostic(code, message, span)
