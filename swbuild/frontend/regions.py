"""Regions of a file: pairing pragmas, finding them in the syntax tree, and matching requests."""

from __future__ import annotations

import re  # reads pragmas and heads of functions in the user's text
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.frontend.problems import Locator
from swbuild.frontend.request import RegionRequest
from swbuild.frontend.symbols import walk
from swbuild.frontend.syntax import BLOCKS, items_of

__all__ = ["Region", "find_regions", "match_requests"]


@dataclass(frozen=True, slots=True)
class Region:
    """One region: its function, the statements in it and its place (``index`` counts in the function)."""

    function: c_ast.FuncDef
    items: tuple[c_ast.Node, ...]
    begin: c_ast.Pragma
    end: c_ast.Pragma
    label: str
    index: int
    span: Span

    @property
    def name(self) -> str:
        """The name of the enclosing function."""
        return str(self.function.decl.name)


def find_regions(
    tree: c_ast.FileAST, pairs: Sequence[tuple[int, int, str]], locator: Locator
) -> tuple[Region, ...]:
    """Return the regions of the file in textual order."""
    found: list[Region] = []
    seen: set[int] = set()
    problems: list[Diagnostic] = []
    for function in tree.ext:
        if isinstance(function, c_ast.FuncDef):
            blocks = [block for block in walk(function.body) if isinstance(block, BLOCKS)]
            problems += [problem for block in blocks for problem in _torn(block, locator)]
            inside = [each for block in blocks for each in _in_block(block)]
            inside.sort(key=lambda each: int(each[0].coord.line))
            found += [_region(function, *each, index, locator) for index, each in enumerate(inside)]
            seen.update(int(begin.coord.line) for begin, _, _ in inside)
    bare = {int(pragma.coord.line) for pragma in _bare_pragmas(tree)}
    lost = [(first, last) for first, last, _ in pairs if first not in seen]
    problems += [_homeless(first, last, first in bare, locator) for first, last in lost]
    if problems:
        raise SwbuildError(problems)
    return tuple(sorted(found, key=lambda region: region.span))


#: Pragmas that the compiler takes before a loop, and nowhere else.
_OF_LOOPS = re.compile(r"GCC\s+(?:ivdep|unroll|novector)\b")
_OLD_STYLE = re.compile(r"\b(\w+)\s*\(\s*\w+(?:\s*,\s*\w+)*\s*\)\s*(?:[A-Za-z_][^;{}#]*;\s*)+\{")


def _bare_pragmas(tree: c_ast.Node) -> Iterator[c_ast.Pragma]:
    """Yield the pragmas before the one statement of a branch or loop: the parser makes a block of both."""
    for block in walk(tree):
        items = items_of(block) if isinstance(block, c_ast.Compound) else ()
        if items and isinstance(items[0], c_ast.Pragma) and items[0].coord is block.coord:
            yield from (item for item in items if isinstance(item, c_ast.Pragma))


def _homeless(first: int, last: int, is_bare: bool, locator: Locator) -> Diagnostic:
    """Return what is wrong with a pair of pragmas that is in no block that the parser has seen.

    ``is_bare``: it stands where ``if``, ``else`` or a loop have one statement without braces.
    """
    span = Span(locator.path, first, 1, last)
    before = "\n".join(locator.text.split("\n")[: first - 1])
    old = next(reversed(list(_OLD_STYLE.finditer(before))), None)
    if old and "\n}" not in before[old.end() :]:
        what = f"the parameters of '{old[1]}' are declared behind its head, as before C89"
        return Diagnostic("SW207", what, span, f"declare them in it, as in '{old[1]}(int n, double *x)'")
    if is_bare:
        what = "'#pragma scop' stands between the head of a branch or loop and its statement"
        return Diagnostic("SW207", what, span, "put the statement in braces, and both pragmas inside of them")
    what = "'#pragma scop' and its '#pragma endscop' are not in one block of one function"
    return Diagnostic("SW207", what, span, "put both on the same nesting level of a function's body")


def _torn(block: c_ast.Node, locator: Locator) -> Iterator[Diagnostic]:
    """Yield what is wrong with regions in ``block`` that stand between a pragma and its loop."""
    for before, item in pairwise(items_of(block)):
        pragmas = isinstance(before, c_ast.Pragma) and isinstance(item, c_ast.Pragma)
        if pragmas and _OF_LOOPS.match(before.string) and item.string.split()[:1] == ["scop"]:
            what = f"'#pragma scop' stands between '#pragma {before.string}' and its loop"
            span = Span(locator.path, int(item.coord.line), 1)
            yield Diagnostic("SW207", what, span, "put that pragma into the region, before the loop")


