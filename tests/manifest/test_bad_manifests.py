"""Every mistake is found where it is, has its code, and comes with advice."""

from __future__ import annotations

import marked
import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.manifest import load_text

#: An option of a region with a mark where the error is; the codes in order; a part of the hint or message.
OPTIONS = [
    ("‸thread: [8, 8]", "SW102", "did you mean `threads`?"),
    ("‸Threads: [8, 8]", "SW102", "did you mean `threads`?"),
    ("‸cpes: 64", "SW102", "did you mean `threads`?"),
    ("‸ldm_budget: 48KiB", "SW102", "did you mean `ldm-budget`?"),
    ("‸ldm: 48KiB", "SW102", "did you mean `ldm-budget`?"),
    ("‸tiles: [32]", "SW102", "did you mean `tile`?"),
    ("‸tile-size: [32]", "SW102", "did you mean `tile`?"),
    ("‸fuse: max", "SW102", "did you mean `fusion`?"),
    ("‸func: f", "SW102", "did you mean `function`?"),
    ("‸parameters: {n: 3}", "SW102", "did you mean `params`?"),
    ("‸tests: {}", "SW102", "did you mean `check`?"),
    ("‸sizes: {n: 3}", "SW102", "put it under `check`"),
    ("‸seed: 3", "SW102", "put it under `check`"),
    ("‸tolerance: {rtol: 1}", "SW102", "put it under `check`"),
    ("‸frobnicate: 3", "SW102", "known: "),
    ("‸<<: {threads: [8, 8]}", "SW102", "`defaults`"),
    ("‸on: 3", "SW106", "true"),
    ("‸Off: 3", "SW106", "false"),
    ("threads: ‸8:8", "SW106", "write a list"),
    ("threads: ‸8", "SW105", "rows and columns"),
    ("threads: ‸8x8", "SW105", "rows and columns"),
    ("threads:‸ ", "SW105", "not nothing"),
    ("threads: ‸[8]", "SW107", "rows and columns"),
    ("threads: ‸[9, 8]", "SW107", "64 at most"),
    ("threads: ‸[64, 2]", "SW107", "64 at most"),
    ("threads: ‸[8, 8, 1]", "SW107", "rows and columns"),
    ("threads: [1, ‸65]", "SW107", "between 1 and 64"),
    ("threads: [8, ‸on]", "SW106", "true"),
    ("threads: [‸0, 64]", "SW107", "between 1 and 64"),
    ("threads: [‸1e0, 64]", "SW105", "write 1"),
    ("threads: [‸'8', 8]", "SW105", "remove the quotes: 8"),
    ("threads: ‸{rows: 8}", "SW105", "a mapping"),
    ("tile: ‸32", "SW105", "put it in brackets: [32]"),
    ("tile: ‸[]", "SW107", "0 entries"),
    ("tile: [‸0]", "SW107", "between 1"),
    ("tile: [‸-4]", "SW107", "between 1"),
    ("tile: [‸032]", "SW106", "write 32"),
    ("tile: [‸0x20]", "SW106", "write 32"),
    ("tile: [‸0o40]", "SW106", "a decimal integer"),
    ("tile: [‸0b11]", "SW106", "a decimal integer"),
    ("tile: [‸1_000]", "SW106", "write 1000"),
    ("tile: [‸1e3]", "SW105", "write 1000"),
    ("tile: [‸32.0]", "SW105", "write 32"),
    ("tile: [‸32.5]", "SW105", "not the number 32.5"),
    ("tile: [‸auto]", "SW105", "not the text 'auto'"),
    ("tile: [‸true]", "SW105", "not the truth value true"),
    ("tile: [‸~]", "SW105", "not nothing"),
    ("tile: [‸[32]]", "SW105", "not a list"),
    ("tile: [32, ‸20:30]", "SW106", "to the base 60 (1230)"),
    ("tile: [‸a, 1, ‸b]", "SW105 SW105", "not the text 'b'"),
    ("distribution: ‸blocks", "SW107", "did you mean `block`?"),
    ("distribution: ‸CYCLIC", "SW107", "did you mean `cyclic`?"),
    ("distribution: ‸2", "SW105", "one of `cyclic`, `block` or `joint`"),
    ("fusion: ‸on", "SW106", "choose `max` or `min`"),
    ("fusion: ‸No", "SW106", "choose `max` or `min`"),
    ("fusion: ‸true", "SW105", "one of `max` or `min`"),
    ("fusion: ‸most", "SW107", "known: `max` and `min`"),
    ("preset: ‸clasic", "SW107", "did you mean `classic`?"),
    ("preset: ‸[classic]", "SW105", "not a list"),
    ("ldm-budget: ‸lots", "SW105", "48KiB"),
    ("ldm-budget: ‸48KB", "SW105", "48KiB"),
    ("ldm-budget: ‸48.5KiB", "SW105", "48KiB"),
    ("ldm-budget: ‸0", "SW107", "out of range"),
    ("ldm-budget: ‸-1", "SW105", "48KiB"),
    ("ldm-budget: ‸0200", "SW106", "48KiB"),
    ("ldm-budget: ‸4096MiB", "SW107", "out of range"),
    ("params: ‸[n]", "SW105", "a mapping of parameters"),
    ("params: {n: ‸big}", "SW105", "an integer"),
    ("params: {n: ‸2147483648}", "SW107", "out of range"),
    ("params: {n: ‸99999999999999999999}", "SW107", "out of range"),
    ("params: {n: ‸12:30}", "SW106", "write a list: [12, 30]"),
    ("params: {‸yes: 3}", "SW106", "in quotes"),
    ("params: {‸9n: 3}", "SW107", "letters, digits"),
    ("params: {‸n m: 3}", "SW107", "letters, digits"),
    ("params: {‸4: 3}", "SW105", "put it in quotes"),
    ("params: {n: 1, ‸n: 2}", "SW103", "line 6"),
    ("assume: ‸n > 3", "SW105", "put it in brackets: [n > 3]"),
    ("assume: [‸3]", "SW105", "put it in quotes"),
    ("assume: [‸'']", "SW107", "is not a C condition"),
    ("assume: [‸no]", "SW106", "in quotes"),
    ("arrays: {A: ‸n}", "SW105", "put it in brackets: [n]"),
    ("arrays: {A: ‸[]}", "SW107", "0 entries"),
    ("arrays: {A: [‸0]}", "SW107", "out of range"),
    ("arrays: {A: [‸1.5]}", "SW105", "a C expression"),
    ("arrays: ‸[A]", "SW105", "a mapping of arrays"),
    ("check: ‸quick", "SW105", "a mapping (a check)"),
    ("check: {‸size: {n: 3}}", "SW102", "did you mean `sizes`?"),
    ("check: {‸tol: 3}", "SW102", "did you mean `tolerance`?"),
    ("check: {sizes: ‸64}", "SW105", "write [{n: 64}]"),
    ("check: {sizes: [‸64]}", "SW105", "a mapping of parameters"),
    ("check: {sizes: ‸[]}", "SW107", "0 entries"),
    ("check: {sizes: {n: ‸[]}}", "SW107", "0 entries"),
    ("check: {sizes: {n: [‸1e1]}}", "SW105", "write 10"),
    ("check: {sizes: ‸{n: [1, 2], m: [1, 2, 3]}}", "SW110", "one length"),
    ("check: {sizes: [{n: 1}, {n: ‸x}, {m: ‸010}]}", "SW105 SW106", "write 10"),
    ("check: {seed: ‸-1}", "SW107", "between 0"),
    ("check: {seed: ‸random}", "SW105", "an integer"),
    ("check: {tolerance: ‸1e-12}", "SW105", "a mapping (a tolerance)"),
    ("check: {tolerance: {rtol: ‸-1e-12}}", "SW107", "must not be negative"),
    ("check: {tolerance: {rtol: ‸tiny}}", "SW105", "a number"),
    ("check: {tolerance: {rtol: ‸.inf}}", "SW105", "a number"),
    ("check: {tolerance: {‸ulp: 4}}", "SW102", "did you mean `max-ulp`?"),
    ("check: {timeout: ‸1:30}", "SW106", "90s"),
    ("check: {timeout: ‸soon}", "SW105", "90s"),
    ("check: {timeout: ‸0s}", "SW107", "out of range"),
    ("function: ‸3", "SW105", "a C identifier"),
    ("function: ‸a b", "SW107", "letters, digits"),
    ("function: ‸off", "SW106", "in quotes"),
    ("function: ‸[f]", "SW105", "not a list"),
    ("label: ‸''", "SW107", "is not a C identifier"),
    ("index: ‸first", "SW105", "an integer"),
    ("index: ‸-1", "SW107", "between 0"),
    ("index: ‸!!int '1'", "SW106 SW105", "remove"),
    ("preset: ‸!python/name classic", "SW106", "remove"),
]

