"""Assembly files: right programs say nothing and give their results in every mode; faulty ones are named
with code and line in checked mode.

A file in ``assembly/correct`` defines a function of its own name; its first line says what it leaves in y.
One in ``assembly/faults`` says which code is expected; the guilty line is marked HERE.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emulator_programs import call, compile_role, environment_for, launch

FOLDER = Path(__file__).parent / "assembly"
CORRECT = sorted((FOLDER / "correct").glob("*.S"))
FAULTS = sorted((FOLDER / "faults").glob("*.S"))
PROGRAMS = [*CORRECT, *FAULTS]
MODES = ("eager", "late", "random", "checked")


def value(path: Path) -> str:
    """Return the C expression for y[i] on CPE ``me``; x is the value of x[i]."""
    found = re.match(r"/\* y = (.*)", path.read_text())
    return found[1] if found else "x"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build one program of them all, and return its folder."""
    folder = tmp_path_factory.mktemp("assembly")
    lines = [f"PROGRAM({k}, {path.stem}, {value(path)})\n" for k, path in enumerate(PROGRAMS)]
    (folder / "programs.h").write_text("".join(lines))
    (folder / "harness.c").write_text((FOLDER / "harness.c").read_text())
    environment = environment_for("sw26010", SWBUILD_EMU_COUNTED_CODE="1")
    for role in ("host", "slave"):
        done = compile_role("sw26010", role, folder / "harness.c", folder / f"{role}.o")
        assert not done.status, done.err
    for path in PROGRAMS:
        (folder / path.name).write_text(path.read_text())
    (folder / "descriptor.h").write_text((FOLDER / "faults" / "descriptor.h").read_text())
    done = call(["sh", "-ec", "ls *.S | xargs -n 8 -P 2 sw5cc -slave -c"], folder, environment, 600)
    assert not done.status, done.err
    done = call(["sh", "-c", "sw5cc -hybrid *.o -o app"], folder, environment)
    assert not done.status, done.err
    return folder


@pytest.mark.parametrize("path", CORRECT, ids=lambda path: path.stem)
def test_correct_programs_give_their_results_in_every_mode(path: Path, app: Path) -> None:
    number = str(PROGRAMS.index(path))
    for mode in MODES:
        done = launch("sw26010", app, mode, [number])
        assert (done.status, done.out, done.err) == (0, "", ""), mode
    trace = app / f"{path.stem}.trace"
    done = launch("sw26010", app, "eager", [number], SWBUILD_EMU_TRACE=str(trace))
    assert (done.status, done.out) == (0, ""), done.err


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.stem)
def test_faults_are_named_at_their_line(path: Path, app: Path) -> None:
    text = path.read_text()
    expected = re.match(r"/\* expect (SW\d+)(?: exit (\d+))?", text)
    line = next(k for k, row in enumerate(text.splitlines(), 1) if "/* HERE */" in row)
    assert expected
    done = launch("sw26010", app, "checked", [str(PROGRAMS.index(path)), "faulty"])
    assert f"{path.name}:{line}: error[{expected[1]}]" in done.err
    assert done.status == int(expected[2] or 86)


def test_what_is_not_known_is_refused_all_at_once(tmp_path: Path) -> None:
    lines = ["\t.globl f", "f:", "\tfrobnicate $1, $2", "\taddw $1, $2", "\tbeq $1, nowhere.1"]
    lines += ["\t.macro m", "\tret"]
    (tmp_path / "a.s").write_text("\n".join(lines) + "\n")
    done = call(["sw5cc", "-slave", "-c", "a.s"], tmp_path, environment_for("sw26010"))
    assert re.findall(r"a\.s:(\d+): error\[SW601\]", done.err) == ["3", "4", "5", "6"]
    assert "frobnicate" in done.err
    assert done.status == 1


