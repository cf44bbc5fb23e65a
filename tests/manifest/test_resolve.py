"""From manifest to requests and options: defaults, overrides, paths, clashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.manifest import Check, Defaults, Project, load_manifest, load_text, resolve, select
from swbuild.options import Fusion, Preset


def _project(directory: Path, text: str, overrides: Defaults | None = None) -> Project:
    for name in ("a.c", "b.c"):
        (directory / name).touch()
    (directory / "inc").mkdir(exist_ok=True)
    (directory / "sub").mkdir(exist_ok=True)
    (directory / "sub" / "a.c").touch()
    path = directory / "sunway.yaml"
    path.write_text("version: 1\n" + text)
    return resolve(load_manifest(path), path, overrides)


MERGED = """\
defaults:
  {threads: [4, 8], params: {n: 1, m: 2}, typical: {p: 500, q: 9}, assume: [n > 0],
   check: {seed: 9, tolerance: {atol: 1}}}
sources:
  - file: a.c
    regions:
      r:
        params: {m: 3, k: 4}
        typical: {p: 1000}
        assume: [m > 0, n > 0]
        fusion: min
        check: {sizes: {k: 4}, tolerance: {rtol: 1e-3}}
      s: {threads: [8, 8], function: f, index: 2}
      t: {label: here}
  - b.c
"""


def test_defaults_merge_into_regions(tmp_path: Path) -> None:
    first, second = _project(tmp_path, MERGED).sources
    r, s, t = first.kernels or ()
    assert (r.options.threads, r.options.fusion) == ((4, 8), Fusion.MIN)
    assert r.options.params == {"n": 1, "m": 3, "k": 4}
    assert r.options.typical == r.request.typical == {"p": 1000, "q": 9}
    assert r.options.assume == ("n > 0", "m > 0")
    assert r.request.params == r.options.params
    assert r.request.assume == r.options.assume
    assert (r.check.sizes, r.check.seed) == (({"k": 4},), 9)
    assert (r.check.tolerances.rtol, r.check.tolerances.atol) == (1e-3, 1.0)
    assert (r.request.function, r.request.label, r.request.index) == ("r", None, None)
    assert (s.request.function, s.request.index, s.options.threads) == ("f", 2, (8, 8))
    assert (t.request.function, t.request.label) == (None, "here")
    assert second.requests is None
    assert second.options(["x"])["x"].threads == (4, 8)
    assert first.options(["s"]).keys() == {"s"}


def test_the_command_line_wins(tmp_path: Path) -> None:
    overrides = Defaults(threads=(2, 8), preset=Preset.CLASSIC, params={"n": 7}, check=Check(seed=5))
    kernels = _project(tmp_path, MERGED, overrides).sources[0].kernels or ()
    assert {kernel.options.threads for kernel in kernels} == {(2, 8)}
    assert {kernel.options.preset for kernel in kernels} == {Preset.CLASSIC}
    assert [kernel.options.params["n"] for kernel in kernels] == [7, 7, 7]
    assert kernels[0].options.params["m"] == 3
    assert {kernel.check.seed for kernel in kernels} == {5}


def test_paths_are_relative_to_the_manifest(tmp_path: Path) -> None:
    source_text = "{file: sub/../a.c, include-dirs: [inc], defines: {B: }}"
    text = f"include-dirs: [.]\ndefines: [A=1]\nsources: [{source_text}]\n"
    source = _project(tmp_path, text).sources[0]
    assert source.path == tmp_path / "a.c"
    assert source.cpp.includes == (str(tmp_path / "inc"), str(tmp_path))
    assert source.cpp.defines == ("A=1", "B")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("sources: [missing.c]", "SW108", "missing.c"),
        ("sources: [sub]", "SW108", "there is no file"),
        ("include-dirs: [nowhere]\nsources: [a.c]", "SW108", "nowhere"),
        ("sources: [a.c, ./a.c]", "SW109", "`a.c` is used twice"),
        ("sources: [a.c, sub/a.c]", "SW109", "the name of generated files `a` is used twice"),
        ("sources: [{file: a.c, regions: {r: }}, {file: b.c, regions: {r: }}]", "SW109", "`r` is used twice"),
        ("sources: [{file: a.c, regions: {r: {label: l, function: f}}}]", "SW109", "in two ways"),
        ("sources: [{file: a.c, regions: {r: {label: l, index: 0}}}]", "SW109", "in two ways"),
        (
            "sources: [{file: a.c, regions: {r: {function: f}, s: {function: f, index: 0}}}]",
            "SW109",
            "index 0",
        ),
        ("sources: [{file: a.c, regions: {f: , s: {function: f}}}]", "SW109", "function f"),
        ("sources: [{file: a.c, regions: {r: {label: l}, s: {label: l}}}]", "SW109", "label l"),
        (
            "sources: [{file: a.c, regions: {r: {params: {n: 1}, check: {sizes: {n: 2}}}}}]",
            "SW110",
            "fixes n = 1",
        ),
        ("minimum-swbuild: '99.0'\nsources: [a.c]", "SW111", "needs swbuild 99.0"),
    ],
)
def test_what_does_not_fit_together(tmp_path: Path, text: str, code: str, words: str) -> None:
    with pytest.raises(SwbuildError) as caught:
        _project(tmp_path, text)
    assert {diagnostic.code for diagnostic in caught.value.diagnostics} == {code}
    assert words in str(caught.value)
    assert caught.value.diagnostics[0].span.line >= 1


def test_all_clashes_at_once(tmp_path: Path) -> None:
    with pytest.raises(SwbuildError) as caught:
        _project(tmp_path, "include-dirs: [nowhere]\nsources: [missing.c, a.c, a.c]")
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["SW108", "SW108", "SW109"]


BUDGETS = """\
machine: {machine}
defaults: {{ldm-budget: {common}}}
sources:
  - file: a.c
    regions:
      r: {{}}
      s: {{ldm-budget: {own}}}
