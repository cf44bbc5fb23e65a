"""What most subcommands take: a manifest or C files, and options that win over the manifest's.

Option values are read by the very kinds that read the manifest, so that both accept the same and
complain in the same words.
"""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from swbuild.buildsys.names import select_sources
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.machine import machine_names
from swbuild.manifest import Check, Defaults, Manifest, Project, Source, load_manifest, resolve, select
from swbuild.manifest.kinds import Kind
from swbuild.manifest.nodes import ListNode, Node, Scalar
from swbuild.manifest.problems import Problems, Rejected
from swbuild.manifest.records import options

__all__ = [
    "add_cpp_arguments",
    "add_input_arguments",
    "assignments",
    "is_manifest",
    "machine_of",
    "project_of",
]

_SUFFIXES = {".yaml", ".yml"}

#: the options of kernels that take one value
_CHOICES = (
    "threads",
    "tile",
    "distribution",
    "fusion",
    "preset",
    "ldm_budget",
    "where",
    "spawn",
    "prefetch",
    "share",
    "resident",
    "turn",
    "vectorize",
)


def add_input_arguments(parser: ArgumentParser, parameter: str) -> None:
    """Add the inputs and the options of kernels; ``parameter`` says what ``-p`` does here."""
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="a manifest (.yaml), or C files")
    parser.add_argument(
        "-k", "--kernel", action="append", default=[], metavar="NAME", help="only this region (repeatable)"
    )
    parser.add_argument(
        "--source", action="append", default=[], metavar="NAME", help="only this file, by its name without .c"
    )
    add_cpp_arguments(parser)
    group = parser.add_argument_group("options of kernels (win over the manifest)")
    group.add_argument("-p", "--param", action="append", default=[], metavar="NAME=VALUE", help=parameter)
    group.add_argument("--machine", metavar="M", help=" or ".join(machine_names()))
    group.add_argument("--threads", metavar="R,C", help="thread grid, such as 8,8 or 8x8")
    group.add_argument("--tile", metavar="N,…", help="tile sizes, outermost loop first, such as 64,64,32")
    group.add_argument("--distribution", metavar="D", help="cyclic, block or joint")
    group.add_argument("--fusion", metavar="F", help="max or min")
    group.add_argument("--preset", metavar="P", help="default or classic")
    group.add_argument("--ldm-budget", metavar="BYTES", help="for the buffers of a CPE, such as 48KiB")
    group.add_argument(
        "--reassociate", action="store_true", help="sums and the like may be computed in parts"
    )
    group.add_argument("--contract", action="store_true", help="products and sums become multiply-adds")
    group.add_argument("--spawn", metavar="S", help="region or kernel: what one spawn of the CPEs is for")
    group.add_argument("--vectorize", metavar="V", help="auto or never: register tiles and vectors")
    group.add_argument("--prefetch", metavar="P", help="auto or never: move tiles while others are computed")
    group.add_argument(
        "--share", metavar="S", help="auto, always or never: hand tiles on along rows and columns of the mesh"
    )
    group.add_argument(
        "--resident", metavar="R", help="auto, always or never: keep tiles in the LDMs over loops"
    )
    group.add_argument(
        "--turn", metavar="T", help="auto, always or never: copy tiles so that vectors lie side by side"
    )
    group.add_argument("--where", metavar="W", help="auto, host or cpes: who runs the regions")
    group.add_argument(
        "--typical",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a size to plan for, where it may be any at run time",
    )
    group.add_argument("--assume", action="append", metavar="COND", help="a C condition over the parameters")
    group.add_argument(
        "--array",
        action="append",
        default=[],
        metavar="A=N,M",
        help="extents of an array whose shape is hidden",
    )


def add_cpp_arguments(parser: ArgumentParser) -> None:
    """Add ``-I`` and ``-D``."""
    group = parser.add_argument_group("preprocessor")
    group.add_argument(
        "-I", dest="include_dirs", action="append", default=[], metavar="DIR", help="include here"
    )
    group.add_argument(
        "-D", dest="defines", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro"
    )
    group.add_argument(
        "--cpp-options",
        action=_CppOptions,
        metavar="FILE",
        help="take -I and -D from FILE, one per line; lines that start with # are comments",
    )


class _CppOptions(Action):
    """Reads ``-I`` and ``-D`` from a file, as build systems write it."""

    def __call__(self, parser: ArgumentParser, args: Namespace, file: Any, option: str | None = None) -> None:
        try:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            parser.error(f"cannot read {file}: {error.strerror}")
        for line in filter(None, lines):
            if line.startswith("-I"):
                args.include_dirs = [*args.include_dirs, line[2:]]
            elif line.startswith("-D"):
                args.defines = [*args.defines, line[2:]]
            elif not line.startswith("#"):
                parser.error(f"{file}: neither -I nor -D: {line}")


