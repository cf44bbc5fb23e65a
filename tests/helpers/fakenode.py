"""Stand-ins for a node's compilers and launcher that record their command lines and only preprocess.

Enough for build systems: objects appear, dependency files are right, archives hold files.  What an
executable would do, these cannot say; the emulator's tests do.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FakeNode", "Tally"]

_DRIVERS = ("sw5cc", "sw5CC", "swgcc", "swg++", "mpicc", "mpiCC", "mpicxx")
_HEADERS = ("athread.h", "slave.h", "dma.h", "simd.h", "crts.h")

_DRIVER = r"""#!/bin/sh
tool=${0##*/}
echo "$tool $*" >> '@log@'
compiler=gcc
case $tool in *CC | *xx | *++) compiler=g++ ;; esac
link=yes generated=no output=a.out previous=
for word do
  shift
  case $word in
    -c | -E | -S | --version | -v | -print* | -dump*) link=no ;;
    *.host.c | *.slave.c) generated=yes ;;
    -host | -slave | -hybrid | -mhost | -mslave | -mhybrid | -msimd | -mieee | -lm_slave) continue ;;
  esac
  [ "$previous" = -o ] && output=$word
  previous=$word
  set -- "$@" "$word"
done
if [ $generated = yes ]; then
  exec $compiler "$@" -isystem '@include@' -E
elif [ $link = no ]; then
  exec $compiler "$@" -isystem '@include@'
fi
$compiler "$@" 2> /dev/null && exit
printf '#!/bin/sh\necho not a real program\n' > "$output"
chmod +x "$output"
"""

_LAUNCHER = """#!/bin/sh
echo "bsub $*" >> '@log@'
"""

_SWBUILD = """#!/bin/sh
echo "swbuild $*" >> '@log@'
exec '@program@' "$@"
"""


@dataclass(frozen=True)
class Tally:
    """How often the generator and the two compilers ran, by the names of the sources."""

    generated: Counter[str]
    host: Counter[str]
    slave: Counter[str]

    def numbers(self) -> tuple[int, int, int]:
        """Return the three totals."""
        return self.generated.total(), self.host.total(), self.slave.total()


class FakeNode:
    """A directory of stand-ins, and the log that they write."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.bin = folder / "bin"
        self.log = folder / "log"
        self.include = folder / "include"
        self.bin.mkdir(parents=True)
        self.include.mkdir()
        for name in _HEADERS:
            (self.include / name).touch()
        for name in _DRIVERS:
            self._script(name, _DRIVER)
        self._script("bsub", _LAUNCHER)
        self.swbuild = self._script("swbuild", _SWBUILD.replace("@program@", os.fspath(program)))
        self.clear()

    def _script(self, name: str, text: str) -> Path:
        path = self.bin / name
        path.write_text(text.replace("@log@", str(self.log)).replace("@include@", str(self.include)))
        path.chmod(0o755)
        return path

    def clear(self) -> None:
        """Forget what was recorded."""
        self.log.write_text("")

    def lines(self) -> list[str]:
        """Return the command lines since the last :meth:`clear`."""
        return self.log.read_text().splitlines()

    def tally(self) -> Tally:
        """Count what happened since the last :meth:`clear`, and clear."""
        text = self.log.read_text()
        self.clear()
        generated = Counter(re.findall(r"^swbuild generate .*--source (\S+)", text, re.MULTILINE))
        host = Counter(re.findall(r"-c \S*?([^/\s]+)\.host\.c", text))
        slave = Counter(re.findall(r"-c \S*?([^/\s]+)\.slave\.c", text))
        return Tally(generated, host, slave)
