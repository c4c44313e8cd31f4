"""One rank's clock and pen while it loads, and the scenarios that break its stages."""

from __future__ import annotations

import os
import signal
import time

from relight.standin.journal import Journal, bar
from relight.standin.scenarios.kinds import HANG, KILLED, RAISE, SLOW, Scenario
from relight.standin.settings import Settings
from relight.standin.wording import scheduler_traceback

_NO_ROOM = {
    "0.5.10": "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. "
    "Current value: mem_fraction_static={fraction}",
    "0.5.23": "ValueError: Loaded weights leave no GPU memory for the KV cache under "
    "--mem-fraction-static={fraction}.",
}


class StartFailed(Exception):
    """The scheduler said why it ends; its parent has still to be told."""


class Rank:
    """What the stages of a start share. `free` is the GPU memory left, in GB."""

    def __init__(self, settings: Settings, journal: Journal, rank: int, began: float) -> None:
        self.settings = settings
        self.journal = journal
        self.rank = rank
        self.free = settings.gpu_gb
        self._began = began
        self._extra = 0.0

    def until(self, moment: float) -> None:
        """Wait for a moment of the start: seconds of a start of 15 s."""
        delay = self._began + self.settings.real(moment) + self._extra - time.monotonic()
        if delay > 0:
            time.sleep(delay)

    def bars(self, label: str, sizes: list[int], start: float, end: float) -> None:
        """Show a capture's progress bar between two moments of the start."""
        began, total = time.monotonic(), len(sizes)
        if self.rank == 0:
            self.journal.progress(bar("", 0, total, 0.0))
        for done, size in enumerate(reversed(sizes), start=1):
            self.until(start + (end - start) * done / total)
            if self.rank == 0:
                what = f"{label}={size} avail_mem={self.free:.2f} GB): "
                took = time.monotonic() - began
                self.journal.progress(bar(what, done - 1, total, took))
                self.journal.progress(bar(what, done, total, took))
        if self.rank == 0:
            self.journal.end_progress()

    def strike(self, stage: str) -> None:
        """Play what the scenarios have for this stage; raises StartFailed or never returns."""
        for scenario in self.settings.scenarios:
            if scenario.stage != stage:
                continue
            if scenario.rank == self.rank or scenario.act in (HANG, SLOW):
                self._play(scenario)
            elif scenario.act in (RAISE, KILLED):
                self.wait_for_end()

    def fail(self, frames: tuple[tuple[str, str], ...], error: str) -> None:
        """Say a traceback; raises StartFailed."""
        self.journal.error(scheduler_traceback(frames, self._fill(error), start=True))
        raise StartFailed

    def _play(self, scenario: Scenario) -> None:
        if scenario.act not in (RAISE, KILLED, HANG, SLOW):
            return
        for line in scenario.before:
            self.journal.info(self._fill(line))
        if scenario.act == SLOW:
            self._extra += 9 * self.settings.speed
        elif scenario.act == HANG:
            self.wait_for_end()
        elif scenario.act == KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            hints = f"\n{scenario.hints}\n" if scenario.hints else ""
            self.fail(scenario.frames, scenario.error + hints)

    def wait_for_end(self) -> None:
        """Say nothing more, and never return."""
        while True:
            time.sleep(3600)

    def _fill(self, text: str) -> str:
        new = self.settings.profile.new_capture_words
        room = _NO_ROOM[self.settings.profile.version].replace(
            "{fraction}", str(self.settings.mem_fraction)
        )
        return (
            text.replace("{no_room}", room)
            .replace("{max_bs_flag}", "cuda-graph-max-bs-decode" if new else "cuda-graph-max-bs")
            .replace(
                "{no_graph_flag}",
                "cuda-graph-backend-decode=disabled" if new else "disable-cuda-graph",
            )
            .replace(
                "{no_prefill_flag}",
                "cuda-graph-backend-prefill=disabled" if new else "disable-piecewise-cuda-graph",
            )
        )
