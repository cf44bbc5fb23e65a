"""What can be the matter with a test: the stable categories, and the exceptions that carry them to pytest.

pytest's own phases do the rest: what is raised while a test is set up is an error, what is raised in
its call is a failure.
"""

from __future__ import annotations

from enum import Enum

from _pytest.outcomes import Failed

__all__ = ["Category", "SwBuildError", "SwError", "SwFailure", "SwInfraError", "tells_of_no_room"]


class Category(Enum):
    """Why a test ended as it did.  The values are stable: CI rules may rely on them."""

    PASS = "pass"
    #: Failures: the offloaded code is wrong.
    MISMATCH = "mismatch"
    CRASH = "crash"
    TIMEOUT = "run-timeout"
    NOT_OFFLOADED = "not-offloaded"
    PERFORMANCE = "performance"
    #: An assertion in a Python test that uses kernels.
    ASSERTION = "assertion"
    #: Errors: a mistake in what was given, nothing was run.
    CONFIG = "config-error"
    GENERATE = "generate-error"
    COMPILE = "compile-error"
    REFERENCE = "reference-error"
    #: Errors of the machinery: they say nothing about the code.
    LAUNCHER = "launcher-error"
    QUEUE_TIMEOUT = "queue-timeout"
    JOB_LOST = "job-lost"
    DISK_FULL = "disk-full"
    NO_EVIDENCE = "no-evidence"
    #: An error of the plugin itself.
    INTERNAL = "internal-error"
    #: Skips.
    TARGET_ABSENT = "target-absent"
    TARGET_BROKEN = "target-broken"
    NOT_APPLICABLE = "not-applicable"

    @property
    def infrastructure(self) -> bool:
        """Whether the machinery is to blame; only such tests may be tried again."""
        return self in _INFRASTRUCTURE

    @property
    def retried(self) -> bool:
        """Whether another attempt may help: a full disk and a full queue will not be better at once."""
        return self in (Category.LAUNCHER, Category.JOB_LOST, Category.NO_EVIDENCE)


_INFRASTRUCTURE = (
    Category.LAUNCHER,
    Category.QUEUE_TIMEOUT,
    Category.JOB_LOST,
    Category.DISK_FULL,
    Category.NO_EVIDENCE,
)


def tells_of_no_room(text: str) -> bool:
    """Return whether a tool or the system says in ``text`` that a disk or a quota is full."""
    return "No space left on device" in text or "Disk quota exceeded" in text


class SwError(Failed):
    """Base of all that the plugin raises for a test; shown without a traceback."""

    def __init__(self, category: Category, message: str, pytrace: bool = False) -> None:
        super().__init__(message, pytrace=pytrace)
        self.category = category


class SwBuildError(SwError):
    """A mistake in the manifest, the source or the environment: nothing could be run."""


class SwInfraError(SwError):
    """The machinery failed; this says nothing about the kernel."""


class SwFailure(SwError):
    """The kernel is wrong."""