def is_manifest(name: str) -> bool:
    """Return whether an input is a manifest, to judge by its name."""
    return Path(name).suffix.lower() in _SUFFIXES


def project_of(args: Namespace, *, params_are_sizes: bool = False) -> Project:
    """Return what the command line asks for.

    With ``params_are_sizes``, ``-p`` gives the one size to check instead of fixing parameters.
    """
    overrides = _overrides(args, params_are_sizes)
    manifests = [name for name in args.inputs if is_manifest(name)]
    if manifests and len(args.inputs) > 1:
        message = f"one manifest or several C files, not {len(args.inputs)} inputs with a manifest among them"
        raise SwbuildError(Diagnostic("SW100", message, Span(manifests[0]), "run it once per manifest"))
    project = _from_manifest(args, overrides) if manifests else _from_files(args, overrides)
    project = select_sources(project, args.source)
    if args.kernel and any(source.kernels is None for source in project.sources):
        from swbuild.pipeline.naming import name_regions

        project = name_regions(project)
    return select(project, args.kernel)


def machine_of(args: Namespace) -> str | None:
    """Return the machine that ``--machine`` names, None without it."""
    name: str | None = None if args.machine is None else _value("--machine", "machine", args.machine)
    return name


def _from_manifest(args: Namespace, overrides: Defaults) -> Project:
    path = Path(args.inputs[0])
    manifest = load_manifest(path)
    if machine := machine_of(args):
        manifest = replace(manifest, machine=machine)
    project = resolve(manifest, path, overrides)
    sources = tuple(replace(source, cpp=_extended(source.cpp, args)) for source in project.sources)
    return replace(project, sources=sources)


def _from_files(args: Namespace, overrides: Defaults) -> Project:
    sources = tuple(Source(name, span=Span(name)) for name in args.inputs)
    directories = tuple(args.include_dirs)
    manifest = Manifest(1, sources, None, machine_of(args), directories, tuple(args.defines), span=Span("-I"))
    return resolve(manifest, None, overrides)


def _extended(cpp: Any, args: Namespace) -> Any:
    return replace(cpp, includes=(*args.include_dirs, *cpp.includes), defines=(*cpp.defines, *args.defines))


def _overrides(args: Namespace, params_are_sizes: bool) -> Defaults:
    given = {
        name: _value(f"--{name.replace('_', '-')}", name.replace("_", "-"), text)
        for name in _CHOICES
        if (text := getattr(args, name)) is not None
    }
    params = assignments(args.param)
    check = Check(
        sizes=(params,) if params and params_are_sizes else None,
        seed=getattr(args, "seed", None),
        timeout=getattr(args, "run_timeout", None),
    )
    fixed = params if params and not params_are_sizes else None
    arrays = {name: tuple(extents.split(",")) for name, extents in map(_split_array, args.array)}
    return Defaults(
        **given,
        params=fixed,
        typical=assignments(args.typical, "--typical") or None,
        reassociate=args.reassociate or None,
        contract=args.contract or None,
        assume=tuple(args.assume) if args.assume else None,
        arrays=arrays or None,
        check=check,
    )


def assignments(words: Iterable[str], flag: str = "-p") -> dict[str, int]:
    """Return the parameters of ``-p name=value`` words, or those of another ``flag``."""
    values = {}
    for word in words:
        match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)=([-+]?[0-9]{1,12})", word)
        if match is None or not -(2**31) <= int(match[2]) < 2**31:
            message = f"{flag} {word}: write NAME=VALUE with an integer that fits 32 bits"
            raise SwbuildError(Diagnostic("SW100", message, Span(flag), f"as in {flag} n=64"))
        values[match[1]] = int(match[2])
    return values


def _split_array(word: str) -> tuple[str, str]:
    name, equals, extents = word.partition("=")
    if not (name.isidentifier() and equals and all(part.strip() for part in extents.split(","))):
        message = f"--array {word}: write the name and its extents"
        raise SwbuildError(Diagnostic("SW100", message, Span("--array"), "as in --array A=n,m"))
    return name, extents


def _value(flag: str, key: str, text: str) -> Any:
    """Return the value of an option, read as the manifest's key of the same name would be."""
    kind: Kind = next(item.kind for cls in (Manifest, Defaults) for item in options(cls) if item.key == key)
    problems = Problems()
    try:
        return kind.load(_node(flag, key, text), f"`{key}`", problems)
    except Rejected:
        raise SwbuildError(problems.diagnostics) from None


def _node(flag: str, key: str, text: str) -> Node:
    span = Span(flag)
    if key not in {"threads", "tile"}:
        return Scalar(text, True, span)
    parts = re.split(r"[x,]" if key == "threads" else ",", text.strip("[] "))
    return ListNode(tuple(Scalar(part.strip(), True, span) for part in parts), span)