#: Whole manifests.
MANIFESTS = [
    ("‸", "SW101", "swbuild init"),
    ("# nothing\n", "SW101", "swbuild init"),
    ("‸- version: 1", "SW105", "a mapping"),
    ("‸version 1", "SW105", "a mapping"),
    ("‸sources: [a.c]\n", "SW104", "add 'version: 1'"),
    ("‸version: 1\n", "SW104", "add 'sources: [gemm.c]'"),
    ("‸x-note: hello\n", "SW104 SW104", "add 'version: 1'"),
    ("version: ‸2\nsources: [a.c]\n", "SW107", "between 1 and 1"),
    ("version: ‸'1'\nsources: [a.c]\n", "SW105", "remove the quotes"),
    ("version: ‸1.0\nsources: [a.c]\n", "SW105", "write 1"),
    ("version:‸ \nsources: [a.c]\n", "SW105", "not nothing"),
    ("version: 1\nsources: ‸a.c\n", "SW105", "put it in brackets: [a.c]"),
    ("version: 1\nsources: ‸[]\n", "SW107", "0 entries"),
    ("version: 1\nsources: [‸3]\n", "SW105", "a file name"),
    ("version: 1\nsources: [‸[a.c]]\n", "SW105", "a mapping (a source)"),
    ("version: 1\nsources:\n  ‸a.c: {}\n", "SW105", "a list of sources"),
    ("version: 1\nsources:\n  - ‸regions: {r: }\n", "SW104", "add 'file: src/gemm.c'"),
    ("version: 1\nsources:\n  - ‸{‸path: a.c}\n", "SW104 SW102", "did you mean `file`?"),
    ("version: 1\nsources:\n  - file: a.c\n    ‸threads: [8, 8]\n", "SW102", "put it in a region"),
    ("version: 1\nsources:\n  - file: a.c\n    ‸kernels: {r: }\n", "SW102", "did you mean `regions`?"),
    ("version: 1\nsources:\n  - file: a.c\n    regions: ‸{}\n", "SW107", "remove the key"),
    ("version: 1\nsources:\n  - file: a.c\n    regions:‸ \n", "SW105", "a mapping of regions"),
    ("version: 1\nsources:\n  - file: a.c\n    regions:\n      ‸- r\n", "SW105", "without dashes"),
    ("version: 1\nsources:\n  - file: a.c\n    regions:\n      ‸2mm: \n", "SW107", "letters, digits"),
    ("version: 1\nsources:\n  - file: a.c\n    regions:\n      ‸no: \n", "SW106", "in quotes"),
    ("version: 1\nsources:\n  - file: a.c\n    ‸file: b.c\n", "SW103", "line 3"),
    ("version: 1\nsources:\n  - {file: a.c, include-dirs: ‸include}\n", "SW105", "brackets: [include]"),
    ("version: 1\nsources:\n  - {file: a.c, defines: [‸-DN=4]}\n", "SW107", "NAME=value"),
    ("version: 1\nsources:\n  - {file: a.c, defines: {N: ‸[4]}}\n", "SW105", "a number, a text or nothing"),
    ("version: 1\nsources:\n  - {file: a.c, defines: {N: ‸yes}}\n", "SW106", "in quotes"),
    (marked.at_top("‸version: 1"), "SW103", "line 1"),
    (marked.at_top("‸threads: [8, 8]"), "SW102", "put it under `defaults`, or in a region"),
    (marked.at_top("‸regions: {r: }"), "SW102", "put it in an entry of `sources`"),
    (marked.at_top("‸arch: sw26010"), "SW102", "did you mean `machine`?"),
    (marked.at_top("machine: ‸sw26010pro"), "SW107", "did you mean `sw26010-pro`?"),
    (marked.at_top("machine: ‸x86"), "SW107", "known: "),
    (marked.at_top("machine: ‸26010"), "SW105", "in quotes"),
    (marked.at_top("minimum-swbuild: ‸0.1"), "SW105", "in quotes"),
    (marked.at_top("minimum-swbuild: ‸'new'"), "SW107", "as in '0.1'"),
    (marked.at_top("defaults: ‸classic"), "SW105", "a mapping"),
    (marked.at_top("defaults:‸ "), "SW105", "not nothing"),
    (marked.at_top("defaults: {‸label: a}"), "SW102", "`defaults` has no key"),
    (marked.at_top("defaults: {‸seed: 3}"), "SW102", "put it under `check`"),
    (marked.at_top("‸[a, b]: 3"), "SW105", "a word"),
    (marked.at_top("defaults: ‸!opts {}"), "SW106", "remove it"),
    (marked.at_top("defaults: ‸&a {check: *a}"), "SW101", "alias"),
    (marked.at_top("defaults: ‸*nowhere"), "SW101", "anchor"),
    (marked.at_top("defaults:\n‸\tthreads: [8, 8]"), "SW101", "spaces"),
    (marked.at_top("defaults: {threads: [8, 8‸}"), "SW101", "close the list"),
    (marked.at_top("a: b‸: c"), "SW101", "indentation"),
]


