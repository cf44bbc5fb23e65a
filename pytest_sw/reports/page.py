"""The report for people: one page without scripts or links to elsewhere, that a CI system can keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

__all__ = ["page"]

_STYLE = Path(__file__).with_name("page.css")

_CLASSES = {"passed": "good", "failed": "bad", "xpassed": "bad", "error": "sick"}
_EXPECTATIONS = {"xfailed": ", as expected", "xpassed": ", not expected"}
_RED = (192, 52, 29)


def page(report: Mapping[str, Any]) -> str:
    """Return the page for a report of :func:`pytest_sw.reports.document.document`."""
    tests = report["tests"]
    targets = ", ".join(report["settings"].get("target", ()))
    parts = [
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>Sunway kernels</title>",
        f"<style>{_STYLE.read_text(encoding='utf-8')}</style></head><body>",
        "<h1>Sunway kernels</h1>",
        f"<p class='dim'>{len(tests)} tests on {escape(targets)}, swbuild {escape(report['swbuild'])}</p>",
        _tiles(tests),
        *_differences(tests),
        *_failures(tests),
        *_jobs(report["jobs"]),
        _table(tests),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _tiles(tests: Sequence[Mapping[str, Any]]) -> str:
    counts: dict[tuple[str, str], int] = {}
    for test in tests:
        key = (_verdict(test), _class(test))
        counts[key] = counts.get(key, 0) + 1
    shown = (f"<div class='tile {kind}'><b>{n}</b>{escape(name)}</div>" for (name, kind), n in counts.items())
    return f"<div class='tiles'>{''.join(shown)}</div>"


def _differences(tests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the table of tests that end differently on different targets."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for test in tests:
        groups.setdefault(f"{test['kernel']}[{test['sizes']}]", []).append(test)
    different = {name: found for name, found in groups.items() if len({t["category"] for t in found}) > 1}
    if not different:
        return
    yield "<h2>Different on different targets</h2>"
    yield "<table><tr><th>test</th><th>target</th><th>verdict</th></tr>"
    for name, found in different.items():
        for number, test in enumerate(found):
            label = escape(name) if not number else ""
            yield f"<tr><td>{label}</td><td>{escape(test['target'])}</td><td>{_pill(test)}</td></tr>"
    yield "</table>"


def _failures(tests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    bad = [test for test in tests if test["outcome"] in ("failed", "error", "xpassed")]
    if not bad:
        return
    yield "<h2>What went wrong</h2>"
    for test in bad:
        yield f"<div class='case'><div>{_pill(test)} <b><code>{escape(test['test'])}</code></b></div>"
        yield f"<pre>{escape(test['message'])}</pre>"
        maps = test.get("maps") or []
        if maps:
            yield f"<div class='maps'>{''.join(_maps(maps))}</div>"
        yield "</div>"


def _maps(maps: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for found in maps:
        shape = "".join(f"[{extent}]" for extent in found["shape"])
        name = f"{found['array']}{shape}"
        yield _figure(found["cells"], f"{name} ({found['mode']}): share of bad elements", 260)
        if found["mesh"]:
            rows = found["mesh"]
            most = max(max(row) for row in rows) or 1
            caption = (
                f"bad elements of {found['array']} by the core that put them, {len(rows)}×{len(rows[0])} mesh"
            )
            if found["nobody"]:
                caption += f"; {found['nobody']} put by nobody"
            yield _figure([[n / most for n in row] for row in rows], caption, 200, rows)


def _figure(
    cells: Sequence[Sequence[float]], caption: str, width: int, labels: Sequence[Sequence[int]] | None = None
) -> str:
    """Return a heat map as a drawing; ``labels`` are written into the cells that have one."""
    rows, columns = len(cells), len(cells[0]) if cells else 0
    size = max(4.0, min(width / max(columns, 1), 24.0))
    parts = []
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            label = labels[i][j] if labels else 0
            title = f"<title>{label if labels else f'{100 * cell:.1f} %'}</title>"
            place = f"x='{j * size:.1f}' y='{i * size:.1f}' width='{size:.1f}' height='{size:.1f}'"
            parts.append(
                f"<rect {place} fill='{_colour(cell)}' stroke='#e4e7ec' stroke-width='.5'>{title}</rect>"
            )
            if label:
                at = f"x='{(j + 0.5) * size:.1f}' y='{(i + 0.66) * size:.1f}'"
                ink = "#fff" if cell > 0.5 else "#1d2433"
                parts.append(f"<text {at} font-size='9' text-anchor='middle' fill='{ink}'>{label}</text>")
    box = f"width='{columns * size + 1:.0f}' height='{rows * size + 1:.0f}'"
    drawing = f"<svg {box} role='img'>{''.join(parts)}</svg>"
    return f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>"


def _colour(share: float) -> str:
    """Return white for nothing, red for everything; whatever is not nothing can be seen."""
    if share <= 0:
        return "#fff"
    strength = 0.25 + 0.75 * min(share, 1.0)
    return "#" + "".join(f"{round(255 + (part - 255) * strength):02x}" for part in _RED)


def _jobs(jobs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not jobs:
        return
    yield "<h2>Jobs</h2><table><tr><th>job</th><th>node</th>"
    yield "<th class='n'>tests</th><th class='n'>queue</th><th>log</th></tr>"
    for job in jobs:
        yield (
            f"<tr><td>{escape(str(job['job'] or '–'))}</td><td>{escape(str(job['node'] or '–'))}</td>"
            f"<td class='n'>{job['tests']}</td><td class='n'>{_seconds(job.get('queue_seconds'))}</td>"
            f"<td><code>{escape(job['log'])}</code></td></tr>"
        )
    yield "</table>"


def _table(tests: Sequence[Mapping[str, Any]]) -> str:
    heads = ("kernel", "sizes", "target", "verdict")
    figures = ("run", "DMA calls", "DMA bytes", "spawns")
    head = "".join(f"<th>{name}</th>" for name in heads) + "".join(
        f"<th class='n'>{name}</th>" for name in figures
    )
    rows = []
    for test in tests:
        counts: Mapping[str, int] = next((run["counts"] for run in test.get("runs", ())), {})
        cells = (_seconds(test.get("seconds")), *(_number(counts.get(key)) for key in _COUNTS))
        rows.append(
            f"<tr><td>{escape(test['kernel'])}</td><td>{escape(test['sizes'])}</td>"
            f"<td>{escape(test['target'])}</td>"
            f"<td>{_pill(test)}</td>{''.join(f'<td class=n>{cell}</td>' for cell in cells)}</tr>"
        )
    return f"<h2>All tests</h2><table><tr>{head}</tr>{''.join(rows)}</table>"


_COUNTS = ("dma_operations", "dma_bytes", "spawns")


def _pill(test: Mapping[str, Any]) -> str:
    return f"<span class='pill {_class(test)}'>{escape(_verdict(test))}</span>"


def _verdict(test: Mapping[str, Any]) -> str:
    """Return the category, with a word where it is an expected failure or the lack of one."""
    return f"{test['category']}{_EXPECTATIONS.get(test['outcome'], '')}"


def _class(test: Mapping[str, Any]) -> str:
    return _CLASSES.get(test["outcome"], "none")


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f} s"


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}".replace(",", "&thinsp;")
