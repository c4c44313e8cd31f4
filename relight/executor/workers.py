"""The threads of a run: each does one host's part of a task, and then waits for the next."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

Job = Callable[[], Callable[[], None]]
"""What a thread does. What it returns is called once the thread may be given the next job."""


class Workers:
    """As many threads as jobs ever ran at once, used again from task to task.

    They are daemons: a command that never ends must not keep an interrupted program from ending.
    A thread that is stuck in its job is missed by nobody: the next job has another one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Job | None]] = []
        self._closed = False

    def start(self, job: Job) -> None:
        """Let a thread that has nothing to do, or a new one, do a job; returns at once."""
        with self._lock:
            jobs = self._idle.pop() if self._idle else None
        if jobs is None:
            jobs = SimpleQueue()
            threading.Thread(target=self._serve, args=(jobs,), name="host", daemon=True).start()
        jobs.put(job)

    def close(self) -> None:
        """End the threads; one that still works ends after its job."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for jobs in idle:
            jobs.put(None)

    def _serve(self, jobs: SimpleQueue[Job | None]) -> None:
        while (job := jobs.get()) is not None:
            tell = job()
            with self._lock:
                closed = self._closed
                if not closed:
                    self._idle.append(jobs)
            tell()
            if closed:
                return
