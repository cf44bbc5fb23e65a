"""Program level: what a whole program prints, writes and returns is compared, and that it was offloaded."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from emulated import HOST, SLAVE, make_emulated

from swbuild.check import CheckSettings, Outcome, Tolerance
from swbuild.check import program as module
from swbuild.check.program import ProgramResult, ProgramTask, check_program
from swbuild.frontend.request import CppOptions
from swbuild.options import KernelOptions, Where

MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include "shape.h"
struct box { double *w; int n; };
extern double total;
void smooth(int n, int m, double A[n][m], double B[n][m], struct box *s);
void elsewhere(double *last) { printf("last %.17g\\n", *last); }
int main(int argc, char **argv)
{
    static double A[ROWS][COLUMNS], B[ROWS][COLUMNS], w[COLUMNS];
    struct box s = { w, COLUMNS };
    FILE *out = fopen("result.txt", "w"), *in = fopen("start.txt", "r");
    double start = 0;
    if (!in || fscanf(in, "%lf", &start) != 1)
        return 9;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            A[i][j] = start + i * 0.37 + j / 7.0;
    smooth(ROWS, COLUMNS, A, B, &s);
    for (int i = 0; i < ROWS; i++)
        fprintf(out, "%.17g\\n", B[i][COLUMNS - 1]);
    fclose(out);
    fprintf(stderr, "total %.17g\\n", total);
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""

#: The generated host file of a program holds the user's function with the call in place of the region.
CALLER = """
#include <stdlib.h>
struct box { double *w; int n; };
double total;
extern void elsewhere(double *);
void smooth(int n, int m, double A[n][m], double B[n][m], struct box *s)
{
    double last = 0.0;
    if (sw_smooth(n, m, &A[0][0], &B[0][0], s->w, &total, &last))
        abort();
    elsewhere(&last);
}
"""


def run(
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    slave: str = SLAVE,
    host: str = HOST,
    main: str = MAIN,
    tolerance: Tolerance | None = None,
    **task: object,
) -> ProgramResult:
    model, unit = make_emulated(directory, slave, host + CALLER)
    text = Path(model.path).read_text().replace("int main(void) { return 3; }\n", "")
    Path(model.path).write_text(text)
    (directory / "shape.h").write_text("#define ROWS 9\n")
    (directory / "start.txt").write_text("1.5\n")
    (directory / "main.c").write_text(main)
    found = (module.Offloaded(Path(model.path), unit),)
    monkeypatch.setattr(module, "generate_program", lambda task: found)
    program = ProgramTask(
        (Path(model.path), directory / "main.c"),
        CppOptions((str(directory),), ("COLUMNS=41",)),
        inputs=(directory / "start.txt",),
    )
    program = dataclasses.replace(program, **task)  # type: ignore[arg-type]
    if tolerance:
        program = dataclasses.replace(program, tolerance=tolerance)
    return check_program(program, CheckSettings(timeout=20.0))


def test_program_passes_with_the_same_exit_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(tmp_path, monkeypatch, arguments=("5",))
    assert result.outcome is Outcome.PASS, result.message
    assert [(r.mode, r.counts.spawns) for r in result.runs] == [("late", 1), ("eager", 1)]


def test_wrong_output_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slave = SLAVE.replace("+ w[k];", "+ w[k] + (i == 3) * 1e-12;")
    result = run(tmp_path, monkeypatch, slave)
    assert result.outcome is Outcome.MISMATCH
    names = {difference.name: difference for difference in result.runs[0].differences}
    assert set(names) == {"result.txt", "standard error"}
    assert names["result.txt"].line == 4


def test_tolerance_forgives_small_differences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slave = SLAVE.replace("+ w[k];", "+ w[k] + (i == 3) * 1e-12;")
    result = run(tmp_path, monkeypatch, slave, tolerance=Tolerance(relative=1e-9))
    assert result.outcome is Outcome.PASS, result.message


def test_different_exit_status_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(tmp_path, monkeypatch, host=HOST.replace("    return 0;\n}", "    exit(1);\n}", 1))
    assert result.outcome is Outcome.MISMATCH
    assert "exit status 1, serial 0" in result.message


def test_crash_shows_the_emulators_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(tmp_path, monkeypatch, SLAVE.replace("g->B + i", "(double *)0 + i"))
    assert result.outcome is Outcome.CRASH
    assert "smooth.slave.c" in result.message


def test_program_that_offloads_nothing_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = HOST.replace("    athread_spawn(smooth_k0, &a);\n    athread_join();\n", "    (void)a;\n")
    host = host.replace(
        "*sum +=", "B[i * m + j] = FACTOR * (A[i * m + j - 1] + A[i * m + j]) + w[j]; *sum +="
    )
    result = run(tmp_path, monkeypatch, host=host)
    assert result.outcome is Outcome.NOT_OFFLOADED


TWICE = """\
#include <stdio.h>
double a[400];
void scale(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2.0 * a[i] + i;
#pragma endscop
}
int main(void) {
  scale(400);
  printf("%a %a\\n", a[1], a[399]);
  return 0;
}
"""


def test_where_the_host_is_faster_kernels_run_and_then_the_program_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "twice.c").write_text(TWICE)
    task = ProgramTask((tmp_path / "twice.c",), default_options=KernelOptions(where=Where.AUTO))
    result = check_program(task, CheckSettings(modes=("late", "eager"), timeout=20.0))
    assert result.outcome is Outcome.PASS, result.message
    runs = [(run.mode, run.counts.spawns) for run in result.runs]
    assert runs == [("late", 1), ("eager", 1), ("late, as generated", None)]


def test_a_mistake_only_of_the_program_as_generated_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "twice.c").write_text(TWICE)
    generate = module.generate_program

    def wrong(task: ProgramTask) -> tuple[module.Offloaded, ...]:
        (found,) = generate(task)
        if task.default_options.where is not Where.AUTO:
            return (found,)
        host = dataclasses.replace(found.unit.host, text=found.unit.host.text.replace("+ i;", "- i;"))
        return (dataclasses.replace(found, unit=dataclasses.replace(found.unit, host=host)),)

    monkeypatch.setattr(module, "generate_program", wrong)
    task = ProgramTask((tmp_path / "twice.c",), default_options=KernelOptions(where=Where.AUTO))
    result = check_program(task, CheckSettings(modes=("late",), timeout=20.0))
    assert [run.outcome for run in result.runs] == [Outcome.PASS, Outcome.MISMATCH]
    assert result.outcome is Outcome.MISMATCH and "as generated" in result.message


def test_missing_source_is_the_users_error(tmp_path: Path) -> None:
    result = check_program(ProgramTask((tmp_path / "nowhere.c",)), CheckSettings())
    assert result.outcome is Outcome.USER_ERROR
    assert "SW503" in result.message


def test_a_program_without_kernels_says_the_same_in_checked_mode(tmp_path: Path) -> None:
    source = tmp_path / "alone.c"
    loop = "#pragma scop\n    for (int i = 0; i < 10; i++)\n        s = 3 * s + i;\n#pragma endscop\n"
    source.write_text(
        "#include <stdio.h>\nint main(void)\n{\n    int s = 0;\n"
        f'{loop}    printf("%d\\n", s);\n    return 0;\n}}\n'
    )
    result = check_program(ProgramTask((source,)), CheckSettings(modes=("checked",), timeout=20.0))
    assert result.outcome is Outcome.SKIP, result.message
