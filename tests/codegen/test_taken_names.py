"""Programs with names of the generated code, the machines and the libraries compute what they always did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from generation import generated
from turns import in_turn

from swbuild.check import CheckSettings, Outcome
from swbuild.check.program import ProgramTask, check_program
from swbuild.diagnostics import SwbuildError
from swbuild.frontend.request import CppOptions
from swbuild.machine import machine_names
from swbuild.machine.reserved import is_machine_name
from swbuild.options import Fusion, KernelOptions, Preset

GOLDEN = Path(__file__).parent / "golden"

#: variables of the function, of which each name becomes one
PARTS = ("n", "m", "w", "A", "B", "i", "j")

REGION = """\
void {function}(int n, int m, double w, double A[restrict n][m], double B[restrict n][m])
{{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      B[i][j] = w * A[i][j - 1] + {help}(A[i][j], i) + {constant};
#pragma endscop
}}
"""

MAIN = """\
#include <stdio.h>
{prototypes}
static double from[9][70], to[9][70];
static double sum(void)
{{
  double s = 0;
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 70; j++) {{
      s = s * 0.75 + to[i][j];
      to[i][j] = j;
      from[i][j] = i * 0.5 + j;
    }}
  return s;
}}
int main(void)
{{
  sum();
{calls}
  return 0;
}}
"""

#: what else a name may be, at file scope
FILE_ROLES = (
    "static double {name}(double v, int by) {{ return v + by; }}",
    "enum {{ {name} = 5 }};",
    "#define {name} 3",
    "#define {name}(a) ((a) * 2)",
    "struct {name} {{ double rest; }};",
    "struct part_{number} {{ double {name}; }};",
    "static double {name}[3];\ndouble *use_{number}(void) {{ return {name}; }}",
)

KEYWORDS = """const define double else endif extern for if ifndef include int line long restrict return sizeof
    static struct undef union void volatile while __attribute__ __thread_local"""
OTHERS = """args sw_args sw_if0 sw_c0 errno I printf memcpy main index abs exists mod min MAX floor infty not
    new _my_id _MYID row reply tile S0 p0 RPCC scope slave_f0_k0 f0_k0 sw_f0 f1_k0_h0 f0_k0_args SW_PART_A"""


def emitted_names() -> list[str]:
    """Return the identifiers of the golden files, and more of that kind."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.txt")))
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r'(?s)/\*.*?\*/|"[^"\n]*"', "", text))
    return sorted({*words, *OTHERS.split()} - set(KEYWORDS.split()))


def main_program(functions: Sequence[str]) -> str:
    """Return a program that calls the regions' functions and prints what they compute."""
    prototypes = [f"void {name}(int, int, double, void *, void *);" for name in functions]
    calls = [f'  {name}(9, 70, 1.5, from, to);\n  printf("{name} %.17g\\n", sum());' for name in functions]
    return MAIN.format(prototypes="\n".join(prototypes), calls="\n".join(calls))


def is_right(directory: Path, text: str, machine: str) -> None:
    functions = re.findall(r"^void (f\d+)\(", text, re.MULTILINE)
    (directory / "taken.c").write_text(text, encoding="utf-8")
    (directory / "main.c").write_text(main_program(functions), encoding="utf-8")
    cpp = CppOptions(defines=("count=3", "tiles=x"))
    options = KernelOptions(machine=machine, reassociate=True)
    task = ProgramTask((directory / "taken.c", directory / "main.c"), cpp, default_options=options)
    result = check_program(task, CheckSettings(timeout=60.0, modes=("late",)))
    assert result.outcome is Outcome.PASS, result.message
    assert all(region.kernels for region in result.regions)


def renamed(text: str, names: Sequence[str]) -> str:
    """Return ``text`` with its variables called ``names`` in their order."""
    new = dict(zip(PARTS, names, strict=False))
    return re.sub(rf"\b(?:{'|'.join(PARTS)})\b", lambda found: new.get(found[0], found[0]), text)


@pytest.mark.parametrize("machine", in_turn(machine_names()))
def test_variables_may_have_any_name(tmp_path: Path, machine: str) -> None:
    names = [name for name in emitted_names() if name not in PARTS]
    start = 0 if machine == "sw26010" else 3  # other variables have the same names there
    names = names[start:] + names[:start]
    regions = []
    for number, first in enumerate(range(0, len(names), len(PARTS))):
        text = REGION.format(function=f"f{number}", help="", constant=number)
        regions.append(renamed(text, names[first : first + len(PARTS)]))
    is_right(tmp_path, "\n".join(regions), machine)


