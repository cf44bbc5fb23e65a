"""``generate``, ``explain`` and ``init`` on small files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from swbuild.manifest import load_text

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SOURCE = """\
#include "size.h"

void scale(int n, double factor, double x[restrict N])
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = factor * x[i];
#pragma endscop
}

void add(int n, double a[restrict N], double b[restrict N])
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] += b[i];
#pragma endscop
}
"""

MANIFEST = """\
version: 1
sources:
  - file: work.c
    regions:
      scale: {tile: [16]}
      plus: {function: add}
defaults: {where: cpes}  # 1024 elements are few
"""

NAMES = ["work.host.c", "work.report.json", "work.slave.c", "work.sw.h"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "work.c").write_text(SOURCE)
    (tmp_path / "size.h").write_text("#define N 1024\n")
    (tmp_path / "sunway.yaml").write_text(MANIFEST)
    return tmp_path


def test_files_and_depfile(swbuild: Run, project: Path) -> None:
    empty = {"XDG_CACHE_HOME": str(project / "cache")}
    done = swbuild("generate", "sunway.yaml", "-o", "out", "--depfile", "out/work.d", "--timings", **empty)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (project / "out").iterdir()) == sorted([*NAMES, "work.d"])
    lines = done.stderr.splitlines()
    stages = [line[: -len(line.lstrip())] + line.split()[0] if line[:1] == " " else line.split("  ")[0]
              for line in lines]  # fmt: skip
    assert {"  preprocess", "  parse", "  model", "  probe", "  dependences", "  schedule", "  loops"} <= {
        *stages
    }
    assert stages.index("front end") < stages.index("  model") < stages.index("  schedule")
    assert ["compiler", "runs", "2"] in [line.split() for line in lines]
    rule = (project / "out/work.d").read_text()
    targets, _, needed = rule.partition(":")
    assert sorted(targets.split()) == [f"out/{name}" for name in NAMES]
    words = needed.replace("\\\n", " ").split()
    names = [os.path.basename(word) for word in words]
    assert {"sunway.yaml", "work.c", "size.h", "sw26010.yaml", "generate.py", "loader.py"} <= set(names)
    for word in words:
        assert (project / word).exists(), word
    report = json.loads((project / "out/work.report.json").read_text())
    assert [region["region"] for region in report["regions"]] == ["scale", "plus"]
    assert report["regions"][0]["kernels"]


def test_make_reads_the_depfile(swbuild: Run, project: Path) -> None:
    spaced = project / "a b#c"
    spaced.mkdir()
    for name in ("work.c", "size.h", "sunway.yaml"):
        (project / name).rename(spaced / name)
    arguments = ("generate", "a b#c/sunway.yaml", "-o", "out", "--depfile", "out/d")
    assert swbuild(*arguments, "--depfile-target", "stamp").returncode == 0
    (project / "Makefile").write_text("stamp:\n\ttouch stamp\ninclude out/d\n")

    def make() -> str:
        return subprocess.run(
            ["make", "-s", "-d"], cwd=project, capture_output=True, text=True, check=True
        ).stdout

    assert "Must remake target 'stamp'" in make()
    assert "No need to remake target 'stamp'" in make()
    later = os.stat(project / "stamp").st_mtime + 5
    os.utime(spaced / "size.h", (later, later))
    assert "Must remake target 'stamp'" in make()


def test_unchanged_files_keep_their_time(swbuild: Run, project: Path) -> None:
    swbuild("generate", "sunway.yaml", "-o", "out")
    host = project / "out/work.host.c"
    os.utime(host, (1, 1))
    assert "(unchanged)" in swbuild("generate", "sunway.yaml", "-o", "out").stdout
    assert host.stat().st_mtime == 1
    swbuild("generate", "sunway.yaml", "-o", "out", "--touch")
    assert host.stat().st_mtime > 1
    text = host.read_text()
    host.write_text(f"{text}other")
    assert f"out/{host.name}\n" in swbuild("generate", "sunway.yaml", "-o", "out").stdout
    assert host.read_text() == text


def test_bytes_do_not_depend_on_hashes_or_directories(swbuild: Run, project: Path) -> None:
    for number in range(3):
        assert (
            swbuild("generate", "sunway.yaml", "-o", f"out{number}", PYTHONHASHSEED=str(number)).returncode
            == 0
        )
    assert swbuild("generate", project / "sunway.yaml", "-o", "out3").returncode == 0
    for name in NAMES:
        texts = {(project / f"out{number}" / name).read_bytes() for number in range(4)}
        assert len(texts) == 1
        assert str(project).encode() not in texts.pop()


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (("work.c", "x[i] = factor", "x[i] = (factor"), "work.c:"),
        (("work.c", "i < n; i++)\n        x", "i < n * n; i++)\n        x"), "work.c:6:"),
        (("work.c", "#pragma endscop\n}\n\nvoid add", "}\n\nvoid add"), "work.c:5:"),
        (("sunway.yaml", "tile: [16]", "tile: 16"), "sunway.yaml:5:21: error[SW105]"),
        (("sunway.yaml", "function: add", "function: ad"), "error[SW2"),
    ],
)
def test_mistakes_leave_nothing_behind(
    swbuild: Run, project: Path, break_it: tuple[str, str, str], words: str
) -> None:
    name, old, new = break_it
    path = project / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    done = swbuild("generate", "sunway.yaml", "-o", "out", "--depfile", "d")
    assert done.returncode == 2
    assert words in done.stderr
    assert not (project / "out").exists()
    assert not (project / "d").exists()


def test_output_that_cannot_be_written(swbuild: Run, project: Path) -> None:
    (project / "out").write_text("a file")
    done = swbuild("generate", "sunway.yaml", "-o", "out")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2,
        "out: error[SW113]: cannot write: File exists",
    )


def test_a_file_without_a_manifest_and_one_region_of_it(swbuild: Run, project: Path) -> None:
    done = swbuild("generate", "work.c", "-o", "out", "-k", "add", "-q")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    report = json.loads((project / "out/work.report.json").read_text())
    assert [region["region"] for region in report["regions"]] == ["add"]
    done = swbuild("generate", "work.c", "-o", "out", "-k", "ad")
    assert (done.returncode, "did you mean `add`?" in done.stderr) == (2, True)


def test_options_reach_the_code(swbuild: Run, project: Path) -> None:
    arguments = (
        "--machine",
        "sw26010-pro",
        "--threads",
        "1x64",
        "--tile",
        "8",
        "-p",
        "n=100",
        "--where",
        "cpes",
    )
    done = swbuild("generate", "work.c", "-o", "out", "-k", "add", *arguments)
    assert done.returncode == 0, done.stderr
    report = json.loads((project / "out/work.report.json").read_text())
    assert report["machine"] == "sw26010-pro"
    region = report["regions"][0]
    assert region["kernels"][0]["tile"] == [8]
    assert "athread_dma" in (project / "out/work.slave.c").read_text()


def test_explain(swbuild: Run, project: Path) -> None:
    done = swbuild("explain", "sunway.yaml", "-v")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["region", "scale"] in lines
    assert ["tile:", "16"] in lines
    assert any(line[:3] == ["x", "x", "double"] for line in lines)
    reports = json.loads(swbuild("explain", "sunway.yaml", "--json").stdout)
    assert reports[0]["source"] == "work.c"


def test_explain_says_why_a_loop_is_sequential(swbuild: Run, project: Path) -> None:
    path = project / "work.c"
    path.write_text(
        path.read_text().replace("a[i] += b[i]", "a[i] = a[i - 1] + b[i]").replace("i = 0", "i = 1")
    )
    done = swbuild("explain", "work.c", "-k", "add", "-v")
    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    place = lines.index("i (line 14): sequential")
    assert lines[place + 1].startswith("line 15 writes a, which line 15 reads")
    assert "no kernel, all of it stays on the host" in done.stdout


def test_init_writes_a_manifest_that_works(swbuild: Run, project: Path) -> None:
    done = swbuild("init", "work.c")
    assert done.returncode == 0, done.stderr
    manifest = load_text(done.stdout, "m.yaml")
    assert list(manifest.sources[0].regions or {}) == ["scale", "add"]
    (project / "new.yaml").write_text(done.stdout)
    assert swbuild("generate", "new.yaml", "-o", "out", "-q").returncode == 0


def test_init_does_not_overwrite(swbuild: Run, project: Path) -> None:
    before = (project / "sunway.yaml").read_text()
    done = swbuild("init", "work.c", "-o", "sunway.yaml")
    assert (done.returncode, (project / "sunway.yaml").read_text()) == (2, before)
    assert "SW113" in done.stderr
    assert swbuild("init", "work.c", "-o", "sub.yaml", "-D", "X=1").returncode == 0
    assert load_text((project / "sub.yaml").read_text(), "m").defines == ("X=1",)


def test_init_several_regions_in_a_function(swbuild: Run, project: Path) -> None:
    region = "#pragma scop\n for (int i = 0; i < n; i++) x[i] = i;\n#pragma endscop\n"
    labelled = region.replace("scop\n for", "scop last\n for")
    (project / "two.c").write_text(f"void f(int n, double x[n])\n{{\n{region}{region}{labelled}}}\n")
    done = swbuild("init", "two.c", "-o", "two.yaml")
    assert done.returncode == 0, done.stderr
    regions = load_text((project / "two.yaml").read_text(), "two.yaml").sources[0].regions or {}
    assert [(item.function, item.label, item.index) for item in regions.values()] == [
        ("f", None, 0),
        ("f", None, 1),
        (None, "last", None),
    ]
    assert swbuild("generate", "two.yaml", "-o", "out", "-q").returncode == 0


def test_init_says_what_stays_on_the_host(swbuild: Run, project: Path) -> None:
    (project / "odd.c").write_text(
        "void f(int n, double x[n])\n{\n#pragma scop\n    while (n--) x[n] = 0;\n#pragma endscop\n}\n"
    )
    done = swbuild("init", "odd.c")
    assert "# f, line 3, stays on the host:" in done.stdout
    assert "odd.c:4:" in done.stderr


def test_errno_of_functions_in_kernels(swbuild: Run, tmp_path: Path) -> None:
    loop = "#pragma scop\nfor (int i = 0; i < n; i++) x[i] = {} + floor(i);\n#pragma endscop\n"
    text = (
        "#include <math.h>\nstatic double root(double v) { return sqrt(v); }\n"
        f"void f(int n, double *restrict x) {{\n{loop.format('root(x[i]) + logf(i)')}}}\n"
        f"void g(int n, double *restrict x) {{\n{loop.format('fabs(x[i])')}}}\n"
    )
    (tmp_path / "quiet.c").write_text(text)
    (tmp_path / "loud.c").write_text(f"#include <errno.h>\n{text}int failed(void) {{ return errno; }}\n")
    quiet = swbuild("generate", "quiet.c", "-o", "out", cwd=tmp_path)
    loud = swbuild("generate", "loud.c", "-o", "out", cwd=tmp_path)
    assert "errno" not in quiet.stderr and quiet.returncode == loud.returncode == 0
    assert (
        "loud.c:5:1: note[SW303]: the host's errno is not set by logf, sqrt in the kernels of 'f'"
        in loud.stderr
    )
    assert "kernels of 'g'" not in loud.stderr
    report = json.loads((tmp_path / "out/quiet.report.json").read_text())
    assert [region["sets_errno"] for region in report["regions"]] == [["logf", "sqrt"], []]


def test_check_writes_its_results_for_programs(swbuild: Run, project: Path) -> None:
    done = swbuild(
        "check", "work.c", "-q", "-p", "n=70", "--dma", "late", "--json", "-", "--junit", "out.xml"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {region["outcome"] for region in found["regions"]} == {"pass"}
    assert all(region["coverage"]["missed"] for region in found["regions"])
    assert (project / "out.xml").read_text().startswith("<?xml")
    assert swbuild("check", "--program", "work.c", "--json", "x.json").returncode == 2


def test_files_of_the_users_are_not_overwritten(swbuild: Run, project: Path) -> None:
    (project / "work.host.c").write_text("int mine;\n")
    done = swbuild("generate", "work.c", "-o", ".")
    assert done.returncode == 2
    assert "work.host.c: error[SW113]" in done.stderr
    assert (project / "work.host.c").read_text() == "int mine;\n"
    assert not (project / "work.sw.h").exists()


@pytest.mark.parametrize("name", ["work", 'qu"ote', "back\\slash", "two\nlines"])
def test_names_that_leave_none_for_the_header(swbuild: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "work.sw.h").write_text("#define N 5\n")
    source = SOURCE.replace('"size.h"', '"work.sw.h"' if name == "work" else "<stddef.h>\n#define N 5")
    (tmp_path / f"{name}.c").write_text(source)
    done = swbuild("generate", f"{name}.c", "-o", "out")
    assert (done.returncode, "error[SW208]" in done.stderr) == (2, True)


@pytest.mark.parametrize("folder", ['qu"ote', "back\\slash", "two\nlines", "a b", "d$x%", "it's", "é"])
def test_folders_of_any_name(swbuild: Run, tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "size.h").write_text("#define N 50\n")
    (tmp_path / folder / "work.c").write_text(SOURCE)
    done = swbuild("generate", f"{folder}/work.c", "-o", f"{folder}/out", "--where", "cpes")
    assert done.returncode == 0, done.stderr
    assert "SLAVE_FUN(add_k0)" in (tmp_path / folder / "out" / "work.host.c").read_text()
