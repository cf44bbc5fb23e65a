"""``swbuild generate``: write host, slave and header files for the regions of a manifest."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from swbuild.buildsys.digest import require_digests
from swbuild.buildsys.generation import generate_entries
from swbuild.cli.exits import Exit
from swbuild.cli.inputs import add_input_arguments, project_of
from swbuild.cli.progress import generation_progress
from swbuild.files import write_text
from swbuild.frontend.request import CppOptions
from swbuild.pipeline import Timings, depfile_text, write_all
from swbuild.pipeline.writing import dependencies, require_free

if TYPE_CHECKING:
    from swbuild.buildsys.cache import Entry
    from swbuild.compilation import Compilation
    from swbuild.manifest import Project

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    add_input_arguments(parser, "fix this parameter in the generated code (repeatable)")
    parser.add_argument(
        "--digest",
        action="append",
        default=[],
        metavar="HEX",
        help="what 'swbuild query' says of each source: refuse if the manifest now says otherwise, and do "
        "not list the manifest in the depfile",
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", metavar="DIR", default=".", help="write here (default: the current directory)"
    )
    group.add_argument("--depfile", metavar="FILE", help="write what was read to FILE, for Make and Ninja")
    group.add_argument(
        "--depfile-target",
        action="append",
        metavar="NAME",
        help="the target in the depfile (default: every file written)",
    )
    group.add_argument(
        "--dump-dir",
        metavar="DIR",
        help="also write what each stage makes of each region to DIR: REGION.scop.txt, "
        "REGION.dependences.txt, REGION.schedule.txt, REGION.candidates.txt, REGION.plan.txt, "
        "REGION.program.txt and REGION.ir.txt",
    )
    group.add_argument(
        "--verify",
        action="store_true",
        help="verify the code of each region after every pass of the generator; what is unsound is a defect "
        "of swbuild",
    )
    group.add_argument("--touch", action="store_true", help="give unchanged files a new time stamp, too")
    group.add_argument(
        "--allow-refused",
        action="store_true",
        help="leave regions that cannot be modelled on the host, with a note",
    )
    group.add_argument(
        "--timings",
        action="store_true",
        help="print how long each stage and its steps took, and what other processes they ran",
    )
    group.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=0,
        metavar="N",
        help="sources at a time (default: as cores); one with --dump-dir, --verify or --timings",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="do not list the files")


def run(args: Namespace) -> int:
    timings = Timings()
    with timings.stage("manifest"):
        project = project_of(args)
        if args.digest:
            added = CppOptions(tuple(args.include_dirs), tuple(args.defines))
            require_digests(project, args.digest, added)
    entries = _entries(args, project, timings)
    with timings.stage("write"):
        _write(args, project, entries)
    for entry in entries:
        for note in entry.notes:
            print(note, file=sys.stderr)
    if args.timings:
        print("\n".join(timings.lines()), file=sys.stderr)
    return Exit.OK


def _entries(args: Namespace, project: Project, timings: Timings) -> tuple[Entry, ...]:
    """Return what the sources become; with ``--dump-dir``, dumps are written where that fails, too."""
    if not (args.dump_dir or args.verify):
        jobs = 1 if args.timings else args.jobs or os.cpu_count() or 1
        refused = args.allow_refused
        with generation_progress(len(project.sources), args.quiet) as tell:
            return generate_entries(project, timings, allow_refused=refused, jobs=jobs, tell=tell)
    compiled: list[Compilation] = []

    def watch(found: tuple[Compilation, ...]) -> None:
        compiled.extend(found)
        if args.verify:
            _verify(found, timings)

    try:
        return generate_entries(project, timings, allow_refused=args.allow_refused, watch=watch)
    finally:
        if args.dump_dir:
            with timings.stage("dump"):
                _dump(Path(args.dump_dir), compiled)


def _verify(compiled: tuple[Compilation, ...], timings: Timings) -> None:
    from swbuild.compilation import require_sound

    with timings.stage("verify"):
        require_sound(compiled)


def _dump(directory: Path, compiled: list[Compilation]) -> None:
    from swbuild.pipeline.dumping import dump_outputs

    outputs = dump_outputs(compiled)
    require_free(directory, outputs)
    write_all(directory, outputs)


def _write(args: Namespace, project: Project, entries: tuple[Entry, ...]) -> None:
    directory = Path(args.output)
    outputs = [output for entry in entries for output in entry.outputs]
    require_free(directory, outputs)
    changed = write_all(directory, outputs, touch=args.touch)
    if args.depfile:
        targets = args.depfile_target or [directory / output.name for output in outputs]
        read: list[str | Path] = [project.path] if project.path and not args.digest else []
        for entry in entries:
            read += entry.dependencies
        write_text(Path(args.depfile), depfile_text(targets, dependencies(read)))
    if not args.quiet:
        for output in outputs:
            path = directory / output.name
            print(path if path in changed else f"{path} (unchanged)")