LOOSE = """
#ifdef SLAVE
#include <slave.h>
double mixed();
__thread_local double x[4] __attribute__((aligned(32)));
void work(double *out)
{
    x[1] = 2.5f;
    signed char third = -3;
    out[_MYID] = mixed(x, third, 4.0f, 5000000000L, &out[1],
                       'a', 2 * 3.5, (short)-8, 1u);
}
#else
#include <athread.h>
#include <stdio.h>
extern void SLAVE_FUN(work)(double *);
static double out[64];
int main(void)
{
    athread_init();
    athread_spawn(work, out);
    athread_join();
    printf("%.1f\\n", out[63]);
}
#endif
"""
MIXED = """
	.globl	mixed
mixed:
	fldd	$1, 8($16)	/* 2.5 */
	fcvtld	$17, $2		/* -3 */
	faddd	$1, $2, $1
	faddd	$1, $18, $1	/* 4 */
	fldd	$2, 0($30)	/* 7, the seventh */
	faddd	$1, $2, $1
	ldl	$3, 8($30)	/* -8 */
	ldl	$4, 16($30)	/* 1 */
	addl	$3, $4, $3
	addl	$3, $19, $3
	addl	$3, $21, $3	/* 97 */
	fcvtld	$3, $3
	faddd	$1, $3, $0
	ret
"""


def test_arguments_of_calls_without_a_declaration_arrive(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(LOOSE)
    (tmp_path / "k.S").write_text(MIXED)
    environment = environment_for("sw26010")
    for words in (
        ["sw5cc", "-host", "-c", "a.c", "-o", "h.o"],
        ["sw5cc", "-slave", "-DSLAVE", "-c", "a.c", "-o", "s.o"],
        ["sw5cc", "-slave", "-c", "k.S"],
        ["sw5cc", "-hybrid", "h.o", "s.o", "k.o", "-o", "app"],
    ):
        done = call(words, tmp_path, environment)
        assert not done.status, done.err
    for mode in ("eager", "checked"):
        done = launch("sw26010", tmp_path, mode)
        assert (done.out, done.err) == ("5000000100.5\n", "")


def test_functions_that_nobody_declares_are_refused_when_they_are_called(tmp_path: Path) -> None:
    lines = ["\t.globl f", "f:", "\tbsr $26, unheard_of", "\tret"]
    (tmp_path / "a.s").write_text("\n".join(lines) + "\n")
    (tmp_path / "h.c").write_text("int main(void) { return 0; }\n")
    done = call(["sw5cc", "-slave", "-c", "a.s"], tmp_path, environment_for("sw26010"))
    assert not done.status, done.err
    done = call(["sw5cc", "-hybrid", "h.c", "a.o"], tmp_path, environment_for("sw26010"))
    assert "a.s:3: error[SW601]: 'unheard_of' is called, and no C file says what" in done.err
    assert done.status == 1


HOST = """
	.section .rodata, "a", "progbits"
.Ltext:	.asciz	"%d %s %.1f %ld %g %c %5.2f|\\n"
.Lword:	.asciz	"word"
	.text
	.globl	main
	.ent	main
main:
	ldi	$sp, -64($sp)
	stl	$26, 32($sp)
	ldl	$16, .Ltext($gp)	!literal
	mov	-7, $17
	ldl	$18, .Lword($gp)	!literal
	ldi	$1, 1024($31)
	sll	$1, 52, $1
	ifmovd	$1, $f19		/* 2.0 */
	mov	99, $20
	ifmovd	$1, $f21
	mov	65, $2
	stl	$2, 0($sp)
	stl	$1, 8($sp)
	ldl	$27, printf($gp)	!literal
	call	$26, ($27), printf
	mov	$31, $0
	ldl	$26, 32($sp)
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
	.end	main
"""


def test_a_host_program_of_assembly_prints(tmp_path: Path) -> None:
    (tmp_path / "m.s").write_text(HOST.replace("/* 2.0 */", "# 2.0"))
    (tmp_path / "n.s").write_text(HOST.replace("/* 2.0 */", "# 2.0").replace("printf", "__nldbl_printf"))
    for name in ("m.s", "n.s"):
        done = call(["sw5cc", "-host", name, "-o", "app"], tmp_path, environment_for("sw26010"))
        assert not done.status, done.err
        assert call(["./app"], tmp_path, {}).out == "-7 word 2.0 99 2 A  2.00|\n"
