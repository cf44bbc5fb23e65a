"""What batch systems say about a job, in one vocabulary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

__all__ = ["JobState", "state_in"]


class JobState(Enum):
    """Where a job is, or how it ended."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    CANCELLED = "cancelled"
    NODE_LOST = "node lost"
    SITE_LIMIT = "over the site's time limit"
    #: Ends that the watcher, not the batch system, finds.
    QUEUE_TIMEOUT = "not started in time"
    RUN_TIMEOUT = "not ended in time"
    REFUSED = "not accepted"
    LOST = "unknown to the batch system"

    @property
    def over(self) -> bool:
        """Whether nothing more will come of the job."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


#: The words of Slurm and of LSF.
_WORDS: Mapping[str, JobState] = {
    **dict.fromkeys(
        ("PENDING", "CONFIGURING", "REQUEUED", "SUSPENDED", "PEND", "PSUSP", "SSUSP", "USUSP", "WAIT"),
        JobState.QUEUED,
    ),
    **dict.fromkeys(("RUNNING", "COMPLETING", "STOPPED", "RUN", "STAGE_OUT"), JobState.RUNNING),
    **dict.fromkeys(("COMPLETED", "FAILED", "OUT_OF_MEMORY", "DONE", "EXIT"), JobState.ENDED),
    **dict.fromkeys(("CANCELLED", "PREEMPTED", "REVOKED"), JobState.CANCELLED),
    **dict.fromkeys(("NODE_FAIL", "BOOT_FAIL", "ZOMBI"), JobState.NODE_LOST),
    **dict.fromkeys(("TIMEOUT", "DEADLINE"), JobState.SITE_LIMIT),
}

_WORD = re.compile(r"[A-Z_]{3,}")


def state_in(answer: str) -> JobState | None:
    """Return the state that a status command's answer speaks of, ``None`` if it speaks of none."""
    found = (_WORDS.get(word) for word in _WORD.findall(answer))
    return next((state for state in found if state is not None), None)
