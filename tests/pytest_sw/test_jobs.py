"""Jobs without a scheduler: templates of both machine generations, the watch, the script and its records."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from acting import interruptible

from swbuild.check.batch import BatchRun, read_records, write_script
from swbuild.diagnostics import SwbuildError
from swbuild.toolchain.launchers import JobEnd, JobRequest, JobState, batch_system_for, run_job
from swbuild.toolchain.launchers.states import state_in
from swbuild.toolchain.launchers.template import PLACEHOLDERS, placeholders, read_template

NONCE = "0123456789abcdef"


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def batch(directory: Path, commands: Sequence[str], limit: float = 30) -> Path:
    """Write a job that runs these shell commands and return its script."""
    runs = [
        BatchRun(Path("/bin/sh"), ("-c", text), limit, directory / f"{i}.log")
        for i, text in enumerate(commands)
    ]
    write_script(directory / "batch.sh", directory / "records", NONCE, runs)
    return directory / "batch.sh"


def request(directory: Path, executable: Path, **changes: object) -> JobRequest:
    records = directory / "records"
    values: dict[str, object] = {
        "executable": executable,
        "directory": directory,
        "started": lambda: read_records(records, NONCE).started,
        "finished": lambda: read_records(records, NONCE).done,
        "queue_timeout": 30.0,
        "run_timeout": 30.0,
        "settings": {**placeholders("sw26010"), "queue": "q_test"},
        "environment": dict(os.environ),
        "poll": 0.05,
        "grace": 0.3,
    }
    return JobRequest(**{**values, **changes})  # type: ignore[arg-type]


class Site:
    """A site whose ``bsub``, ``bjobs`` and ``bkill`` record their calls, and know the job's state."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.log = directory / "calls"
        self.log.touch()
        self.state = directory / "state"
        script(directory / "bkill", f'echo "bkill $*" >>{self.log}; echo EXIT >{self.state}')
        table = "JOBID  USER STAT QUEUE"
        script(
            directory / "bjobs",
            f'echo "bjobs $*" >>{self.log}; echo "{table}"; echo "4711 me $(cat {self.state}) q_test"',
        )

    def bsub(self, body: str, leaves: str = "EXIT") -> None:
        """Let ``bsub`` do this; ``$job`` is the command that it got, ``leaves`` the state afterwards."""
        find = "for word; do case $word in */batch.sh) job=$word ;; esac; done"
        said = "Job <4711> has been submitted to queue <q_test>"
        work = f"echo RUN >{self.state}\n({body})\nstatus=$?\necho {leaves} >{self.state}\nexit $status"
        script(self.directory / "bsub", f'echo "bsub $*" >>{self.log}\n{find}\necho "{said}"\n{work}')

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{self.directory}:{os.environ['PATH']}"}

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    directory = tmp_path / "site"
    directory.mkdir()
    found = Site(directory)
    monkeypatch.setenv("PATH", found.environment()["PATH"])
    return found


def on_lsf(tmp_path: Path, job: Path, machine: str = "sw26010", **changes: object) -> JobEnd:
    return run_job(batch_system_for("bsub", machine), request(tmp_path, job, **changes))


@pytest.mark.parametrize(("machine", "only"), [("sw26010", ""), ("sw26010-pro", " -cache_size 0")])
def test_lsf_gets_the_options_of_each_generation(tmp_path: Path, site: Site, machine: str, only: str) -> None:
    site.bsub("$job")
    job = batch(tmp_path, ["exit 0"])
    end = on_lsf(tmp_path, job, machine)
    assert (end.state, end.job) == (JobState.ENDED, "4711")
    options = f"-I -b -q q_test -n 1 -cgsp 64 -host_stack 1024 -share_size 4096{only} -J swbuild"
    assert site.calls == [f"bsub {options} {job}"]


def test_a_job_that_does_not_start_is_cancelled(tmp_path: Path, site: Site) -> None:
    site.bsub("sleep 60")
    end = on_lsf(tmp_path, batch(tmp_path, ["exit 0"]), queue_timeout=0.5)
    assert end.state is JobState.QUEUE_TIMEOUT
    assert site.calls[1:] == ["bkill 4711"]
    assert end.queue_seconds < 10


def test_waiting_and_running_are_two_clocks(tmp_path: Path, site: Site) -> None:
    site.bsub("sleep 1; $job")
    end = on_lsf(tmp_path, batch(tmp_path, ["sleep 30"]), queue_timeout=20.0, run_timeout=0.5)
    assert end.state is JobState.RUN_TIMEOUT
    assert 1.0 < end.queue_seconds < 15.0 and end.run_seconds >= 0.5
    assert "bkill 4711" in site.calls


def test_a_launcher_that_refuses_is_believed_at_once(tmp_path: Path, site: Site) -> None:
    site.bsub("echo 'Bad share_size'; exit 255")
    end = on_lsf(tmp_path, batch(tmp_path, ["exit 0"]))
    assert end.state is JobState.REFUSED
    assert "status 255" in end.message and "Bad share_size" in end.output


def test_a_launcher_that_claims_success_without_a_job_is_not_believed(tmp_path: Path, site: Site) -> None:
    site.bsub("echo 'Job 4711 has been finished.'")
    assert on_lsf(tmp_path, batch(tmp_path, ["exit 0"])).state is JobState.REFUSED