def _ids(cases: list[tuple[str, str, str]]) -> list[str]:
    return [case[0].replace(marked.MARK, "").strip()[-40:].replace("\n", "/") or "empty" for case in cases]


def _check(text: str, codes: str, words: str) -> None:
    plain, places = marked.unmark(text)
    with pytest.raises(SwbuildError) as caught:
        load_text(plain, "m.yaml")
    found = caught.value.diagnostics
    assert [diagnostic.code for diagnostic in found] == codes.split(), str(caught.value)
    if places:
        where = [(diagnostic.span.line, diagnostic.span.column) for diagnostic in found]
        assert sorted(set(where)) == sorted(set(places)), str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(("option", "codes", "words"), OPTIONS, ids=_ids(OPTIONS))
def test_option(option: str, codes: str, words: str) -> None:
    _check(marked.in_region(option), codes, words)


@pytest.mark.parametrize(("text", "codes", "words"), MANIFESTS, ids=_ids(MANIFESTS))
def test_manifest(text: str, codes: str, words: str) -> None:
    _check(text, codes, words)


def test_all_mistakes_at_once_in_order() -> None:
    text = marked.in_region("threads: 8:8\n        tile: 3\n        fusion: on\n        check: {seed: x}")
    with pytest.raises(SwbuildError) as caught:
        load_text(text, "m.yaml")
    spans = [diagnostic.span for diagnostic in caught.value.diagnostics]
    assert [span.line for span in spans] == [6, 7, 8, 9]
    assert spans == sorted(spans)


