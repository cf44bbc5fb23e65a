"""``swbuild cache``: the generator results that are kept."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from swbuild.cli.exits import Exit

__all__ = ["configure", "run"]

_EPILOG = """\
Results are kept by content; SWBUILD_CACHE_DIR says where, SWBUILD_CACHE=off keeps none.
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("what", choices=("show", "clear", "path"), nargs="?", default="show")


def run(args: Namespace) -> int:
    from swbuild.buildsys.cache import cache_directory, clear, entries

    folder = cache_directory()
    if folder is None:
        print("nothing is kept (SWBUILD_CACHE=off)")
    elif args.what == "path":
        print(folder)
    elif args.what == "clear":
        print(f"removed {clear(folder)} results from {folder}")
    else:
        sizes = [path.stat().st_size for path in entries(folder)]
        print(f"{len(sizes)} results, {sum(sizes) / 1024:.1f} KiB, in {folder}")
    return Exit.OK
