"""Objects and executables of one run of the checker, each compiled once for its content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Sequence
from pathlib import Path

from swbuild.check.harness import missing_symbols_source
from swbuild.classes import dataclass
from swbuild.files import encoded, write_text
from swbuild.toolchain import (
    CompileStep,
    Role,
    Toolchain,
    compile_object,
    link,
    link_failure,
    undefined_symbols,
)

__all__ = ["Builder"]


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds with one toolchain; ``cache`` may be shared by several processes."""

    toolchain: Toolchain
    cache: Path

    def object(self, role: Role, source: Path, arguments: Sequence[str] = ()) -> Path:
        """Return the object for ``source``, compiled unless the same text was compiled the same way before.

        What the source includes must not change while the cache is in use.
        """
        return self._object(role, source, source.read_bytes(), arguments)

    def executable(
        self,
        output: Path,
        objects: Sequence[Path],
        arguments: Sequence[str] = (),
        variables: Collection[str] = (),
    ) -> Path:
        """Link ``objects``; what the user's other files define gets a stand-in.

        ``variables`` are the names for which that is memory; a function complains when it is called.
        """
        done = link(self.toolchain, objects, output, arguments)
        missing = undefined_symbols(done)
        if done.status and missing:
            stand_ins = output.with_suffix(".missing.c")
            write_text(stand_ins, missing_symbols_source(missing, variables))
            extra = self.object(Role.HOST, stand_ins)
            done = link(self.toolchain, [*objects, extra], output, arguments)
        if done.status:
            raise link_failure(done, output)
        return output

    def _object(self, role: Role, source: Path, content: bytes, arguments: Sequence[str]) -> Path:
        tools, settings = self.toolchain.tools, sorted(self.toolchain.settings.items())
        words = tools[role].command(*arguments, str(source), *self.toolchain.path)
        command = "\0".join([*words, *(f"{name}={value}" for name, value in settings)])
        name = hashlib.sha256(encoded(command) + b"\0" + content).hexdigest()[:24]
        output = self.cache / f"{name}.o"
        if not output.exists():
            partial = self.cache / f"{name}.{os.getpid()}.o"
            compile_object(self.toolchain, CompileStep(role, source, partial, tuple(arguments)))
            partial.replace(output)
        return output
