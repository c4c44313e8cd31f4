"""Child processes as SGLang has them: titles, death with the parent, killing the own tree."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_MOST_DESCRIPTORS = 4096
# An orphan that nobody would ever end goes by itself after so many seconds.
_ORPHAN_LIFE = 600.0
SPAWNING = f"{sys.executable} -B -c from multiprocessing.spawn import spawn_main; spawn_main()"
TRACKER = f"{sys.executable} -B -c from multiprocessing.resource_tracker import main;main(29)"


def _libc() -> Any:
    import ctypes  # noqa: PLC0415  (10 ms that the main process can do without)

    return ctypes, ctypes.CDLL(None, use_errno=True)


def set_title(title: str, comm: str | None = None) -> None:
    """Write a title over this process's command line, as setproctitle does; no effect elsewhere."""
    try:
        ctypes, libc = _libc()
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        start, end = int(fields[45]), int(fields[46])
        room = end - start
        data = title.encode()[: room - 1]
        ctypes.memset(start, 0, room)
        ctypes.memmove(start, data, len(data))
        if comm is not None:
            libc.prctl(_PR_SET_NAME, comm.encode()[:15], 0, 0, 0)
    except (OSError, ImportError, ValueError, IndexError):
        return


def die_with_parent() -> None:
    """From now on, SIGKILL arrives when the parent is gone."""
    try:
        _, libc = _libc()
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, ImportError):
        return


def limit_orphan_life(parent: int) -> None:
    """End this process by itself, long after its parent went."""

    def watch() -> None:
        gone = 0.0
        while gone < _ORPHAN_LIFE:
            time.sleep(5)
            gone = gone + 5 if os.getppid() != parent else 0.0
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def start_child(work: Callable[[], None], keep: tuple[int, ...], title: str) -> int:
    """Fork a child that does `work`, with only the descriptors `keep`; its process id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    parent = os.getppid()
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        last = 3
        for descriptor in sorted(keep):
            os.closerange(last, descriptor)
            last = descriptor + 1
        os.closerange(last, _MOST_DESCRIPTORS)
        set_title(title)
        limit_orphan_life(parent)
        work()
        code = 0
    except BrokenPipeError:
        code = 1
    finally:
        os._exit(code)


def kill_tree(children: tuple[int, ...], *, own: bool) -> None:
    """SIGKILL the children, and this process too where SGLang does it (`own`)."""
    for pid in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if own:
        os.kill(os.getpid(), signal.SIGKILL)
