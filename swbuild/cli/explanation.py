"""Reports as text: what is a table becomes a table, what is nested is indented."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from swbuild.tables import plain_rows, print_rows

if TYPE_CHECKING:
    from swbuild.pipeline.comparison import Comparison

__all__ = ["explain_report", "explain_value", "print_comparisons"]

_SAID_ELSEWHERE = frozenset({"region", "name", "machine", "loops"})


def explain_report(report: Mapping[str, Any], summaries: Sequence[str], verbose: bool) -> Iterator[str]:
    """Yield the lines about one source file: the ``summaries`` of its regions; ``verbose``, the details."""
    title = f"{report['source']} on {report['machine']}"
    yield from (title, "=" * len(title), *summaries)
    for region in report["regions"] if verbose else ():
        rest = {name: value for name, value in region.items() if name not in _SAID_ELSEWHERE}
        note = "" if region.get("kernels") else ": no kernel, all of it stays on the host"
        yield from ("", f"region {region['region']}{note}", *explain_value(rest, 2))
        yield from _loops(region.get("loops", ()))
    for region in report["refused"]:
        yield from ("", f"region {region['region']} (line {region['line']}) stays on the host")
        yield from (f"  line {reason['line']}: {reason['message']}" for reason in region["reasons"])


def _loops(loops: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each loop of the source, and why it is not parallel if it is not."""
    if loops:
        yield "  loops:"
    for loop in loops:
        verdict = "parallel" if loop["parallel"] else "sequential"
        yield f"    {loop['loop']} (line {loop['line']}): {verdict}"
        yield from (f"      {reason}" for reason in loop.get("because") or ())


def print_comparisons(comparisons: Sequence[Comparison]) -> None:
    """Print a table with a line per region and preset."""
    heads = ("region", "size", "preset", "verdict", "spawns", "DMA operations", "DMA bytes", "LDM bytes")
    rows: list[tuple[str, ...]] = []
    for item in comparisons:
        name, size = item.region, item.size
        for preset, result in item.presets:
            counts = result.counts
            numbers = (counts.spawns, counts.dma_operations, counts.dma_bytes, counts.ldm_bytes)
            cells = ("-" if number is None else str(number) for number in numbers)
            rows.append((name, size, preset.value, result.outcome.value, *cells))
            name = size = ""
    print_rows(heads, rows, frozenset({4, 5, 6, 7}))


def explain_value(value: Any, indent: int = 0) -> Iterator[str]:
    """Yield the lines for any value that JSON can hold."""
    if isinstance(value, Mapping):
        yield from _mapping(value, indent)
    elif _is_table(value):
        yield from _table(value, indent)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _item(item, indent)
    else:
        yield " " * indent + _scalar(value)


def _mapping(value: Mapping[str, Any], indent: int) -> Iterator[str]:
    """Yield what fits on a line first, then what is nested."""
    pad = " " * indent
    shown = {key: item for key, item in value.items() if not _is_empty(item)}
    names = {key: key.replace("_", " ") for key in shown}
    for key in filter(lambda key: _is_flat(shown[key]), shown):
        yield f"{pad}{names[key]}: {_flat(shown[key])}"
    for key in filter(lambda key: not _is_flat(shown[key]), shown):
        if _has_names(shown[key]):
            for item in shown[key]:
                yield f"{pad}{names[key].removesuffix('s')} {item['name']}:"
                yield from explain_value({k: v for k, v in item.items() if k != "name"}, indent + 2)
        else:
            yield f"{pad}{names[key]}:"
            yield from explain_value(shown[key], indent + 2)


def _item(item: Any, indent: int) -> Iterator[str]:
    pad = " " * indent
    lines = list(explain_value(item, 0))
    for number, line in enumerate(lines):
        yield f"{pad}{'- ' if number == 0 else '  '}{line}"


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {}, ())


def _is_flat(value: Any) -> bool:
    """Return whether a value fits on its key's line: a scalar, or a list of words and numbers."""
    if isinstance(value, Mapping):
        return False
    if isinstance(value, Sequence) and not isinstance(value, str):
        short = all(not isinstance(item, Mapping | list | tuple) for item in value)
        return short and sum(len(_scalar(item)) + 2 for item in value) < 90
    return True


def _flat(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_scalar, value))
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _is_table(value: Any) -> bool:
    """Return whether a value is a list of mappings whose values are all flat."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return False
    return all(isinstance(row, Mapping) and row and all(map(_is_flat, row.values())) for row in value)


def _table(rows: Sequence[Mapping[str, Any]], indent: int) -> Iterator[str]:
    heads = [key for key in dict.fromkeys(key for row in rows for key in row) if _any(rows, key)]
    cells = [
        [_flat(row.get(head, "")) if row.get(head) is not None else "-" for head in heads] for row in rows
    ]
    numbers = frozenset(n for n in range(len(heads)) if all(_is_number(row.get(heads[n])) for row in rows))
    for line in plain_rows([head.replace("_", " ") for head in heads], cells, numbers).splitlines():
        yield " " * indent + line


def _has_names(value: Any) -> bool:
    """Return whether a value is a list of mappings, each with a name, that is too deep for a table."""
    if not isinstance(value, Sequence) or _is_table(value):
        return False
    return all(isinstance(item, Mapping) and "name" in item for item in value)


def _any(rows: Sequence[Mapping[str, Any]], key: str) -> bool:
    return any(not _is_empty(row.get(key)) for row in rows)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