def test_unknown_keys_always_come_with_a_hint() -> None:
    for option, codes, _ in OPTIONS:
        if "SW102" in codes:
            with pytest.raises(SwbuildError) as caught:
                load_text(marked.unmark(marked.in_region(option))[0], "m.yaml")
            assert all(diagnostic.hint for diagnostic in caught.value.diagnostics)


DEEP = {
    "flow": "x-a: " + "[" * 5000 + "]" * 5000,
    "never_closed": "x-a: " + "{b: " * 5000,
    "block": "\n".join(f"{' ' * level}x-a:" for level in range(3000)),
    "sequence": "x-a:\n" + "- " * 5000 + "b",
}


@pytest.mark.parametrize("name", DEEP)
def test_text_that_nests_too_deeply_has_a_place(name: str) -> None:
    with pytest.raises(SwbuildError) as caught:
        load_text(DEEP[name], "m.yaml")
    (found,) = caught.value.diagnostics
    assert found.code == "SW101" and "nest too deeply" in found.message
    assert found.span.line > 100 or found.span.column > 100


LAUGHS = "x-0: &a0 [b, b, b, b, b, b, b, b, b, b]\n" + "".join(
    f"x-{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 10)
)
UNFIT = {
    "aliases": (LAUGHS + "version: 1\nsources: *a9\n", "aliases grow without end"),
    "nothing": ('version: 1\nsources:\n  - file: ‸"a\\0b.c"\n', "'\\x00' is not allowed"),
    "bell": ('version: 1\nsources:\n  - file: ‸"a\\x07b.c"\n', "'\\x07' is not allowed"),
    "half_a_letter": ('version: 1\nsources:\n  - file: ‸"\\ud800.c"\n', "'\\ud800' is not allowed"),
    "key": (f'version: 1\nsources: [a.c]\n‸"x-{chr(92)}0": 1\n', "'\\x00' is not allowed"),
    "digits": (marked.in_region("params: {n: ‸" + "9" * 5000 + "}"), "a text of 5000 letters"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_scalars_that_nothing_can_hold(name: str) -> None:
    text, words = UNFIT[name]
    plain, places = marked.unmark(text)
    with pytest.raises(SwbuildError) as caught:
        load_text(plain, "m.yaml")
    first = min(caught.value.diagnostics, key=lambda d: d.code)
    assert first.code == "SW101" and words in first.message
    assert not places or (first.span.line, first.span.column) == places[0]
