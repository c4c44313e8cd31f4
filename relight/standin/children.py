"""The children of the main process: a tracker, a scheduler for each rank, a detokenizer."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from relight.standin import detokenizer
from relight.standin.processes import SPAWNING, TRACKER, start_child
from relight.standin.scheduler import Scheduler
from relight.standin.settings import Settings


@dataclass(frozen=True)
class Family:
    """Names by process id, and the main process's ends of the pipes."""

    names: dict[int, str]
    init: list[int]  # one for each rank: says something when that rank is up
    to_scheduler: int
    from_detokenizer: int


def _track(pipe: int) -> None:
    # multiprocessing's tracker ends when all who hold its pipe are gone.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while os.read(pipe, 1):
        continue


def start_family(settings: Settings, began: float) -> Family:
    """Start all children; `began` is the start of the main process (monotonic seconds)."""
    main = os.getpid()
    requests, tokens, answers, tracker = os.pipe(), os.pipe(), os.pipe(), os.pipe()
    inits = [os.pipe() for _ in range(int(settings.values["tp_size"]))]
    held = tracker[1]
    names = {start_child(lambda: _track(tracker[0]), (tracker[0],), TRACKER): "tracker"}
    for rank, (_, init) in enumerate(inits):
        scheduler = Scheduler(settings, rank, began, main, init, requests[0], tokens[1])
        keep = (init, held, requests[0], tokens[1]) if rank == 0 else (init, held)
        names[start_child(scheduler.run, keep, SPAWNING)] = f"scheduler_{rank}"
    names[
        start_child(
            lambda: detokenizer.run(settings, began, main, tokens[0], answers[1]),
            (tokens[0], answers[1], held),
            SPAWNING,
        )
    ] = "detokenizer"
    for descriptor in (requests[0], tokens[0], tokens[1], answers[1], tracker[0]):
        os.close(descriptor)
    for _, init in inits:
        os.close(init)
    return Family(names, [read for read, _ in inits], requests[1], answers[0])
