"""``swbuild init``: a commented manifest for the regions found in C files."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from swbuild.cli.exits import Exit
from swbuild.cli.inputs import add_cpp_arguments
from swbuild.diagnostics import Diagnostic, Span, SwbuildError, render
from swbuild.machine import DEFAULT_MACHINE, machine_names

__all__ = ["configure", "run"]


_EPILOG = """\
init meson MANIFEST [-o DIR] writes DIR/meson.build (default: the manifest's directory and 'sunway' in it),
which makes a library of the manifest's kernels and registers its tests, and the subproject that it uses.
"""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="C files with '#pragma scop' regions")
    parser.add_argument("--machine", choices=machine_names(), default=DEFAULT_MACHINE, help="the chip")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the manifest here, unless it exists")
    group = parser.add_argument_group("init meson MANIFEST")
    group.add_argument("--name", default="kernels", help="the library's name (default: kernels)")
    group.add_argument("--check", action="store_true", help="write nothing; fail if the file is out of date")
    add_cpp_arguments(parser)


def run(args: Namespace) -> int:
    if args.inputs[0] == "meson" and len(args.inputs) == 2:
        return _meson(args)
    from swbuild.frontend import CppOptions, read_source
    from swbuild.manifest.writer import manifest_text

    target = Path(args.output) if args.output else None
    if target is not None and target.exists():
        raise SwbuildError(
            Diagnostic("SW113", "there is a file of this name", Span(args.output), "choose another")
        )
    cpp = CppOptions(tuple(args.include_dirs), tuple(args.defines))
    models = [read_source(Path(name), cpp, None) for name in args.inputs]
    text = manifest_text(models, cpp, args.machine, target.parent if target else Path())
    for model in models:
        for region in model.refused:
            print(render(region.diagnostics), file=sys.stderr)
    _require_unicode(args)
    if target is None:
        sys.stdout.write(text)
        return Exit.OK
    from swbuild.files import write_text

    write_text(target, text)
    return Exit.OK


def _require_unicode(args: Namespace) -> None:
    """Refuse names that no manifest can hold."""
    for name in (*args.inputs, *args.include_dirs, *args.defines):
        try:
            name.encode()
        except UnicodeEncodeError:
            message = "the name is not UTF-8, as all of a manifest has to be"
            raise SwbuildError(Diagnostic("SW101", message, Span(name), "rename it")) from None


def _meson(args: Namespace) -> int:
    from swbuild.buildsys.mesonfiles import kernels_file
    from swbuild.buildsys.vendor import vendor
    from swbuild.files import made, write_text

    manifest = Path(args.inputs[1])
    if not manifest.is_file():
        raise SwbuildError(Diagnostic("SW108", "there is no such file", Span(args.inputs[1])))
    directory = Path(args.output) if args.output else manifest.parent / "sunway"
    path, text = directory / "meson.build", kernels_file(manifest, directory, args.name)
    if args.check:
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            hint = f"swbuild init meson {args.inputs[1]} -o {directory}"
            raise SwbuildError(Diagnostic("SW706", "this file is out of date", Span(str(path)), hint))
        return Exit.OK
    write_text(made(directory) / "meson.build", text)
    folder = vendor("meson", manifest.parent / "subprojects")
    print(f"wrote {path} and {folder}; now write, in your meson.build:\n")
    print(f"subdir('{directory.name}')\nexecutable(..., dependencies: {args.name}_dep)")
    return Exit.OK
