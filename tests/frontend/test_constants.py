"""Constants have the values that the compiler gives them, or none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pycparser import c_ast, c_parser

from swbuild.expressions.types import INT, ULONG
from swbuild.files import encoded
from swbuild.frontend.constants import cut, floating, integer_constant
from swbuild.frontend.whole_bounds import with_whole_bounds

KNOWN = (
    *("'a'", r"'\''", "'\"'", r"'\"'", r"'\?'", r"'\e'", r"'\a'", r"'\0'", r"'\7'", r"'\101'", r"'\x7f'"),
    *(r"'\x0'", r"'\\'", "07", "0x1fUL", "0b101", "0", "18446744073709551615u", "4294967296"),
)
UNKNOWN = (
    *(r"'\377'", r"'\400'", r"'\x41b'", r"'\x80'", "'ab'", r"'\na'", "'abcd'", "'\udce9'", "'\u00e9'"),
    *(r"'\u00e9'", "L'a'", "u8'a'", "u'a'", "18446744073709551616", "1.0", "1.0f"),
)


def constant(text: str) -> c_ast.Constant:
    return c_parser.CParser().parse(f"long v = {text};").ext[0].init


def test_values_are_those_of_the_compiler(tmp_path: Path) -> None:
    program = "#include <stdio.h>\nint main(void)\n{\n%s    return 0;\n}\n"
    lines = "".join(f'    printf("%ld\\n", (long)({text}));\n' for text in KNOWN)
    (tmp_path / "v.c").write_bytes(encoded(program % lines))
    subprocess.run(["gcc", "-w", "-o", tmp_path / "v", tmp_path / "v.c"], check=True)
    said = subprocess.run([tmp_path / "v"], capture_output=True, text=True, check=True).stdout.split()
    found = [known.value if (known := integer_constant(constant(text))) else None for text in KNOWN]
    wrapped = [None if value is None else (value + 2**63) % 2**64 - 2**63 for value in found]
    assert dict(zip(KNOWN, wrapped, strict=True)) == dict(zip(KNOWN, map(int, said), strict=True))


@pytest.mark.parametrize("text", UNKNOWN)
def test_other_constants_have_no_value(text: str) -> None:
    assert integer_constant(constant(text)) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1e3", 1000.0), (".5", 0.5), ("0x1p-1", 0.5), ("-(2.5 + 1)", -3.5)),
        *(("1e2 / 8 - 1", 11.5), ("3 * 0.1", 3 * 0.1)),
        *((text, None) for text in ("1", "1e3f", "1.0L", "1 + 2", "v + 1e3", "1.0 / 0", "1e999", "1.0 < 2")),
    ],
)  # fmt: skip
def test_constants_of_type_double(text: str, value: float | None) -> None:
    assert floating(constant(text)) == value


@pytest.mark.parametrize(
    ("text", "in_place"),
    [
        *(("i < 2.5", "i < 3"), ("i <= 2.5", "i <= 2"), ("i > 2.5", "i > 2"), ("i >= 2.5", "i >= 3")),
        *(("2.5 > i", "3 > i"), ("2.5 >= i", "2 >= i"), ("2.5 < i", "2 < i"), ("2.5 <= i", "3 <= i")),
        *(("i < 1e10", "i < 10000000000"), ("i > 0.0", "i > 0")),
        ("i < 9007199254740991.0", "i < 9007199254740991"),
        *((text, text) for text in ("i != 2.0", "i < -1.0", "i < 9007199254740992.0", "i < 1e1f", "i < n")),
    ],
)  # fmt: skip
def test_integers_take_the_place_of_bounds_of_type_double(text: str, in_place: str) -> None:
    found, wanted = with_whole_bounds(constant(text)), constant(in_place)
    for side in ("left", "right"):
        made, right = getattr(found, side), getattr(wanted, side)
        assert type(made) is type(right)
        if isinstance(made, c_ast.Constant):
            assert made.value == right.value


def test_constants_of_type_double_are_cut_to_integers() -> None:
    assert [found and found.value for found in (cut(constant("2.9"), INT), cut(constant("-2.9"), INT))] == [
        2,
        -2,
    ]
    assert cut(constant("1e10"), INT) is None and cut(constant("-1e0"), ULONG) is None
