"""Constants have the values that the compiler gives them, or none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pycparser import c_ast, c_parser

from swbuild.files import encoded
from swbuild.frontend.constants import integer_constant

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
