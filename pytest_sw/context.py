"""What the tests of a session share: settings, directories, the store of builds, the stages' clock."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_sw.breaker import Breaker
from pytest_sw.items import KernelItem, Prepared
from pytest_sw.options import Settings
from pytest_sw.records import Record
from pytest_sw.verdicts import Category, SwBuildError, SwInfraError, tells_of_no_room
from swbuild.check.store import RegionStore
from swbuild.diagnostics import Diagnostic, SwbuildError, render

__all__ = ["Context"]


class Context:
    """What tests share; one per process.

    ``here`` is where pytest was started; everything is made under ``root``; processes of one session have
    the same name for it, ``session``.
    """

    def __init__(self, settings: Settings, here: Path, root: Path, session: str) -> None:
        self.settings = settings
        self.root = root
        self.session = session
        self.store = RegionStore(root / "builds")
        self.runs = root / "runs" / session
        self.breaker = Breaker(settings.breaker)
        self._here = here

    def shorten(self, text: str) -> str:
        """Return ``text`` with file names as seen from where pytest was started."""
        here = str(self._here).rstrip("/") + "/"
        return text.replace(here, "") if len(here) > 1 else text

    def file_name(self, nodeid: str) -> str:
        """Return a file name for a test."""
        return "".join(letter if letter.isalnum() or letter in "._=-" else "_" for letter in nodeid)[-150:]

    def limit(self, item: KernelItem) -> float:
        """Return the time that one run of the test may take, in seconds."""
        stated = self.settings.timeout or item.task.check.timeout or 60.0
        return stated * self.settings.timeout_scale

    @contextlib.contextmanager
    def stage(self, record: Record, name: str, category: Category) -> Iterator[None]:
        """Time a stage; what goes wrong in it is an error of that category."""
        __tracebackhide__ = True
        start = time.monotonic()
        try:
            yield
        except SwbuildError as error:
            text = self.shorten(render(error.diagnostics))
            if tells_of_no_room(text):
                raise SwInfraError(Category.DISK_FULL, text) from None
            raise SwBuildError(_narrow(error.diagnostics, category), text) from None
        except OSError as error:
            kind = Category.DISK_FULL if tells_of_no_room(str(error)) else category
            raise SwInfraError(kind, self.shorten(f"{name}: {error}")) from None
        finally:
            record.stage(name, time.monotonic() - start)

    def dispose(self, prepared: Prepared, failed: bool) -> None:
        """Remove a test's data unless the user wants to keep it."""
        keep = self.settings.keep
        if keep == "none" or (keep == "failed" and not failed):
            shutil.rmtree(prepared.directory, ignore_errors=True)


def _narrow(diagnostics: Sequence[Diagnostic], category: Category) -> Category:
    """Return the category of a failed stage: manifests and sources that are wrong say so themselves."""
    if all(diagnostic.code.startswith("SW1") for diagnostic in diagnostics):
        return Category.CONFIG
    return category
