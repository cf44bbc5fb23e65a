"""``swbuild cache``: the generator results and the emulators that are kept."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

from swbuild.cli.exits import Exit

__all__ = ["configure", "run"]

_EPILOG = """\
Results of the generator are kept by content; SWBUILD_CACHE_DIR says where, SWBUILD_CACHE=off keeps none.
The emulator has a runtime per version and tools per Python environment; what is missing is built when needed.
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("what", choices=("show", "clear", "path"), nargs="?", default="show")


def run(args: Namespace) -> int:
    from swbuild.buildsys.cache import cache_directory
    from swbuild.emulator.install import cache_root

    what = {"path": _path, "clear": _clear, "show": _show}[args.what]
    print("\n".join(what(cache_directory(), cache_root())))
    return Exit.OK


def _path(folder: Path | None, home: Path) -> Iterator[str]:
    yield from (str(path) for path in (folder, home) if path is not None)


def _clear(folder: Path | None, home: Path) -> Iterator[str]:
    from swbuild.buildsys.cache import clear
    from swbuild.emulator.install import clear_emulators

    if folder is not None:
        yield f"removed {clear(folder)} results from {folder}"
    yield f"removed {clear_emulators()} parts of the emulator from {home}"


def _show(folder: Path | None, home: Path) -> Iterator[str]:
    from swbuild.buildsys.cache import entries
    from swbuild.emulator.install import emulators

    if folder is None:
        yield "no results are kept (SWBUILD_CACHE=off)"
    else:
        found = list(entries(folder))
        yield f"{len(found)} results, {_size(found)}, in {folder}"
    yield f"{len(emulators())} parts of the emulator, {_size(home.rglob('*'))}, in {home}"


def _size(paths: Iterable[Path]) -> str:
    total = sum(path.stat().st_size for path in paths if path.is_file() and not path.is_symlink())
    return f"{total / 1024:.1f} KiB" if total < 1024 * 1024 else f"{total / 1024 / 1024:.1f} MiB"
