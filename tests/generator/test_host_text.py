"""What becomes of the user's text outside of the regions: every byte of it, and what directives mean."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from swbuild.check import CheckSettings, Outcome
from swbuild.check.program import ProgramTask, check_program
from swbuild.emulator import toolchain_dir
from swbuild.files import write_pieces, write_text, write_texts
from swbuild.frontend import CppOptions, read_source
from swbuild.generate import generate_unit

REGION = b"#pragma scop\n    for (int i = 0; i < n; i++)\n        x[i] = %s;\n#pragma endscop\n"
FUNCTION = b"void f(int n, double *x)\n{\n" + REGION % b"1" + b"    x[0] = 2;\n}\n"


def host_file(directory: Path, text: bytes) -> Path:
    """Write the host file of ``text`` and return it; the machine's compiler must take it."""
    path = directory / "region.c"
    path.write_bytes(text)
    unit = generate_unit(read_source(path, CppOptions(), None), {})
    assert unit.slave is not None
    for file in (unit.header, unit.host, unit.slave):
        write_text(directory / file.name, file.text)
    compiler = toolchain_dir("sw26010-pro") / "sw9gcc"
    host = directory / unit.host.name
    flags = ["-mhost", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
    command = [str(compiler), *flags, "-c", str(host), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return host


ODD = {
    "latin1": b'/* caf\xe9 \xff */\nconst char *s = "\xfc";\n' + FUNCTION,
    "latin1_in_region": FUNCTION.replace(b"= 1;", b"= 1; /* \xe9 */"),
    "windows": FUNCTION.replace(b"\n", b"\r\n"),
    "form_feed": b"\f\n\v\n" + FUNCTION + b"\f",
    "separators": b"/* \xc2\x85 \xe2\x80\xa8 \x1c */\n" + FUNCTION,
    "no_last_line_end": FUNCTION.rstrip(b"\n"),
    "byte_order_mark": b"\xef\xbb\xbf" + FUNCTION,
}


@pytest.mark.parametrize("name", ODD)
def test_bytes_outside_of_regions_are_kept(name: str, tmp_path: Path) -> None:
    text = ODD[name]
    host = host_file(tmp_path, text).read_bytes()
    mark = b"\xef\xbb\xbf"
    assert host.count(mark) == text.count(mark) and host.startswith(mark) == text.startswith(mark)
    before, after = text.removeprefix(mark).split(b"#pragma scop")[0], text.split(b"endscop")[1]
    assert before in host and after.lstrip(b"\r\n") in host


FOR = "    for (int i = 0; i < n; i++)\n"
DECLARED = {
    "counter": ("register int i;", "for (i = 0; i < n; i++)\n        x[i] = 1;", "x[0] = i;"),
    "sum": ("register float s = 1;", FOR + "x[i] = s;\ns = 2;", "x[0] = s;"),
    "member": ("register struct { double a; } s = {1};", FOR + "x[i] = s.a;\ns.a = 2;", "x[0] = s.a;"),
    "pointer": ("register double *p = x;", FOR + "p[i] = 1;", ""),
    "pinned": ('register double s asm("xmm5") = 1;', FOR + "x[i] = s;", ""),
    "asserted": ("", '_Static_assert(1, "");\n' + FOR + "x[i] = 1;", ""),
    "aligned": ("_Alignas(32) double a[9] = {[2] = 1};", FOR + "x[i] = a[i % 9];", ""),
    "constant": ("const double c = n;", FOR + "x[i] = c;", ""),
}


@pytest.mark.parametrize("name", DECLARED)
def test_declarations_of_every_kind_compile_where_the_users_do(name: str, tmp_path: Path) -> None:
    before, region, after = DECLARED[name]
    text = f"void f(int n, double *x)\n{{\n{before}\n#pragma scop\n{region}\n#pragma endscop\n{after}\n}}\n"
    host = host_file(tmp_path, text.encode())
    assert "/* runs on the core group" in host.read_text()


REGISTERS = """\
#include <stdio.h>
int main(void)
{
    register double s = 0.5;
    register int i;
    double x[100];
#pragma scop
    for (i = 0; i < 90; i += 7)
        x[i] = i;
    s = 2.5;
#pragma endscop
    printf("%g %d %g\\n", s, i, x[84]);
    return 0;
}
"""


def test_register_variables_have_their_values_behind_the_region(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(REGISTERS)
    result = check_program(ProgramTask((tmp_path / "p.c",)), CheckSettings(modes=("late",)))
    assert result.outcome is Outcome.PASS, result.message
    assert result.regions[0].kernels


def test_lines_are_counted_as_the_user_says(tmp_path: Path) -> None:
    again = FUNCTION.replace(b"f(", b"g(")
    lines = host_file(tmp_path, b'#line 100 "x.y"\n' + FUNCTION + b"# 7\n" + again).read_text().splitlines()
    behind = [lines[k - 1] for k, line in enumerate(lines) if line == "    x[0] = 2;"]
    assert behind == ['#line 106 "x.y"', '#line 13 "region.c"']


def test_directives_of_a_region_hold_behind_it(tmp_path: Path) -> None:
    changed = b"#define C 1\n" + FUNCTION.replace(
        b"#pragma scop\n", b"#pragma scop\n#undef C\n#define C 7\n"
    ).replace(b"x[0] = 2;", b"enum { IS = C };")
    host = host_file(tmp_path, changed)
    headers = toolchain_dir("sw26010").parents[1] / "include"
    command = ["gcc", "-E", "-P", "-I", str(headers), str(host)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "enum { IS = 7 };" in done.stdout


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    write_texts({pipe: "whole", tmp_path / "file": "beside"})
    reader.join(10)
    assert found == ["whole"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert (tmp_path / "file").read_text() == "beside"


def test_who_reads_a_file_that_is_written_again_sees_one_of_the_two(tmp_path: Path) -> None:
    path = tmp_path / "inputs.bin"
    write_pieces(path, [b"old", b"er"])
    with path.open("rb") as reader:
        write_pieces(path, [b"new"])
        assert reader.read() == b"older"
    assert path.read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["inputs.bin"]
