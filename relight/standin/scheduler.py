"""The scheduler process: loads, then gives out tokens at the chosen pace, or misbehaves."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from typing import Any, NoReturn

from relight.standin.answers import Plan
from relight.standin.batching import Batch, Spoken
from relight.standin.journal import Journal
from relight.standin.loading import load
from relight.standin.processes import die_with_parent, set_title
from relight.standin.rank import Rank, StartFailed
from relight.standin.scenarios.kinds import Scenario
from relight.standin.settings import Settings
from relight.standin.wording import scheduler_traceback

# Seconds of a start of 15 s at which the children have imported everything.
_IMPORTED = 6.0


def title_of(settings: Settings, rank: int) -> str:
    """The process title of a rank: sglang::scheduler, with _TP0 where there are several."""
    many = int(settings.values["tp_size"]) > 1
    return f"sglang::scheduler_TP{rank}" if many else "sglang::scheduler"


def _message(spoken: Spoken) -> dict[str, Any]:
    message = {"rid": spoken.rid, "t": spoken.tokens, "r": spoken.thought}
    return message if spoken.reason is None else {**message, "end": spoken.reason}


def _send(descriptor: int, *messages: dict[str, Any]) -> None:
    lines = (json.dumps(message, separators=(",", ":")) + "\n" for message in messages)
    data = "".join(lines).encode()
    while data:
        data = data[os.write(descriptor, data) :]


class Scheduler:
    """One rank. Rank 0 reads requests from `inbox` and writes tokens to `outbox`."""

    def __init__(
        self,
        settings: Settings,
        rank: int,
        began: float,
        main: int,
        init: int,
        inbox: int,
        outbox: int,
    ) -> None:
        many = int(settings.values["tp_size"]) > 1
        quiet = str(settings.values["log_level"]) not in ("info", "debug")
        self._settings = settings
        self._journal = Journal(f"TP{rank}" if many else "", quiet=quiet)
        self._rank = rank
        self._began = began
        self._main = main
        self._init = init
        self._inbox = inbox
        self._outbox = outbox
        self._batch = Batch(settings, self._journal)
        self._asked = False
        self._crash_at: float | None = None

    def run(self) -> None:
        """Import, load, say that all is well, serve until killed."""
        while time.monotonic() < self._began + self._settings.real(_IMPORTED):
            time.sleep(0.01)
        title = title_of(self._settings, self._rank)
        set_title(title, title)
        orphaned = os.getppid() != self._main
        if not orphaned:
            die_with_parent()
        try:
            load(Rank(self._settings, self._journal, self._rank, self._began))
        except StartFailed:
            if os.getppid() == self._main:
                os.kill(self._main, signal.SIGQUIT)
            os._exit(1)
        try:
            _send(self._init, {"ready": self._rank})
        except BrokenPipeError:
            frames = (("managers/scheduler.py", "pipe_writer.send(scheduler.get_init_info())"),)
            error = "BrokenPipeError: [Errno 32] Broken pipe"
            self._journal.error(scheduler_traceback(frames, error, start=False))
            os._exit(1)
        if self._rank != 0:
            while True:
                time.sleep(3600)
        self._serve()

    def _serve(self) -> None:
        pending = b""
        while True:
            ready, _, _ = select.select([self._inbox], [], [], self._patience())
            if ready:
                data = os.read(self._inbox, 1 << 16)
                if not data:
                    os._exit(0)
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    self._take(json.loads(line))
            now = time.monotonic()
            if self._crash_at is not None and now >= self._crash_at:
                self._crash_as("watchdog_timeout", "crash_within_settle", "crash_after_ready")
            spoken = self._batch.speak(now)
            if spoken:
                _send(self._outbox, *map(_message, spoken))
                if not self._batch.running:
                    self._idle()

    def _patience(self) -> float | None:
        moments = [one for one in (self._batch.next_due(), self._crash_at) if one is not None]
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _idle(self) -> None:
        settle = self._settings.playing("crash_within_settle")
        if settle is not None and self._asked:
            self._crash_at = time.monotonic() + settle.after

    def _take(self, message: dict[str, Any]) -> None:
        kind = message["op"]
        if kind == "generate":
            self._generate(message)
        elif kind == "abort":
            self._batch.drop(str(message["rid"]))
        elif kind == "state":
            _send(self._outbox, {"rid": message["rid"], "state": self._state()})
        elif kind == "up":
            self._up()
        elif kind == "crash":
            self._raise((), str(message["error"]))

    def _up(self) -> None:
        after = self._settings.playing("crash_after_ready")
        if after is not None:
            self._crash_at = time.monotonic() + after.after
        if self._settings.playing("scheduler_hang"):
            os.kill(os.getpid(), signal.SIGSTOP)

    def _generate(self, message: dict[str, Any]) -> None:
        words = message["plan"]
        plan = Plan(
            seed=int(words["seed"]),
            thought=tuple(words["thought"]),
            fixed=None if words["fixed"] is None else tuple(words["fixed"]),
            limit=int(words["limit"]),
            natural_end=words["natural_end"],
        )
        count = int(message["prompt_tokens"])
        asked = not message["probe"]
        if asked and not message["warmup"]:
            self._asked = True
            if self._misbehaves(count):
                return
        self._crash_at = None if self._settings.playing("crash_within_settle") else self._crash_at
        self._batch.add(str(message["rid"]), plan, count, probe=not asked)

    def _misbehaves(self, prompt_tokens: int) -> bool:
        """Play a scenario that a request sets off; True where it is never answered."""
        together = len([one for one in self._batch.running if not one.probe]) + 1
        sets_off = {
            "runtime_crash": True,
            "crash_on_long_prompt": prompt_tokens >= self._after("crash_on_long_prompt"),
            "crash_on_concurrency": together >= self._after("crash_on_concurrency"),
            "oom_runtime": together > 1 or prompt_tokens >= self._after("oom_runtime"),
        }
        for scenario in self._settings.scenarios:
            if sets_off.get(scenario.name, False):
                self._crash(scenario)
            elif scenario.name == "nan_logits":
                self._journal.error(scenario.before[0])
            elif scenario.name == "watchdog_timeout":
                self._crash_at = time.monotonic() + scenario.after
                return True
            elif scenario.name == "hang_serving":
                return True
        return False

    def _after(self, name: str) -> float:
        scenario = self._settings.playing(name)
        return float("inf") if scenario is None else scenario.after

    def _crash_as(self, *names: str) -> None:
        for scenario in self._settings.scenarios:
            if scenario.name in names:
                self._crash(scenario)

    def _crash(self, scenario: Scenario) -> None:
        for line in scenario.before:
            self._journal.error(line)
        if scenario.name == "watchdog_timeout":
            self._journal.error(scenario.error)
            self._end()
        self._raise(scenario.frames, scenario.error)

    def _raise(self, frames: tuple[tuple[str, str], ...], error: str) -> None:
        self._journal.error(scheduler_traceback(frames, error, start=False))
        self._end()

    def _end(self) -> NoReturn:
        os.kill(self._main, signal.SIGQUIT)
        os._exit(1)

    def _state(self) -> dict[str, Any]:
        batch = self._batch
        return {
            "running": len(batch.running),
            "waiting": len(batch.waiting),
            "tokens": batch.tokens_held,
            "throughput": batch.tally.throughput,
            "accept_len": batch.tally.accept_len,
        }