"""


@pytest.mark.parametrize(
    ("machine", "common", "own", "lines"),
    [
        ("sw26010", "64KiB", "65536", []),
        ("sw26010", "48KiB", "65540", [8]),
        ("sw26010", "256KiB", "66000", [3, 8]),
        ("sw26010-pro", "256KiB", "66000", []),
        ("sw26010-pro", "257KiB", "48KiB", [3]),
    ],
)
def test_a_budget_is_at_most_what_the_machine_has(
    tmp_path: Path, machine: str, common: str, own: str, lines: list[int]
) -> None:
    text = BUDGETS.format(machine=machine, common=common, own=own)
    found = _budget_problems(tmp_path, text, None)
    assert [diagnostic.span.line for diagnostic in found] == lines
    assert all(diagnostic.code == "SW107" and "leave room" in diagnostic.hint for diagnostic in found)


def test_the_budget_of_the_command_line_counts(tmp_path: Path) -> None:
    text = BUDGETS.format(machine="sw26010", common="256KiB", own="1MiB")
    assert _budget_problems(tmp_path, text, Defaults(ldm_budget=49152)) == ()
    (found,) = _budget_problems(tmp_path, text, Defaults(ldm_budget=65537))
    assert str(found).startswith(
        "--ldm-budget: error[SW107]: `ldm-budget`: 65537 bytes are more than the 65536"
    )


def _budget_problems(directory: Path, text: str, overrides: Defaults | None) -> tuple[Diagnostic, ...]:
    try:
        _project(directory, text, overrides)
    except SwbuildError as error:
        return error.diagnostics
    return ()


def test_select(tmp_path: Path) -> None:
    project = _project(tmp_path, "sources: [{file: a.c, regions: {r: , s: }}, {file: b.c, regions: {t: }}]")
    assert select(project, []) == project
    chosen = select(project, ["s"])
    assert [[kernel.name for kernel in source.kernels or ()] for source in chosen.sources] == [["s"]]
    with pytest.raises(SwbuildError, match="did you mean `t`"):
        select(project, ["tt"])


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "SW108"), (b"version: 1\nsources: [\xff.c]\n", "SW101"), (b"version: 1\x00", "SW101")],
)
def test_unreadable_files(tmp_path: Path, content: bytes | None, code: str) -> None:
    path = tmp_path / "m.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SwbuildError) as caught:
        load_manifest(path)
    assert caught.value.diagnostics[0].code == code
    assert caught.value.diagnostics[0].span.file == str(path)


def test_without_a_file() -> None:
    manifest = load_text(f"version: 1\nsources: [{Path(__file__).name}]\n", "m.yaml")
    project = resolve(manifest, Path(__file__).parent / "m.yaml")
    assert project.sources[0].path == Path(__file__)
