"""Reading one C file: preprocessing, parsing, and one model (or refusal) for each region."""

from __future__ import annotations

import hashlib
import os
import re  # reads messages of the parser
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from pycparser import c_ast, c_parser

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError, internal_error
from swbuild.files import read_text
from swbuild.frontend.attributes import Attributes
from swbuild.frontend.callers import Callers
from swbuild.frontend.claims import Claim
from swbuild.frontend.frame import Frame, declarations_inside, frame_of
from swbuild.frontend.moving_text import moving_text
from swbuild.frontend.parser import Parser, RecoveringParser
from swbuild.frontend.pragmas import Marker, find_markers, paired
from swbuild.frontend.preprocess import Preprocessed, compiler_errors, preprocess
from swbuild.frontend.probe import Probed, disagreements
from swbuild.frontend.problems import Locator
from swbuild.frontend.prune import (
    Chunk,
    chunk_around,
    is_const_function,
    is_defined,
    prune,
    split_chunks,
)
from swbuild.frontend.regions import Region, find_regions, match_requests
from swbuild.frontend.request import CppOptions, RefusedRegion, RegionRequest, SourceModel
from swbuild.frontend.scop import Scop
from swbuild.frontend.symbols import FileScope, walk
from swbuild.frontend.unread import Unread, ascii_names
from swbuild.frontend.vocabulary import vocabulary
from swbuild.timings import step

__all__ = ["read_source"]

Pair = tuple[Marker, Marker]
_NOTHING_STATED = RegionRequest()


