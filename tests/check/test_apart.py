"""Regions of one file are neighbours, no more: what is wrong with one is not said of the others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import swbuild.generate
import swbuild.region
from swbuild.check import CheckSettings, Outcome, RegionCheck, RegionResult, SourceTask, check_sources
from swbuild.cli import app
from swbuild.cli.exits import Exit
from swbuild.frontend import modeller
from swbuild.options import KernelOptions

LOOP = "    for (int i = 0; i < n; i++)\n        x[i] = y[i] + 1;\n"
HEAD = "(int n, double *restrict x, double *restrict y)\n{\n#pragma scop\n"
QUICK = CheckSettings(modes=("eager",), jobs=1, timeout=5.0)


def function(name: str, loop: str = LOOP, head: str = HEAD) -> str:
    return f"void {name}{head}{loop}#pragma endscop\n}}\n"


def checked(directory: Path, text: str, **given: Any) -> Mapping[str, RegionResult]:
    path = directory / "file.c"
    path.write_text(text)
    settings = given.pop("settings", QUICK)
    task = SourceTask(path, default_check=RegionCheck(({"n": 40},)), **given)
    return {result.region: result for result in check_sources([task], settings)}


OVERLAP = HEAD.replace("double *restrict x", "int *p, double *x").replace("*restrict y", "*y")
DATA = "    for (int i = 0; i < n; i++)\n        x[p[i]] = y[i];\n"
ENDLESS = """\
    for (int i = 0; i < n; i++) {
        while (y[i] > -1e300)
            y[i] = 2;
        x[i] = y[i];
    }
"""


def test_one_that_is_refused_late_or_does_not_end(tmp_path: Path) -> None:
    text = function("good") + function("overlap", DATA, OVERLAP) + function("endless", ENDLESS)
    found = checked(tmp_path, text, settings=CheckSettings(modes=("eager",), jobs=1, timeout=1.0))
    assert {name: result.outcome for name, result in found.items()} == {
        "good": Outcome.PASS,
        "overlap": Outcome.USER_ERROR,
        "endless": Outcome.USER_ERROR,
    }
    assert "SW301" in found["overlap"].message and "region 'overlap'" in found["overlap"].message
    assert "SW502" in found["endless"].message


def test_one_whose_tiles_do_not_fit(tmp_path: Path) -> None:
    options = {"tight": KernelOptions(tile=(100000,))}
    found = checked(tmp_path, function("good") + function("tight"), options=options)
    assert found["good"].outcome is Outcome.PASS
    assert found["tight"].outcome is Outcome.USER_ERROR and "SW302" in found["tight"].message


@pytest.mark.parametrize("stage", ["front end", "generator"])
def test_a_defect_in_one(stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(first: Any, *others: Any) -> Any:
        scop = first if stage == "front end" else first.scop
        if "bad" in (getattr(scop, "name", ""), getattr(getattr(scop, "region", None), "name", "")):
            raise KeyError("what")
        return original(first, *others)

    owner, name = (modeller._Modeller, "scop") if stage == "front end" else (swbuild.region, "attempted")
    original = getattr(owner, name)
    monkeypatch.setattr(owner, name, broken)
    found = checked(tmp_path, function("good") + function("bad"))
    assert found["good"].outcome is Outcome.PASS
    assert found["bad"].outcome is Outcome.INFRA
    assert "error[SW490]: internal error in region 'bad': KeyError" in found["bad"].message
    assert app.run(["generate", str(tmp_path / "file.c"), "-o", str(tmp_path), "-q"]) == Exit.INTERNAL


def spoiled(monkeypatch: pytest.MonkeyPatch, names: set[str]) -> None:
    """Make slave files that hold all these regions ones that do not compile."""
    original = swbuild.generate.slave_lines

    def lines(regions: Any, *given: str) -> list[str]:
        wrong = names <= {region.scop.name for region in regions}
        return [*original(regions, *given), *(["#error spoiled"] if wrong else [])]

    monkeypatch.setattr(swbuild.generate, "slave_lines", lines)


def test_one_whose_code_does_not_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoiled(monkeypatch, {"bad"})
    found = checked(tmp_path, function("good") + function("bad"))
    assert {name: result.outcome for name, result in found.items()} == {
        "good": Outcome.PASS,
        "bad": Outcome.INFRA,
    }
    assert "SW402" in found["bad"].message


def test_two_that_do_not_compile_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoiled(monkeypatch, {"one", "two"})
    found = checked(tmp_path, function("one") + function("two"))
    assert {name: result.outcome for name, result in found.items()} == {
        "one": Outcome.PASS,
        "two": Outcome.PASS,
        "file": Outcome.INFRA,
    }


def test_a_file_that_the_compiler_refuses_is_the_users(tmp_path: Path) -> None:
    found = checked(tmp_path, function("good") + "int wrong(void) { return nothing; }\n")
    assert found["good"].outcome is Outcome.USER_ERROR
    assert "file.c:8:26: error[SW202]" in found["good"].message


def test_what_is_refused_late_may_be_left_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file.c"
    path.write_text(function("good") + function("overlap", DATA, OVERLAP))
    given = ["generate", str(path), "-o", str(tmp_path), "-q"]
    assert app.run(given) == Exit.USER_ERROR and not list(tmp_path.glob("file.*.c"))
    assert app.run([*given, "--allow-refused"]) == Exit.OK
    assert capfd.readouterr().err.count("region 'overlap'") == 2
    host = (tmp_path / "file.host.c").read_text()
    assert "sw_good(" in host and "sw_overlap(" not in host and DATA in host
    assert app.run(["explain", str(path)]) == Exit.OK
    assert "overlap" in capfd.readouterr().out


REGISTERS = """\
struct pair { double a, b; };
void kernel(register int n, register double *restrict x)
{
    register struct pair s = {1, 2};
    register double t = 3;
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = s.a + t;
    s.b = 4;
#pragma endscop
    x[0] = s.b;
}
"""


def test_register_variables(tmp_path: Path) -> None:
    found = checked(tmp_path, REGISTERS)
    assert found["kernel"].outcome is Outcome.PASS, found["kernel"].message


def test_names_of_any_encoding(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "d\udce9 x"
    directory.mkdir()
    (directory / "h\udcfc.h").write_bytes(b"/* \xe9 */\n#define ONE 1\n")
    path = directory / "caf\udce9.c"
    loop = LOOP.replace("+ 1", "+ ONE /* \udce9 */")
    path.write_bytes(f'#include "h\udcfc.h"\n{function("good", loop)}'.encode("utf-8", "surrogateescape"))
    settings = CheckSettings(modes=("eager",), jobs=1, keep=tmp_path / "k\udce9")
    (result,) = check_sources([SourceTask(path, default_check=RegionCheck(({"n": 40},)))], settings)
    assert result.outcome is Outcome.PASS, result.message
    assert app.run(["generate", str(path), "-o", str(directory), "-q"]) == Exit.OK
    assert app.run(["init", str(path), "-o", str(tmp_path / "m.yaml")]) == Exit.USER_ERROR
    assert "is not UTF-8" in capfd.readouterr().err and not (tmp_path / "m.yaml").exists()