@pytest.mark.parametrize("turn", range(len(FILE_ROLES)))
def test_the_rest_of_a_file_may_have_any_name(tmp_path: Path, turn: int) -> None:
    used = (*PARTS, "main", "f0", "f1")
    names = [name for name in emitted_names() if not is_machine_name(name) and name not in used]
    roles = [FILE_ROLES[(number + turn) % len(FILE_ROLES)] for number in range(len(names))]
    pairs = enumerate(zip(names, roles, strict=True))
    lines = [role.format(name=name, number=number) for number, (name, role) in pairs]
    function, constant = (names[roles.index(role)] for role in FILE_ROLES[:2])
    lines += [REGION.format(function="f0", help=function, constant=constant)]
    lines += [REGION.format(function="f1", help="", constant=1).replace("B[i][j] =", "B[0][0] +=")]
    is_right(tmp_path, "\n".join(lines), "sw26010-pro" if turn % 2 else "sw26010")


@pytest.mark.parametrize("declared", ["int athread_join(void) { return 1; }", "int _MYID;", "char _ROW;"])
def test_what_the_machine_declares_is_refused_at_its_place(tmp_path: Path, declared: str) -> None:
    text = f"{declared}\n" + REGION.format(function="f", help="", constant=1)
    with pytest.raises(SwbuildError) as caught:
        generated(tmp_path, text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line) == ("SW304", 1)


def test_two_static_functions_of_one_name(tmp_path: Path) -> None:
    region = REGION.format(function="f", help="", constant=1).replace("void", "static void", 1)
    call = "void {0}(int n, int m, double w, double (*A)[m], double (*B)[m]) {{ f(n, m, w, A, B); }}\n"
    for name, constant in (("f0", "1"), ("f1", "2")):
        text = region.replace("+ 1;", f"+ {constant};") + call.format(name)
        (tmp_path / f"{name}.c").write_text(text, encoding="utf-8")
    (tmp_path / "main.c").write_text(main_program(["f0", "f1"]), encoding="utf-8")
    task = ProgramTask(tuple(tmp_path / f"{name}.c" for name in ("f0", "f1", "main")))
    result = check_program(task, CheckSettings(timeout=60.0, modes=("late",)))
    assert result.outcome is Outcome.PASS, result.message
    assert len({kernel for region in result.regions for kernel in region.kernels}) == 2


def test_names_with_dollar_signs(tmp_path: Path) -> None:
    names = {"n": "n$", "A": "$A", "i": "i$1", "j": "$", "w": "n_"}
    text = REGION.format(function="g$", help="h$", constant=1)
    for part, name in names.items():
        text = re.sub(rf"\b{part}\b", lambda _, name=name: name, text)
    head = "static double h$(double v, int by) { return v + by; }\n"
    call = "void f0(int n, int m, double w, double (*A)[m], double (*B)[m]) { g$(n, m, w, A, B); }\n"
    (tmp_path / "taken.c").write_text(head + text + call, encoding="utf-8")
    (tmp_path / "main.c").write_text(main_program(["f0"]), encoding="utf-8")
    result = check_program(
        ProgramTask((tmp_path / "taken.c", tmp_path / "main.c")), CheckSettings(modes=("late",))
    )
    assert result.outcome is Outcome.PASS, result.message
    assert all(region.kernels for region in result.regions)


def test_a_counter_named_like_the_bound_of_a_buffer(tmp_path: Path) -> None:
    text = """\
void f0(int n, int m, double w, double A[n][m], double B[n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      w = 0.5 * w + j;
  for (int B_lo0 = 0; B_lo0 < n - 1; B_lo0++)
    for (int j = 0; j < m - 3; j++) {
      B[B_lo0 + 1][j + 3] = (33 - B[B_lo0][j]) * 0.25;
      B[B_lo0][j + 3] = 0.5 * w;
    }
#pragma endscop
}
"""
    (tmp_path / "taken.c").write_text(text, encoding="utf-8")
    (tmp_path / "main.c").write_text(main_program(["f0"]), encoding="utf-8")
    options = KernelOptions(threads=(4, 8), tile=(8, 2), fusion=Fusion.MAX, preset=Preset.CLASSIC)
    task = ProgramTask((tmp_path / "taken.c", tmp_path / "main.c"), default_options=options)
    result = check_program(task, CheckSettings(modes=("late",)))
    assert result.outcome is Outcome.PASS, result.message
    assert len(result.regions[0].kernels) == 1  # in waves, with a counter of tiles and one of iterations
