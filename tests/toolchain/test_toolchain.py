"""Compilers, flags and launchers: what is called, what a site can change, and what failures say."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.toolchain import (
    CompileStep,
    Job,
    Overrides,
    Role,
    Target,
    Toolchain,
    compile_object,
    host_toolchain,
    launcher_for,
    launcher_from_template,
    link,
    overrides_from_environment,
    run,
    toolchain_for,
    undefined_symbols,
)

_BSUB = "bsub -b -I -q q9 -n 1 -cgsp 64 -host_stack 1024 -share_size 4096 -cache_size 0 -J swbuild"


def node(machine: str, **overrides: object) -> Toolchain:
    return toolchain_for(Target.NODE, machine, Overrides(**overrides))  # type: ignore[arg-type]


def stand_in(directory: Path, name: str, script: str) -> Path:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("machine", "role", "driver", "flags"),
    [
        ("sw26010", Role.HOST, "sw5cc", {"-host"}),
        ("sw26010", Role.SLAVE, "sw5cc", {"-slave", "-msimd"}),
        ("sw26010", Role.LINK, "sw5cc", {"-hybrid"}),
        ("sw26010-pro", Role.HOST, "swgcc", {"-mhost"}),
        ("sw26010-pro", Role.SLAVE, "swgcc", {"-mslave", "-msimd"}),
        ("sw26010-pro", Role.LINK, "swgcc", {"-mhybrid"}),
    ],
)
def test_roles_get_the_machines_own_flags(machine: str, role: Role, driver: str, flags: set[str]) -> None:
    command = node(machine).tools[role].command("x.c")
    assert command[0] == driver
    assert flags <= set(command)
    others = {"-host", "-slave", "-hybrid", "-mhost", "-mslave", "-mhybrid"} - flags
    assert not others & set(command)


def test_reference_keeps_every_rounding() -> None:
    flags = {flag.text for flag in host_toolchain().tools[Role.HOST].flags}
    assert "-ffp-contract=off" in flags
    assert not flags & {"-Ofast", "-ffast-math", "-O3"}


def test_a_site_can_replace_and_add_flags() -> None:
    environment = {
        "SWBUILD_HOST_CC": "mpicc -v",
        "SWBUILD_SLAVE_FLAGS": "-mslave -O1 '-DX=a b'",
        "SWBUILD_LINK_EXTRA_FLAGS": "-Wl,-q",
        "SWBUILD_LIBRARIES": "-lslave",
    }
    chosen = toolchain_for(Target.NODE, "sw26010", overrides_from_environment(environment))
    assert chosen.tools[Role.HOST].command("-c")[:3] == ["mpicc", "-v", "-host"]
    assert chosen.tools[Role.SLAVE].command() == ["sw5cc", "-mslave", "-O1", "-DX=a b"]
    assert chosen.tools[Role.LINK].command() == ["sw5cc", "-hybrid", "-Wl,-q"]
    assert chosen.libraries == ("-lslave",)


def test_missing_compiler_is_named_with_a_hint(tmp_path: Path) -> None:
    toolchain = node("sw26010", drivers={Role.HOST: "no-such-compiler"})
    with pytest.raises(SwbuildError) as caught:
        compile_object(toolchain, CompileStep(Role.HOST, tmp_path / "x.c", tmp_path / "x.o"))
    (found,) = caught.value.diagnostics
    assert found.code == "SW401"
    assert "no-such-compiler" in found.message
    assert "compiler module" in found.hint


def test_compile_failure_is_located_and_quotes_the_compiler(tmp_path: Path) -> None:
    source = tmp_path / "bad.c"
    source.write_text("int f(void)\n{\n    return nothing;\n}\n")
    with pytest.raises(SwbuildError) as caught:
        compile_object(host_toolchain(), CompileStep(Role.HOST, source, tmp_path / "bad.o"))
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.file, found.span.line) == ("SW402", str(source), 3)
    assert "nothing" in found.message
    assert f"-c {source}" in found.message


def test_linker_names_what_is_missing(tmp_path: Path) -> None:
    source, output = tmp_path / "main.c", tmp_path / "main.o"
    source.write_text("void b(void); void a(void);\nint main(void) { b(); a(); b(); return 0; }\n")
    compile_object(host_toolchain(), CompileStep(Role.HOST, source, output))
    done = link(host_toolchain(), [output], tmp_path / "main")
    assert done.status
    assert undefined_symbols(done) == ("a", "b")


@pytest.mark.parametrize(
    ("name", "machine", "expected"),
    [
        ("local", "sw26010", ["/x/a.out", "1", "two words"]),
        ("swrun", "sw26010-pro", ["swrun", "-E", "64", "-i", "/x/a.out", "1", "two words"]),
        (
            "bsub",
            "sw26010-pro",
            [*_BSUB.split(), "/x/a.out", "1", "two words"],
        ),
        (
            "mine --exe={exe} -- {args} end",
            "sw26010",
            ["mine", "--exe=/x/a.out", "--", "1", "two words", "end"],
        ),
        ("mine {exe}", "sw26010", ["mine", "/x/a.out", "1", "two words"]),
    ],
)
def test_launchers_fill_their_templates(name: str, machine: str, expected: list[str]) -> None:
    job = Job(Path("/x/a.out"), ("1", "two words"), {"queue": "q9"})
    assert launcher_for(name, machine).command(job) == expected


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("bsub {exe} {queu}", "unknown placeholder {queu}"),
        ("bsub -q {queue}", "{exe} is missing"),
        ("run {exe} '{args} x'", "{args} must be a word"),
        ("run '{exe}", "No closing quotation"),
        ("run {exe", "expected '}'"),
    ],
)
def test_bad_templates_are_refused_when_made(template: str, why: str) -> None:
    with pytest.raises(SwbuildError, match="SW411") as caught:
        launcher_from_template(template)
    assert why in str(caught.value)


def test_unknown_launcher_lists_the_known_ones() -> None:
    with pytest.raises(SwbuildError, match=r"SW410.*\n.*bsub"):
        launcher_for("bsubb", "sw26010")


def test_missing_launcher_is_an_error_of_its_own(tmp_path: Path) -> None:
    launcher = launcher_from_template(f"{tmp_path}/nowhere {{exe}}")
    with pytest.raises(SwbuildError, match="SW412"):
        launcher.start(host_toolchain(), Job(Path("/bin/true")))


def test_path_of_the_toolchain_comes_first(tmp_path: Path) -> None:
    stand_in(tmp_path, "gcc", "echo mine")
    toolchain = Toolchain(Target.HOST, "sw26010", host_toolchain().tools, (), (str(tmp_path),))
    assert run(["gcc"], environment=toolchain.environment()).stdout == "mine\n"


def test_time_limit_ends_the_whole_family(tmp_path: Path) -> None:
    flag = tmp_path / "child-lived"
    script = stand_in(tmp_path, "parent", f"(sleep 1; touch {flag}) &\nsleep 30")
    done = run([str(script)], timeout=0.2)
    assert done.timed_out
    assert done.seconds < 5
    time.sleep(1.2)
    assert not flag.exists()


def test_signals_and_both_streams_are_kept(tmp_path: Path) -> None:
    script = stand_in(tmp_path, "dies", "echo out; echo err >&2; kill -SEGV $$")
    done = run([str(script)], environment=os.environ)
    assert (done.status, done.stdout, done.stderr) == (-11, "out\n", "err\n")
    assert done.output == "out\nerr"


def test_settings_of_emulated_runs_do_not_leak_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CPES", "STACK", "POISON", "COUNTERS", "DMA", "CHECKED_CODE", "CC"):
        monkeypatch.setenv(f"SWBUILD_EMU_{name}", "1")
    monkeypatch.setenv("SWCHK_ADDRESSES", "somewhere")
    found = host_toolchain().environment({"SWBUILD_EMU_DMA": "late"})
    ours = {name: value for name, value in found.items() if name.startswith(("SWBUILD_EMU_", "SWCHK_"))}
    assert ours == {"SWBUILD_EMU_DMA": "late", "SWBUILD_EMU_CC": "1"}


@pytest.mark.parametrize("path", ["", os.defpath], ids=["forked", "setpriv"])
def test_programs_do_not_outlive_who_has_run_them(tmp_path: Path, path: str) -> None:
    """As a child of setpriv where there is one, and without."""
    script = stand_in(tmp_path, "waits", f"echo $$ > {tmp_path}/pid; exec /bin/sleep 60")
    runner = f"from swbuild.toolchain import run; run([{str(script)!r}])"
    process = subprocess.Popen([sys.executable, "-c", runner], env={**os.environ, "PATH": path})
    pid = tmp_path / "pid"
    wait_for(lambda: pid.exists() and pid.read_text().endswith("\n"))
    process.kill()
    process.wait()
    wait_for(lambda: not Path(f"/proc/{pid.read_text().strip()}").exists())


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("tied", [True, False])
def test_what_cannot_be_run_is_the_same_error_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tied: bool
) -> None:
    if not tied:
        monkeypatch.setattr("swbuild.endings._setpriv", lambda: None)
    (tmp_path / "data").write_text("#!/bin/sh\n")
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        run(["no-such-program"])
    with pytest.raises(PermissionError, match="data"):
        run(["./data"], directory=tmp_path)
    stand_in(tmp_path, "found", "echo $#")
    assert run(["./found", "--", "-x"], directory=tmp_path).stdout == "2\n"
    assert run(["found"], environment={"PATH": str(tmp_path)}).stdout == "0\n"
