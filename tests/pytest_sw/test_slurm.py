"""The node target on a real scheduler: jobs are cancelled, nodes vanish, queues stand still."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from acting import Result, run_pytest
from slurm import PROGRAMS, Cluster, cluster

_MISSING = [
    name for name in PROGRAMS if not shutil.which(name, path="/usr/sbin:/usr/bin:/bin:/usr/local/bin")
]

pytestmark = pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}")


@pytest.fixture(scope="module")
def daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("slurm")) as found:
        yield found


@pytest.fixture
def slurm(daemons: Cluster) -> Cluster:
    """The cluster, with no job of an earlier test on it."""
    daemons.settle()
    return daemons


def on_slurm(project: Path, slurm: Cluster, path: str, *arguments: str, **environment: str) -> Result:
    options = ("--sw-target=node", "--sw-launcher=slurm", *arguments)
    return run_pytest(project, *options, path=path, **slurm.environment, **environment)


def test_ten_kernels_run_in_one_job(acting: Path, slurm: Cluster, stand_ins: str) -> None:
    found = on_slurm(acting, slurm, stand_ins)
    assert found.status == 0, found.output
    assert found.categories == ["pass"] * 10
    assert len(found.jobs) == 1 and found.jobs[0].isdigit()
    assert found.properties["k0"]["sw.node"] == slurm.host
    slurm.settle()
    assert f"{found.jobs[0]} COMPLETED" in slurm.ask("squeue", "-h", "-t", "all", "-o", "%i %T")


def test_wrong_kernels_fail_and_leave_the_others_alone(acting: Path, slurm: Cluster, stand_ins: str) -> None:
    acts = {"ACT_k3": "wrong", "ACT_k5": "crash", "ACT_k7": "hang"}
    found = on_slurm(acting, slurm, stand_ins, "--sw-timeout=3", **acts)
    expected = {"k3": "mismatch", "k5": "crash", "k7": "run-timeout"}
    assert found.categories == [expected.get(f"k{i}", "pass") for i in range(10)], found.output
    assert {name for name, result in found.results.items() if result == "failure"} == set(expected)
    assert len(found.jobs) == 1
    assert all(found.properties[name]["sw.attempts"] == "1" for name in expected)


def test_a_cancelled_job_loses_nothing_that_ran(acting: Path, slurm: Cluster, stand_ins: str) -> None:
    found = on_slurm(acting, slurm, stand_ins, "--sw-infra-retries=0", ACT_k4="cancel")
    assert found.categories == ["pass"] * 4 + ["job-lost"] * 6, found.output
    assert [found.results[f"k{i}"] for i in range(10)] == [""] * 4 + ["error"] * 6
    assert "cancelled, while this kernel ran" in found.output


def test_the_rest_of_a_cancelled_job_goes_into_another(
    acting: Path, slurm: Cluster, stand_ins: str, tmp_path: Path
) -> None:
    acts = {"ACT_k4": f"once:{tmp_path}/done:cancel", "ACT_k2": "wrong"}
    found = on_slurm(acting, slurm, stand_ins, **acts)
    assert found.categories == ["pass", "pass", "mismatch"] + ["pass"] * 7, found.output
    assert [found.properties[f"k{i}"]["sw.attempts"] for i in range(10)] == ["1"] * 4 + ["2"] * 6
    assert len(found.jobs) == 2


# A pause stands in for "the second kernel has begun": on a busy machine the node stops too early.
@pytest.mark.matrix
def test_a_node_that_vanishes_is_the_machinery(acting: Path, slurm: Cluster, stand_ins: str) -> None:
    results: list[Result] = []
    arguments = (acting, slurm, stand_ins, "--sw-infra-retries=0", "-k", "k0 or k1 or k2")
    thread = threading.Thread(target=lambda: results.append(on_slurm(*arguments, ACT_k1="hang")))
    thread.start()
    try:
        wait_for_running(slurm)
        time.sleep(2)
        slurm.stop_node()
        thread.join()
    finally:
        slurm.start_node()
    assert results[0].categories == ["pass", "job-lost", "job-lost"], results[0].output
    assert "node lost" in results[0].output or "unknown to" in results[0].output


def test_a_queue_that_stands_still_is_not_waited_for(acting: Path, slurm: Cluster, stand_ins: str) -> None:
    slurm.ask("scontrol", "update", "PartitionName=debug", "State=DOWN")
    try:
        found = on_slurm(acting, slurm, stand_ins, "--sw-queue-timeout=3", "-k", "k0 or k1")
    finally:
        slurm.ask("scontrol", "update", "PartitionName=debug", "State=UP")
    assert found.categories == ["queue-timeout"] * 2, found.output
    assert set(found.results.values()) == {"error"}
    assert "PENDING" not in slurm.ask("squeue", "-h", "-t", "all", "-o", "%i %T")


def test_a_full_disk_is_called_a_full_disk(
    acting: Path, slurm: Cluster, stand_ins: str, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16M", "none", str(disk)], check=False)
    if mounted.returncode:
        pytest.skip("cannot mount a small disk here")
    filler = tmp_path / "sbatch"
    filler.write_text(
        f'#!/bin/sh\ndd if=/dev/zero of={disk}/fill bs=4k 2>/dev/null\nexec /usr/bin/sbatch "$@"\n'
    )
    filler.chmod(0o755)
    try:
        found = on_slurm(
            acting,
            slurm,
            f"{tmp_path}:{stand_ins}",
            f"--sw-artifacts={disk}",
            "--sw-queue-timeout=60",
            "-k",
            "k0 or k1",
        )
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
    assert found.categories == ["disk-full"] * 2, found.output
    assert set(found.results.values()) == {"error"}


@pytest.mark.parametrize(
    ("script", "category"),
    [
        ("echo Welcome to the machine; exit 0", "launcher-error"),
        ("echo 'sbatch: error: invalid partition' >&2; exit 1", "launcher-error"),
        ('echo "** maintenance on Friday **"; exec /usr/bin/sbatch "$@"', "pass"),
    ],
)
def test_rubbish_from_the_launcher(
    acting: Path, slurm: Cluster, stand_ins: str, tmp_path: Path, script: str, category: str
) -> None:
    launcher = tmp_path / "sbatch"
    launcher.write_text(f"#!/bin/sh\n{script}\n")
    launcher.chmod(0o755)
    found = on_slurm(acting, slurm, f"{tmp_path}:{stand_ins}", "-k", "k0 or k1")
    assert found.categories == [category] * 2, found.output


def test_a_scheduler_that_does_not_answer_changes_nothing(
    acting: Path, slurm: Cluster, stand_ins: str, tmp_path: Path
) -> None:
    deaf = tmp_path / "squeue"
    deaf.write_text("#!/bin/sh\necho 'slurm_load_jobs error: Socket timed out' >&2\nexit 1\n")
    deaf.chmod(0o755)
    found = on_slurm(acting, slurm, f"{tmp_path}:{stand_ins}", "-k", "k0 or k1")
    assert found.categories == ["pass"] * 2, found.output


def test_an_interrupt_cancels_the_job(acting: Path, slurm: Cluster, stand_ins: str) -> None:
    import os
    import signal
    import sys

    from acting import ROOT, interruptible
    from kernels import CACHE

    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": CACHE, **slurm.environment}
    environment |= {"PATH": f"{stand_ins}:{environment['PATH']}", "ACT_k1": "hang"}
    command = [sys.executable, "-m", "pytest", "--sw-target=node", "--sw-launcher=slurm", "-k", "k1"]
    process = subprocess.Popen(
        command, cwd=acting, env=environment, stdout=subprocess.DEVNULL, preexec_fn=interruptible
    )
    wait_for_running(slurm)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 2
    slurm.settle()
    assert "CANCELLED" in slurm.ask("squeue", "-h", "-t", "all", "-S", "-i", "-o", "%T").splitlines()[0]


def wait_for_running(slurm: Cluster) -> None:
    deadline = time.monotonic() + 120
    while "RUNNING" not in slurm.ask("squeue", "-h", "-o", "%T"):
        assert time.monotonic() < deadline, slurm.ask("squeue")
        time.sleep(0.2)
