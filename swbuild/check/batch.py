"""Several runs in one job: a script for the compute node, and the records that it leaves.

The node needs nothing but a POSIX shell.  Every line of the records carries the nonce of the job
that wrote it, so that nothing an older job left is ever believed; a run counts only with its own end
record.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from swbuild.classes import dataclass

__all__ = ["BatchRecords", "BatchRun", "RunEnd", "read_records", "write_script"]

_HEAD = """\
#!/bin/sh
# One job for several kernels: begin and end of each are recorded, data is compared elsewhere.
records=@RECORDS@
say() {
    printf '{"run": "@NONCE@", %s}\\n' "$1" >>"$records" || {
        echo "cannot write the records $records" >&2
        exit 99
    }
}
clean() { printf %s "$1" | tr -cd 'A-Za-z0-9._-'; }
run() {
    number=$1 limit=$2 log=$3
    shift 3
    say "\\"event\\": \\"begin\\", \\"task\\": $number"
    rm -f "$log.late"
    "$@" >"$log" 2>&1 </dev/null &
    child=$!
    (
        trap 'kill $nap 2>/dev/null; exit 0' TERM
        sleep "$limit" &
        nap=$!
        wait $nap
        : >"$log.late"
        kill -9 $child
    ) >/dev/null 2>&1 &
    watch=$!
    wait $child 2>/dev/null
    status=$?
    kill $watch 2>/dev/null
    wait $watch 2>/dev/null
    late=false
    [ -f "$log.late" ] && late=true
    say "\\"event\\": \\"end\\", \\"task\\": $number, \\"status\\": $status, \\"late\\": $late"
}
node=$(clean "$(uname -n)")
job=$(clean "${SLURM_JOB_ID:-${LSB_JOBID:-}}")
say "\\"event\\": \\"start\\", \\"node\\": \\"$node\\", \\"job\\": \\"$job\\""
"""
_TAIL = """say '"event": "done"'\n"""


@dataclass(frozen=True, slots=True)
class BatchRun:
    """One run of a job: the program and its arguments, its time limit in seconds, where its words go."""

    executable: Path
    arguments: tuple[str, ...]
    limit: float
    log: Path


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end record of a run."""

    status: int
    late: bool


@dataclass(frozen=True, slots=True)
class BatchRecords:
    """What a job has reported so far, by the numbers of its runs."""

    started: bool = False
    done: bool = False
    node: str = ""
    job: str = ""
    begun: frozenset[int] = frozenset()
    ends: Mapping[int, RunEnd] | None = None

    def end(self, number: int) -> RunEnd | None:
        """Return the end record of a run."""
        return (self.ends or {}).get(number)


def write_script(path: Path, records: Path, nonce: str, runs: Sequence[BatchRun]) -> None:
    """Write the script of the job, ready to be executed."""
    head = _HEAD.replace("@RECORDS@", shlex.quote(str(records))).replace("@NONCE@", nonce)
    lines = [_line(number, run) for number, run in enumerate(runs)]
    path.write_text(head + "".join(lines) + _TAIL, encoding="utf-8")
    path.chmod(0o755)


def read_records(path: Path, nonce: str) -> BatchRecords:
    """Return what the job with this nonce has reported; anything else in the file is passed over."""
    events = list(_events(path, nonce))
    start = next((event for event in events if event.get("event") == "start"), None)
    return BatchRecords(
        started=start is not None,
        done=any(event.get("event") == "done" for event in events),
        node=str(start.get("node", "")) if start else "",
        job=str(start.get("job", "")) if start else "",
        begun=frozenset(event["task"] for event in events if event.get("event") == "begin"),
        ends={
            event["task"]: RunEnd(int(event["status"]), bool(event["late"]))
            for event in events
            if event.get("event") == "end"
        },
    )


def _line(number: int, run: BatchRun) -> str:
    words = [str(number), f"{max(run.limit, 1):.0f}", run.log, run.executable, *run.arguments]
    return "run " + " ".join(shlex.quote(str(word)) for word in words) + "\n"


def _events(path: Path, nonce: str) -> Iterator[Mapping[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("run") == nonce:
            yield event
