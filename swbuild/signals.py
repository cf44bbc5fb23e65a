"""Signals that end a process, and let it clean up first."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["unwound_by_signals"]

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def unwound_by_signals(raised: Callable[[int], BaseException]) -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise what ``raised`` makes of their number, so that everything is cleaned up.

    A signal that somebody handles or ignores already (``nohup``) is left alone.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        raise raised(number)

    ours = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        ours = []
    for number in ours:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