def test_a_job_that_dies_is_lost_and_what_it_did_is_not(tmp_path: Path, site: Site) -> None:
    site.bsub("$job; exit 1")
    end = on_lsf(tmp_path, batch(tmp_path, ["exit 0", "exit 3", "kill -9 $PPID; sleep 1", "exit 0"]))
    assert end.state is JobState.LOST
    records = read_records(tmp_path / "records", NONCE)
    assert {number: found.status for number, found in (records.ends or {}).items()} == {0: 0, 1: 3}
    assert records.begun == {0, 1, 2} and not records.done


def test_a_job_whose_launcher_went_away_is_watched_by_asking(tmp_path: Path, site: Site) -> None:
    """The connection of ``bsub -I`` breaks; the job is still there, as ``bjobs`` says, and ends well."""
    site.bsub("(sleep 1; $job) >/dev/null 2>&1 & exit 1", leaves="RUN")
    end = on_lsf(tmp_path, batch(tmp_path, ["exit 0"]))
    assert end.state is JobState.ENDED
    assert read_records(tmp_path / "records", NONCE).done
    assert "bjobs 4711" in site.calls and "bkill 4711" not in site.calls


def test_a_job_whose_launcher_went_away_has_a_time_limit(tmp_path: Path, site: Site) -> None:
    site.bsub("$job >/dev/null 2>&1 & sleep 0.5; exit 1", leaves="RUN")
    end = on_lsf(tmp_path, batch(tmp_path, ["sleep 60"], limit=8), run_timeout=1.0)
    assert end.state is JobState.RUN_TIMEOUT
    assert site.calls[-1] == "bkill 4711" and "bjobs 4711" in site.calls


@pytest.mark.parametrize(
    ("leaves", "state"),
    [("EXIT", JobState.LOST), ("ZOMBI", JobState.NODE_LOST), ("nonsense", JobState.LOST)],
)
def test_the_batch_system_knows_how_a_job_ended(
    tmp_path: Path, site: Site, leaves: str, state: JobState
) -> None:
    site.bsub("$job; exit 1", leaves)
    end = on_lsf(tmp_path, batch(tmp_path, ["kill -9 $PPID; sleep 1"]))
    assert end.state is state
    assert "bjobs 4711" in site.calls


def test_an_interrupt_takes_the_job_along(tmp_path: Path, site: Site) -> None:
    site.bsub(f"$job & echo $! >{tmp_path}/pid; wait")
    batch(tmp_path, ["sleep 60"])
    program = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from test_jobs import *
on_lsf(Path({str(tmp_path)!r}), Path({str(tmp_path)!r}) / "batch.sh")
"""
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=interruptible)
    deadline = time.monotonic() + 60
    while not read_records(tmp_path / "records", NONCE).begun:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    assert "bkill 4711" in site.calls
    job = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while _alive(job):
        assert time.monotonic() < deadline, "the job still runs"
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_program_that_never_ends_is_killed_and_the_next_one_runs(tmp_path: Path) -> None:
    job = batch(tmp_path, ["sleep 60", "echo said; exit 5"], limit=1)
    start = time.monotonic()
    subprocess.run([str(job)], check=True, timeout=60)
    assert time.monotonic() - start < 30
    records = read_records(tmp_path / "records", NONCE)
    first, second = records.end(0), records.end(1)
    assert first is not None and first.late and first.status == 137
    assert second is not None and not second.late and second.status == 5
    assert (tmp_path / "1.log").read_text() == "said\n"
    assert records.done


@pytest.mark.skipif(not shutil.which("dash"), reason="dash is not installed")
def test_the_script_needs_no_more_than_a_posix_shell(tmp_path: Path) -> None:
    job = batch(tmp_path, ["exit 0"])
    subprocess.run(["dash", str(job)], check=True, env={"PATH": "/usr/bin:/bin"})
    assert read_records(tmp_path / "records", NONCE).done


def test_records_of_another_job_and_halves_of_lines_are_not_believed(tmp_path: Path) -> None:
    records = tmp_path / "records"
    end = '"event": "end", "task": 0, "status": 0, "late": false}'
    records.write_text(f'{{"run": "other", {end}\nrubbish\n{{"run": "{NONCE}", "event": "end", "ta')
    found = read_records(records, NONCE)
    assert found.end(0) is None and not found.started and not found.done
    records.write_text(f'{{"run": "{NONCE}", {end}\n')
    assert read_records(records, NONCE).end(0) is not None


def test_optional_parts_of_templates_go_without_their_values() -> None:
    template = read_template("srun [-p {queue}] {options} {exe} {args}", PLACEHOLDERS, "exe")
    assert template.fill({"exe": "/x", "queue": "q 1"}, ["a b"]) == ["srun", "-p", "q 1", "/x", "a b"]
    assert template.fill({"exe": "/x", "options": "-c '2 3'"}) == ["srun", "-c", "2 3", "/x"]
    with pytest.raises(SwbuildError, match=r"SW411.*without"):
        read_template("srun [-p {queue} {exe}", PLACEHOLDERS, "exe")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("PENDING", JobState.QUEUED),
        ("JOBID USER STAT QUEUE\n4711 me RUN q", JobState.RUNNING),
        ("NODE_FAIL", JobState.NODE_LOST),
        ("CANCELLED by 0", JobState.CANCELLED),
        ("slurm_load_jobs error: Invalid job id specified", None),
        ("", None),
    ],
)
def test_answers_about_jobs(answer: str, state: JobState | None) -> None:
    assert state_in(answer) is state
