"""Calls in processes of their own, several at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

from swbuild.collecting import collect_rarely
from swbuild.endings import dying_with
from swbuild.toolchain.process import end_all

__all__ = ["in_processes"]

_Result = TypeVar("_Result")


def in_processes(
    function: Callable[..., _Result], calls: Sequence[Sequence[Any]], jobs: int
) -> Iterator[tuple[int, Future[_Result]]]:
    """Call ``function`` with each of the arguments, ``jobs`` at a time; yield number and outcome as they end.

    Processes, not threads: isl's context must not be used by two threads.  And spawned ones, because a
    forked child of a program with threads (a progress bar) may hang.
    """
    context = multiprocessing.get_context("spawn")
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(jobs, context, _begin_worker, (os.getpid(),)) as pool:
        try:
            futures = {pool.submit(function, *call): number for number, call in enumerate(calls)}
            for future in as_completed(futures):
                yield futures[future], future
        except BaseException:
            for worker in multiprocessing.active_children():
                if worker not in others:
                    worker.terminate()
            raise


def _begin_worker(parent: int) -> None:
    """Have this worker end, and all that it runs, when its parent ends or wants it to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent, who gets it too, says what to do
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: _end_worker())
    dying_with(parent, signal.SIGTERM)
    collect_rarely()


def _end_worker() -> None:
    end_all()
    os._exit(128 + signal.SIGTERM)
