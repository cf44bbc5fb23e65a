"""Elements of less than 4 bytes, as of images and texts, are moved in whole words of memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from generation import generated
from turns import dealt

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, RegionRequest, read_source
from swbuild.memory.buffers import Store
from swbuild.memory.words import WORD, is_small
from swbuild.options import KernelOptions, Where

#: functions by name: parameters, body, and sizes to check them at
FUNCTIONS = {
    # rows of constant length; what is written begins in the middle of a word
    "blur": (
        "int h, const unsigned char a[restrict h][132], unsigned char b[restrict h][132]",
        """for (int i = 1; i < h - 1; i++)
        for (int j = 1; j < 131; j++)
            b[i][j] = (unsigned char)((a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j]
                                       + a[i + 1][j]) / 5);""",
        ({"h": 2}, {"h": 3}, {"h": 71}),
    ),
    # rows of a length that is promised
    "contrast": (
        "int h, int w, unsigned char a[restrict h][4 * w], float b[restrict h][4 * w]",
        """for (int i = 0; i < h; i++)
        for (int j = 0; j < 4 * w; j++) {
            a[i][j] = 255 - a[i][j];
            b[i][j] = 0.5f * a[i][j];
        }""",
        ({"h": 1, "w": 1}, {"h": 7, "w": 9}, {"h": 70, "w": 33}),
    ),
    # one dimension, no whole words: read to the end of the last one, written by the host
    "threshold": (
        "int n, const short a[restrict n], const signed char b[restrict n], int c[restrict n]",
        """for (int i = 0; i < n; i++)
        c[i] = a[i] > 3 * b[i] ? a[i] : -b[i];""",
        ({"n": 1}, {"n": 2}, {"n": 67}, {"n": 5003}),
    ),
    # one dimension in whole words
    "halved": (
        "int n, const short a[restrict 2 * n], short b[restrict 2 * n]",
        """for (int i = 0; i < 2 * n; i++)
        b[i] = (short)(a[i] / 2);""",
        ({"n": 1}, {"n": 33}, {"n": 4001}),
    ),
    # pixels of three bytes
    "grey": (
        "int h, const unsigned char rgb[restrict h][68][3], unsigned char g[restrict h][68]",
        """for (int i = 0; i < h; i++)
        for (int j = 0; j < 68; j++)
            g[i][j] = (unsigned char)((77 * rgb[i][j][0] + 151 * rgb[i][j][1] + 28 * rgb[i][j][2]) >> 8);""",
        ({"h": 1}, {"h": 70}),
    ),
    "tinted": (
        "int h, unsigned char rgb[restrict h][64][3], const unsigned char t[restrict 3]",
        """for (int i = 0; i < h; i++)
        for (int j = 0; j < 64; j++)
            for (int c = 0; c < 3; c++)
                rgb[i][j][c] = (unsigned char)((rgb[i][j][c] * t[c]) >> 8);""",
        ({"h": 1}, {"h": 33}),
    ),
    # whole words of three rows of three bytes would reach far beyond the end
    "cube": (
        "int n, const unsigned char c[restrict 3][3][3], int b[restrict n]",
        """for (int i = 0; i < n; i++)
        b[i] = c[i % 3][1][1] + c[2][2][2];""",
        ({"n": 1}, {"n": 100}),
    ),
    # a table for what the data say, and one for what they lie between
    "lookup": (
        "int h, const unsigned char a[restrict h][64], int b[restrict h][64]",
        """for (int i = 0; i < h; i++)
        for (int j = 0; j < 64; j++)
            b[i][j] = levels[a[i][j]] - levels[255 - a[i][j]];""",
        ({"h": 1}, {"h": 70}),
    ),
    "interpolated": (
        "int n, const float x[restrict n], float y[restrict n]",
        """for (int i = 0; i < n; i++) {
        float s = x[i] < 0.0f ? -x[i] : x[i];
        int k = s < 1.0f ? (int)(s * 64.0f) : 0;
        y[i] = curve[k] + (s * 64.0f - k) * (curve[k + 1] - curve[k]);
    }""",
        ({"n": 1}, {"n": 1009}),
    ),
    # arrays of the region's own, which would lie anywhere on the stack
    "own": (
        "int n, const int a[restrict n], int b[restrict n], int c[restrict n]",
        """unsigned char pad[3], t[101];
    pad[0] = 1;
    for (int i = 0; i < 101; i++)
        t[i] = (unsigned char)(3 * i);
    for (int i = 0; i < n; i++)
        b[i] = a[i] + t[i % 101] + pad[0];
    for (int i = 0; i < n; i++)
        c[i] = b[i] - t[(i + 7) % 101];""",
        ({"n": 1}, {"n": 1009}),
    ),
    # gaps in words that another tile puts back are read
    "beside": (
        "int h, unsigned char a[restrict h][128]",
        """for (int i = 0; i < h; i++)
        for (int j = 1; j < 64; j++)
            a[i][2 * j] = (unsigned char)(a[i][2 * j] + a[i][2 * j - 1]);""",
        ({"h": 1}, {"h": 33}),
    ),
    # every second pixel of every second row
    "shrunk": (
        "int h, const unsigned char a[restrict 2 * h][128], unsigned char b[restrict h][64]",
        """for (int i = 0; i < h; i++)
        for (int j = 0; j < 64; j++)
            b[i][j] = (unsigned char)((a[2 * i][2 * j] + a[2 * i + 1][2 * j] + a[2 * i][2 * j + 1]
                                       + a[2 * i + 1][2 * j + 1]) >> 2);""",
        ({"h": 1}, {"h": 35}),
    ),
    # columns that begin between two words: tiles of them share words
    "shifted": (
        "int h, const unsigned char a[restrict h][132], unsigned char b[restrict h][132]",
        """for (int i = 0; i < h; i++)
        for (int j = 1; j < 132; j++)
            b[i][j - 1] = a[i][j];""",
        ({"h": 1}, {"h": 3}, {"h": 70}),
    ),
    # written here and there
    "marked": (
        "int n, const int a[restrict n][n], unsigned char b[restrict n][128]",
        """for (int i = 0; i < n; i++)
        for (int j = i; j < n; j += 3)
            if (a[i][j] > 0)
                b[i][j] = 1;""",
        ({"n": 1}, {"n": 70}, {"n": 128}),
    ),
    # texts: read in the order of diagonals
    "alignment": (
        "int n, int m, const char s[restrict n], const char t[restrict m], int d[restrict n + 1][m + 1]",
        """for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int both = d[i - 1][j - 1] + (s[i - 1] == t[j - 1] ? 2 : -1);
            int one = d[i - 1][j] > d[i][j - 1] ? d[i - 1][j] - 1 : d[i][j - 1] - 1;
            d[i][j] = both > one ? both : one;
        }""",
        ({"n": 1, "m": 1}, {"n": 5, "m": 70}, {"n": 131, "m": 97}),
    ),
    # a variable of one byte is each CPE's own
    "quantised": (
        "int n, const float a[restrict n], int b[restrict n]",
        """for (int i = 0; i < n; i++) {
        unsigned char q = a[i] > 0.0f ? (unsigned char)(100.0f * a[i]) : 0;
        b[i] = q * q + q;
    }""",
        ({"n": 1}, {"n": 1009}),
    ),
    # one row after the other, in place
    "eroded": (
        "int h, int steps, unsigned char a[restrict h][64], unsigned char b[restrict h][64]",
        """for (int t = 0; t < steps; t++) {
        for (int i = 1; i < h - 1; i++)
            for (int j = 1; j < 63; j++)
                b[i][j] = a[i - 1][j] < a[i + 1][j] ? a[i - 1][j] : a[i + 1][j];
        for (int i = 1; i < h - 1; i++)
            for (int j = 1; j < 63; j++)
                a[i][j] = b[i][j - 1] < b[i][j + 1] ? b[i][j - 1] : b[i][j + 1];
    }""",
        ({"h": 2, "steps": 1}, {"h": 37, "steps": 3}),
    ),
}


def _program(names: Iterable[str]) -> str:
    return "short levels[256];\nfloat curve[65];\n" + "\n".join(
        f"void {name}({parameters})\n{{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n"
        for name, (parameters, body, _) in ((name, FUNCTIONS[name]) for name in names)
    )


PROGRAM = _program(FUNCTIONS)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "small.c"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def _results(source: Path, *requests: RegionRequest) -> dict[str, RegionResult]:
    model = read_source(source, CppOptions(), requests or None)
    found = compile_regions(model, {scop.name: KernelOptions(where=Where.CPES) for scop in model.scops})
    return {each.scop.name: each.result for each in found if isinstance(each.result, RegionResult)}


def test_they_have_buffers_and_go_back_in_whole_words(source: Path) -> None:
    results = _results(source)
    for name in FUNCTIONS.keys() - {"cube", "own"}:
        (place,) = results[name].placed
        assert not place.plan.direct, name
        for buffer in place.plan.buffers:
            scop = results[name].assembled.code.scop
            if is_small(scop.array(buffer.array)):
                assert buffer.store in (Store.NONE, Store.BOX), name
                assert buffer.bytes % WORD == 0, name


def test_words_that_reach_far_beyond_an_array_are_not_moved(source: Path) -> None:
    (place,) = _results(source)["cube"].placed
    assert {direct.array for direct in place.plan.direct} == {"c"}


def test_tables_are_in_the_ldm_unless_they_are_large_or_callers_may_pass_more(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    text = (
        "{own}\nvoid f(int n, const int a[restrict n], {passed}int b[restrict n])\n{{\n"
        "#pragma scop\nfor (int i = 0; i < n; i++) b[i] = t[a[i]];\n#pragma endscop\n}}\n"
    )
    for own, passed, direct in (
        ("int t[2048];", "", 0),
        ("int t[2049];", "", 1),
        ("", "const int t[restrict 64], ", 1),
    ):
        path.write_text(text.format(own=own, passed=passed))
        (result,) = _results(path).values()
        assert [len(place.plan.direct) for place in result.placed] == [direct], (own, passed)
    for stated, direct in (("64", 0), ("65", 1)):  # the last one is not what the function declares
        (result,) = _results(path, RegionRequest("f", "f", arrays={"t": (stated,)})).values()
        assert [len(place.plan.direct) for place in result.placed] == [direct], stated


def test_rows_are_promised_to_be_words_where_that_saves_far_more_than_it_loses(tmp_path: Path) -> None:
    """A product of small integers is some hundred times faster with its operands in the LDM."""
    path = tmp_path / "p.c"
    path.write_text(
        "void f(int n, const signed char a[restrict n][n], const signed char b[restrict n][n],"
        " int c[restrict n][n])\n{\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
        " c[i][j] += a[i][k] * b[k][j];\n#pragma endscop\n}\n"
    )
    model = read_source(path, CppOptions(), None)
    for where, text in ((Where.AUTO, "n % 4 == 0"), (Where.CPES, "")):
        (found,) = compile_regions(model, {"f": KernelOptions(where=where)})
        assert isinstance(found.result, RegionResult)
        assert found.result.assembled.code.scop.whole_words == text


def test_tiles_that_begin_between_two_words_are_whole_rows(source: Path) -> None:
    (place,) = _results(source)["shifted"].placed
    assert place.tiled.sizes[1] >= 132


def test_what_cpes_would_share_words_of_stays_on_the_host(tmp_path: Path) -> None:
    """Nobody knows where the array ends, or who else has bytes in the word before the first one."""
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, const int *restrict a, char *restrict b)\n{\n#pragma scop\n"
        "for (int i = 1; i < n; i++) b[i] = (char)a[i];\n#pragma endscop\n}\n"
    )
    (result,) = _results(path).values()
    assert not result.placed


def test_sizes_at_which_rows_are_no_whole_words_are_left_to_the_host(tmp_path: Path) -> None:
    """So are arrays that begin between two words; the entry says which, and a note says when."""
    text = (
        "void f(int h, int w, const int a[restrict h][w], unsigned char b[restrict h][w])\n{\n#pragma scop\n"
        "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) b[i][j] = (unsigned char)a[i][j];\n"
        "#pragma endscop\n}\n"
    )
    unit = generated(tmp_path, text, KernelOptions(where=Where.CPES))
    (region,) = unit.regions
    assert region.refusals[0] == "!(w % 4 == 0) holds"
    assert region.refusals[-1] == "'b' is not aligned to 4 bytes"
    (note,) = region.report["notes"]
    assert note["code"] == "SW324" and "unless w % 4 == 0" in note["message"]
    assert unit.slave is not None and "athread_put" in unit.slave.text


@pytest.mark.parametrize(
    ("machine", "mode", "names"), dealt(FUNCTIONS, ("sw26010", "late"), ("sw26010-pro", "checked"))
)
def test_results_are_right(machine: str, mode: str, names: list[str], tmp_path: Path) -> None:
    source = tmp_path / "some.c"
    source.write_text(_program(names), encoding="utf-8")
    task = SourceTask(
        source,
        default_options=KernelOptions(machine=machine, where=Where.CPES),
        checks={name: RegionCheck(FUNCTIONS[name][2]) for name in names},
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=(mode,)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(names)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