def read_source(
    path: Path,
    cpp: CppOptions,
    requests: Sequence[RegionRequest] | None,
    seen: Preprocessed | None = None,
    every: RegionRequest = _NOTHING_STATED,
) -> SourceModel:
    """Return the model of the C file ``path``: the regions of ``requests`` (None: all of them, under what
    ``every`` states).  ``seen`` is the file preprocessed under ``cpp``, where somebody has done that.

    Regions that have no model are listed as refused.  Raises SwbuildError for mistakes that
    concern the file or the requests: unreadable, no region, unbalanced pragmas, syntax errors,
    a request without its region.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise SwbuildError(
            Diagnostic("SW200", f"cannot read '{path}': {error.strerror}", Span(str(path)), "check the path")
        ) from error
    source = seen or preprocess(path, cpp)
    _check_name(path, source)
    try:
        parsed, pairs, chunks = _pruned(source, text)
        locator = Locator(str(path), text, parsed)
        tree, spelled = _understood(path, cpp, parsed, locator)
    except SwbuildError as error:
        # The compiler's own words are better, where it agrees that there is an error.
        own = [d for d in error.diagnostics if d.code == "SW202"]
        raise SwbuildError((own and compiler_errors(path, cpp)) or error.diagnostics) from error
    attributes = Attributes.of(source, partial(chunk_around, chunks))
    scope = FileScope.of(tree, partial(is_const_function, source), attributes)
    names = vocabulary(source, text, chunks)
    scope.words, scope.text, scope.tag = names.words, source.text, _tag(path, source)
    scope.is_defined = partial(is_defined, source, chunks)
    lines = tuple((first.line, last.line, first.label) for first, last in pairs)
    regions = find_regions(tree, lines, locator)
    wanted = match_requests(regions, requests, every, str(path))
    scops: dict[str, Scop] = {}
    refused: list[RefusedRegion] = []
    moving = moving_text(path, cpp, source, frozenset(scope.functions))
    probed: dict[str, Probed] = {}
    callers = cache(partial(Callers, source, chunks))
    for region, request in wanted:
        moved = moving.get(region.span.line)
        reasons = (moved,) if moved is not None else _not_understood(region, spelled, locator)
        made = (
            RefusedRegion(request.name, region.span, reasons)
            if reasons
            else _model(region, request, scope, locator)
        )
        if isinstance(made, RefusedRegion):
            refused.append(made)
            continue
        frame = _frame(source, chunks, pairs, region, scope)
        inside = declarations_inside(source.text, frame.begin, frame.stop, scope.types.typedefs)
        usual = callers().sizes(region.name, (each.expression for each in made[0].parameters))
        scops[request.name] = replace(made[0], frame=frame, usual=usual)
        probed[request.name] = Probed(frame, inside, made[1])
    for name, problems in disagreements(source.text, probed, cpp.compiler).items():
        refused.append(RefusedRegion(name, scops.pop(name).span, problems))
    return SourceModel(
        str(path), text, tuple(scops.values()), tuple(refused), source.dependencies, names, source.text
    )


def _check_name(path: Path, source: Preprocessed) -> None:
    """Raise :class:`SwbuildError` where the name of ``path`` leaves none for the generated header."""
    header = f"{path.stem}.sw.h"
    if header in map(os.path.basename, source.dependencies):
        what = f"it includes a '{header}', which is the name of its generated header"
        hint = "rename the included file, or this one"
    elif set(path.name) & set('"\\\n'):
        what = "no '#include' can hold its name, nor that of its generated header"
        hint = "take quotes, backslashes and line breaks out of the file's name"
    else:
        return
    raise SwbuildError(Diagnostic("SW208", what, Span(str(path)), hint))


def _tag(path: Path, source: Preprocessed) -> str:
    """Return six digits that two files have in common only if they and their options are alike."""
    text = "\0".join((path.name, *source.own_texts()))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:6]


def _not_understood(region: Region, spelled: Mapping[str, str], locator: Locator) -> tuple[Diagnostic, ...]:
    """Return what the parser did not understand in ``region``; ``spelled`` are names beyond ASCII."""
    nodes = [node for item in region.items for node in walk(item)]
    found = [_syntax_error(n.what, locator.span(n), locator) for n in nodes if isinstance(n, Unread)]
    names = [n for n in nodes if isinstance(n, (c_ast.ID, c_ast.Decl)) and n.name in spelled]
    beyond = "a name with letters beyond those of ASCII"
    found += [_syntax_error(f"{beyond}, '{spelled[n.name]}'", locator.span(n), locator) for n in names[:1]]
    hint = "write it in C11, or leave it outside of the region"
    return tuple(replace(problem, hint=hint) for problem in found)


@step("model")
def _model(
    region: Region, request: RegionRequest, scope: FileScope, locator: Locator
) -> tuple[Scop, tuple[Claim, ...]] | RefusedRegion:
    from swbuild.frontend.modeller import model_region

    try:
        return model_region(region, request, scope, locator)
    except Exception as error:  # noqa: BLE001 - a defect in one region must not take the others along
        found = internal_error(error, region.span, f"region '{request.name}'")
        return RefusedRegion(request.name, region.span, (found,))


def _frame(
    source: Preprocessed, chunks: Sequence[Chunk], pairs: Sequence[Pair], region: Region, scope: FileScope
) -> Frame:
    """Return where ``region`` stands in the preprocessed text."""
    first, last = next(pair for pair in pairs if pair[0].line == region.begin.coord.line)
    home = next(chunk for chunk in chunks if chunk.start <= first.offset < chunk.end)
    stop = source.text.find("\n", last.offset)
    inside = (first.offset, len(source.text) if stop < 0 else stop)
    return frame_of(source.text, (region.name, home.start, home.body, home.end), inside, scope.types.typedefs)


def _pruned(source: Preprocessed, original: str) -> tuple[str, tuple[Pair, ...], tuple[Chunk, ...]]:
    found = find_markers(source)
    pairs = paired(found, source.path, original)
    markers = [marker for marker in found if marker.file == source.path]
    chunks = split_chunks(source)
    text = prune(source, chunks, markers)
    return text, pairs, chunks


_PARSE_ERROR = re.compile(r"^(.*?):(?:(\d+):)?(?:(\d+):?)?\s*(.*)$", re.DOTALL)


_SPLIT = "split the expression, the statement or the declaration"


def _understood(
    path: Path, cpp: CppOptions, text: str, locator: Locator
) -> tuple[c_ast.FileAST, Mapping[str, str]]:
    """Return the syntax tree of ``text``; what the compiler takes but the parser does not is passed over.

    With it come the names that are spelled otherwise in the tree, since they have letters beyond ASCII.
    """
    try:
        return _parse(Parser(), text, str(path), locator), {}
    except SwbuildError as error:
        wrong = compiler_errors(path, cpp)
        if wrong:
            raise SwbuildError(wrong) from error
        plain, spelled = ascii_names(text)
        try:
            return _parse(RecoveringParser(), plain, str(path), locator), spelled
        except SwbuildError:
            raise error from None


@step("parse")
def _parse(parser: Parser, text: str, path: str, locator: Locator) -> c_ast.FileAST:
    try:
        return parser.parse(text, path)
    except c_parser.ParseError as error:
        raise SwbuildError(_syntax_error(str(error), _reached(parser, path), locator)) from error
    except RecursionError as error:
        raise SwbuildError(
            Diagnostic("SW202", "the text nests too deeply to be parsed", _reached(parser, path), _SPLIT)
        ) from error


def _reached(parser: Parser, path: str) -> Span:
    """Return how far ``parser`` has read."""
    try:
        token = parser._tokens.peek()
    except c_parser.ParseError:  # at a letter that begins no token
        return Span(path)
    return Span(token.filename, token.lineno, token.column) if token else Span(path)


@dataclass(slots=True)
class _At:
    """A place in the form in which pycparser's nodes carry theirs."""

    file: str
    line: int
    column: int


def _syntax_error(message: str, span: Span, locator: Locator) -> Diagnostic:
    """Return the parser's ``message`` as a diagnostic, at ``span`` where it names no place."""
    match = _PARSE_ERROR.match(message)
    what = message
    if match:
        what = match[4]
        if match[2]:
            span = locator.span(c_ast.EmptyStatement(_At(match[1], int(match[2]), int(match[3] or 0))))
    if what.startswith("before: "):
        what = f"unexpected '{what.removeprefix('before: ')}'"
    if "Illegal character '\\\\'" in what:
        what = "a name with letters beyond those of ASCII"
    return Diagnostic(
        "SW202",
        f"not understood: {what or 'this declaration'}",
        span,
        "the compiler takes it, but it is beyond the C11 that swbuild reads: keep it in another file",
    )
