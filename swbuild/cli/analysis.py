"""What ``swbuild explain`` says of dependences: as tables, as a graph for dot, as data for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from swbuild.tables import plain_rows

if TYPE_CHECKING:
    from swbuild.frontend.scop import Scop
    from swbuild.polyhedral.described import Described
    from swbuild.polyhedral.verdicts import LoopVerdict, RegionAnalysis

__all__ = ["analysis_data", "dependence_lines", "dot_lines", "loop_lines"]


def dependence_lines(scop: Scop, analysis: RegionAnalysis) -> Iterator[str]:
    """Yield a table of the region's dependences."""
    heads = ("kind", "array", "from", "line", "to", "line", "loops", "distance")
    rows = [_dependence_row(item) for item in analysis.dependences]
    yield f"region {scop.name}: {len(rows)} dependence{'s' if len(rows) != 1 else ''}"
    if rows:
        yield from _indented(plain_rows(heads, rows, frozenset({3, 5})))


def _dependence_row(item: Described) -> tuple[str, ...]:
    loops = ", ".join(loop.name for loop in item.loops) or "-"
    distance = f"({', '.join(item.distance)})" if item.distance else "-"
    source, sink = str(item.source_span.line), str(item.sink_span.line)
    return (item.kind, item.array, item.source.name, source, item.sink.name, sink, loops, distance)


def loop_lines(scop: Scop, analysis: RegionAnalysis) -> Iterator[str]:
    """Yield a line per loop, indented as in the source, with its verdict, and the reasons below it."""
    yield f"region {scop.name}"
    names = _step_names(analysis.loops)
    rows = [
        ("  " * item.depth + name, str(item.loop.span.line), " ".join(item.statements), _verdict_text(item))
        for name, item in zip(names, analysis.loops, strict=True)
    ]
    if not rows:
        yield "  no loops"
        return
    head, *lines = plain_rows(("loop", "line", "statements", "verdict"), rows, frozenset({1})).splitlines()
    yield f"  {head}"
    for item, line in zip(analysis.loops, lines, strict=True):
        yield f"  {line}"
        for reason in dict.fromkeys(f"{found.verbs}, {_apart(found)}" for found in item.because):
            yield f"      {reason}"


def _step_names(loops: Sequence[LoopVerdict]) -> list[str]:
    """Return the names by which `transform` knows the loops."""
    count = Counter(item.loop.name for item in loops)
    seen: Counter[str] = Counter()
    names = []
    for item in loops:
        seen[item.loop.name] += 1
        number = f"#{seen[item.loop.name]}" if count[item.loop.name] > 1 else ""
        names.append(f"{item.loop.name}{number}")
    return names


def _verdict_text(item: LoopVerdict) -> str:
    """Return the verdict with what it takes: reductions, and variables of which iterations have copies."""
    parts = [f"{operator.value} on {array}" for array, operator in item.reductions]
    parts += [f"a copy of {name} each" for name in item.private]
    return f"{item.verdict.value} ({', '.join(parts)})" if parts and not item.because else item.verdict.value


def _apart(found: Described) -> str:
    return f"distance ({', '.join(found.distance)})"


def dot_lines(regions: Sequence[tuple[Scop, RegionAnalysis]], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the dependence graphs in the language of Graphviz: statements, and who must wait for whom.

    ``texts`` gives the text of each source file.
    """
    yield "digraph dependences {"
    yield '  node [shape=box, fontname="monospace"];'
    for scop, analysis in regions:
        yield f"  subgraph {_quoted(f'cluster_{scop.name}')} {{"
        yield f"    label={_quoted(scop.name)};"
        lines = texts[scop.source].split("\n")
        for statement in scop.statements:
            line = statement.span.line
            label = f"{statement.name}, line {line}\n{lines[line - 1].strip()}"
            yield f"    {_quoted(f'{scop.name}.{statement.name}')} [label={_quoted(label)}];"
        for item in analysis.dependences:
            ends = (_quoted(f"{scop.name}.{end.name}") for end in (item.source, item.sink))
            label = f"{item.array} ({', '.join(item.distance)})"
            style = _STYLES[item.kind]
            yield f"    {' -> '.join(ends)} [label={_quoted(label)}, {style}];"
        yield "  }"
    yield "}"


_STYLES = {"flow": "style=solid", "anti": "style=dashed", "output": "style=dotted"}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def analysis_data(scop: Scop, analysis: RegionAnalysis) -> dict[str, Any]:
    """Return dependences and loops as JSON can hold them."""
    names = _step_names(analysis.loops)
    return {
        "region": scop.name,
        "dependences": [_dependence_data(item) for item in analysis.dependences],
        "loops": [
            {
                "loop": name,
                "line": item.loop.span.line,
                "statements": list(item.statements),
                "verdict": item.verdict.value,
                "private": list(item.private),
                "reductions": [{"array": a, "operator": o.value} for a, o in item.reductions],
                "because": [_dependence_data(found) for found in item.because],
            }
            for name, item in zip(names, analysis.loops, strict=True)
        ],
    }


def _dependence_data(item: Described) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "array": item.array,
        "source": {"statement": item.source.name, "line": item.source_span.line},
        "sink": {"statement": item.sink.name, "line": item.sink_span.line},
        "loops": [loop.name for loop in item.loops],
        "distance": list(item.distance),
    }


def _indented(text: str) -> Iterator[str]:
    yield from (f"  {line}" for line in text.splitlines())