def _in_block(block: c_ast.Node) -> Iterator[tuple[c_ast.Pragma, tuple[c_ast.Node, ...], c_ast.Pragma]]:
    begin: c_ast.Pragma | None = None
    items: list[c_ast.Node] = []
    for item in items_of(block):
        word = item.string.split()[:1] if isinstance(item, c_ast.Pragma) else []
        if word == ["scop"]:
            begin, items = item, []
        elif word == ["endscop"] and begin is not None:
            yield begin, tuple(items), item
            begin = None
        else:
            items.append(item)


def names_outside_regions(node: c_ast.Node) -> frozenset[str]:
    """Return the names of objects and functions below ``node`` that stand outside of all regions."""
    if isinstance(node, c_ast.ID):
        return frozenset([node.name])
    regions = _in_block(node) if isinstance(node, BLOCKS) else ()
    skipped = {id(item) for _, items, _ in regions for item in items}
    if isinstance(node, c_ast.StructRef):
        skipped.add(id(node.field))
    parts = (child for child in node if id(child) not in skipped)
    return frozenset[str]().union(*map(names_outside_regions, parts))


def _region(
    function: c_ast.FuncDef,
    begin: c_ast.Pragma,
    items: tuple[c_ast.Node, ...],
    end: c_ast.Pragma,
    index: int,
    locator: Locator,
) -> Region:
    label = re.match(r"scop\s*(\w*)", begin.string)
    lines = locator.text.split("\n")
    last = int(end.coord.line)
    width = len(lines[last - 1].rstrip("\r")) if last <= len(lines) else 0
    span = Span(locator.path, int(begin.coord.line), 1, last, width + 1)
    return Region(function, items, begin, end, label[1] if label else "", index, span)


def match_requests(
    regions: Sequence[Region], requests: Sequence[RegionRequest] | None, every: RegionRequest, path: str
) -> tuple[tuple[Region, RegionRequest], ...]:
    """Return each requested region with its request; raise for requests that fit none, or more than one.

    Without ``requests`` these are all regions, each under what ``every`` states.
    """
    if requests is None:
        return tuple(
            (region, replace(every, name=name))
            for region, name in zip(regions, _default_names(regions), strict=False)
        )
    problems: list[Diagnostic] = []
    matched: list[tuple[Region, RegionRequest]] = []
    for request in requests:
        fitting = [region for region in regions if _fits(request, region)]
        if request.function is None and request.label is None and request.index is not None:
            fitting = list(regions[request.index : request.index + 1]) if request.index >= 0 else []
        if len(fitting) == 1:
            matched.append((fitting[0], request))
        else:
            problems.append(_mismatch(request, fitting, regions, path))
    if problems:
        raise SwbuildError(problems)
    return tuple(matched)


def _fits(request: RegionRequest, region: Region) -> bool:
    if request.function is not None and request.function != region.name:
        return False
    if request.label is not None and request.label != region.label:
        return False
    return request.index is None or request.index == region.index


def _mismatch(
    request: RegionRequest, fitting: Sequence[Region], regions: Sequence[Region], path: str
) -> Diagnostic:
    what = (
        ", ".join(
            f"{key} {value!r}"
            for key, value in (
                ("function", request.function),
                ("label", request.label),
                ("index", request.index),
            )
            if value is not None
        )
        or "nothing to choose it by"
    )
    if fitting:
        lines = ", ".join(str(region.span.line) for region in fitting)
        return Diagnostic(
            "SW206",
            f"region '{request.name}' ({what}) fits {len(fitting)} regions, at lines {lines}",
            Span(path),
            "add 'index' (counted in the function from 0), or labels after '#pragma scop'",
        )
    names = (
        [r.name for r in regions] if request.function is not None else [r.label for r in regions if r.label]
    )
    import difflib  # not before something is misspelt

    close = difflib.get_close_matches(request.function or request.label or "", names, 1)
    there = "; ".join(
        f"{r.name} at line {r.span.line}" + (f" ({r.label})" if r.label else "") for r in regions
    )
    hint = f"did you mean '{close[0]}'?" if close else f"regions in this file: {there}"
    return Diagnostic("SW205", f"region '{request.name}' ({what}) is not in this file", Span(path), hint)


def _default_names(regions: Sequence[Region]) -> list[str]:
    names: list[str] = []
    for region in regions:
        several = sum(1 for other in regions if other.name == region.name) > 1
        name = region.label or (f"{region.name}_{region.index}" if several else region.name)
        wanted, number = name, 1
        while name in names:
            name, number = f"{wanted}_{number}", number + 1
        names.append(name)
    return names
