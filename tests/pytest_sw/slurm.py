"""A Slurm cluster of one node on this computer, from the distribution's packages, while tests need it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["PROGRAMS", "Cluster", "cluster"]

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")

_CONF = """\
ClusterName=swtest
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={root}/munge.socket
CredType=cred/munge
SlurmctldPort={port}
SlurmdPort={other}
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdTimeout={timeout}
SlurmctldTimeout=10
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
KillWait=1
InactiveLimit=0
MinJobAge=300
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=debug Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


class Cluster:
    """A running cluster: ``environment`` reaches it, ``stop_node`` makes its node vanish."""

    def __init__(self, root: Path, timeout: int) -> None:
        self.root = root
        self.host = socket.gethostname().split(".")[0]
        self.environment = {"SLURM_CONF": str(root / "slurm.conf")}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._write(timeout)

    def start(self) -> None:
        """Start the daemons and wait until the node takes jobs."""
        root = self.root
        key = root / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self._run(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            *(f"--{name}={root}/munge.{name}" for name in ("socket", "pid-file", "log-file", "seed-file")),
        )
        self._wait(lambda: (root / "munge.socket").exists(), "munged")
        self._run("slurmctld", "-D", "-i", "-f", str(root / "slurm.conf"))
        self.start_node()

    def start_node(self) -> None:
        """Start the node's daemon and wait until the node is idle."""
        self._run("slurmd", "-D", "-N", self.host, "-f", str(self.root / "slurm.conf"))
        self._wait(self._idle, "the node")

    def _idle(self) -> bool:
        state = self.ask("sinfo", "-h", "-o", "%T").strip()
        if state == "down":
            self.ask("scontrol", "update", f"NodeName={self.host}", "State=RESUME")
        return state == "idle"

    def stop_node(self) -> None:
        """Kill the node's daemon and all that runs on the node, as if the power had gone."""
        self._processes["slurmd"].kill()
        listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True)
        rows = [line.split(maxsplit=2) for line in listing.stdout.splitlines()[1:]]
        doomed = {pid for pid, _, arguments in rows if arguments.startswith("slurmstepd: [")}
        while more := {pid for pid, parent, _ in rows if parent in doomed} - doomed:
            doomed |= more
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), 9)
        self._stop("slurmd")

    def ask(self, *command: str) -> str:
        """Return what a command of the batch system prints."""
        done = subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True)
        return done.stdout + done.stderr

    def settle(self) -> None:
        """Wait until no job is left on the cluster; what does not end by itself is a fault."""
        self._wait(lambda: not self.ask("squeue", "-h", "-o", "%i").strip(), "an empty queue")

    def stop(self) -> None:
        """End every daemon."""
        self.ask("scancel", "--state=RUNNING")
        self.ask("scancel", "--state=PENDING")
        for name in ("slurmd", "slurmctld", "munged"):
            self._stop(name)

    def _write(self, timeout: int) -> None:
        for name in ("state", "spool"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        text = _CONF.format(
            root=self.root, host=self.host, user=os.environ.get("USER", "root"), port=_port(), other=_port(),
            timeout=timeout, cpus=os.cpu_count() or 1,
        )  # fmt: skip
        (self.root / "slurm.conf").write_text(text)

    def _run(self, name: str, *arguments: str) -> None:
        program = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
        assert program is not None
        with (self.root / f"{name}.out").open("ab") as out:
            self._processes[name] = subprocess.Popen(
                [program, *arguments], stdout=out, stderr=out, env={**os.environ, **self.environment}
            )

    def _stop(self, name: str) -> None:
        process = self._processes.pop(name, None)
        if process is None:
            return
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _wait(self, ready: object, what: str) -> None:
        assert callable(ready)
        deadline = time.monotonic() + 60
        while not ready():
            logs = "\n".join(
                path.read_text(errors="replace")[-2000:] for path in self.root.glob("*.[ol][uo][tg]")
            )
            assert time.monotonic() < deadline, f"{what} did not come up\n{logs}"
            time.sleep(0.1)


@contextlib.contextmanager
def cluster(root: Path, timeout: int = 20) -> Iterator[Cluster]:
    """Yield a cluster in ``root``; a node is taken for dead after ``timeout`` seconds of silence."""
    found = Cluster(root, timeout)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
