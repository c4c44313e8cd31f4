"""The main process's side of the engine: requests in flight, their streams, what is counted."""

from __future__ import annotations

import json
import os
import queue
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from relight.standin.answers import Plan
from relight.standin.journal import Journal
from relight.standin.settings import Settings

STARTING, UP, UNHEALTHY = "Starting", "Up", "UnHealthy"


class Stream:
    """What the scheduler says to one request, in order."""

    def __init__(self, rid: str) -> None:
        self.rid = rid
        self.events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def rounds(self) -> Iterator[dict[str, Any]]:
        """Rounds until the last one; waits for ever where the scheduler hangs."""
        while True:
            event = self.events.get()
            yield event
            if "end" in event:
                return


class Engine:
    """Requests, health and counters. Safe to use from the threads of the HTTP server."""

    def __init__(self, settings: Settings, journal: Journal, to_scheduler: int) -> None:
        self.settings = settings
        self.journal = journal
        self.status = STARTING
        self.draining = False
        self.heard = time.time()
        self.started = time.time()
        self.frozen = False
        self.prompt_tokens = 0
        self.generated_tokens = 0
        self.finished = 0
        self.left_behind = 0
        self._to_scheduler = to_scheduler
        self._lock = threading.Lock()
        self._streams: dict[str, Stream] = {}
        self._requests: set[str] = set()
        if settings.playing("drain_never_ends"):
            self._requests.add(uuid.uuid4().hex)

    def hear(self, from_detokenizer: int) -> None:
        """Pass on what the scheduler says, until its pipe closes."""
        pending = b""
        while True:
            data = os.read(from_detokenizer, 1 << 16)
            if not data:
                return
            *lines, pending = (pending + data).split(b"\n")
            self.heard = time.time()
            for line in lines:
                message: dict[str, Any] = json.loads(line)
                stream = self._streams.get(message["rid"])
                if stream is not None:
                    stream.events.put(message)

    def _tell(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._to_scheduler, data) :]
            except BrokenPipeError:
                # The scheduler is gone: the request waits, and the watch over it ends the server.
                return

    def tell_up(self) -> None:
        """The warm-up is over."""
        self.status = UP
        self._tell({"op": "up"})

    def crash(self, error: str) -> None:
        """Make the scheduler raise, as a request does that this build cannot serve."""
        self._tell({"op": "crash", "error": error})

    def submit(
        self, plan: Plan, prompt_tokens: int, *, probe: bool = False, warmup: bool = False
    ) -> Stream:
        """Begin a request; a probe is a health check, and not counted."""
        stream = Stream(uuid.uuid4().hex)
        self._streams[stream.rid] = stream
        if not probe:
            self._requests.add(stream.rid)
            self.prompt_tokens += prompt_tokens
        self._tell(
            {
                "op": "generate",
                "rid": stream.rid,
                "plan": asdict(plan),
                "prompt_tokens": prompt_tokens,
                "probe": probe,
                "warmup": warmup,
            }
        )
        return stream

    def finish(self, stream: Stream, generated: int) -> None:
        """A request is over."""
        self._forget(stream)
        self.finished += 1
        self.generated_tokens += generated
        self.left_behind = 0

    def abandon(self, stream: Stream) -> None:
        """The client went away: stop the request."""
        self._tell({"op": "abort", "rid": stream.rid})
        self._forget(stream)
        if self.settings.profile.stale_running_gauge:
            self.left_behind = 1

    def leak(self) -> None:
        """A request refused for its length: 0.5.10 never forgets it, and its drain never ends."""
        if self.settings.profile.leaks_refused:
            self._requests.add(uuid.uuid4().hex)

    def _forget(self, stream: Stream) -> None:
        self._streams.pop(stream.rid, None)
        self._requests.discard(stream.rid)

    def remaining(self) -> list[str]:
        """The requests that a drain waits for."""
        return sorted(self._requests)

    def probe(self) -> bool:
        """One token for a health check; False when none came in time."""
        wait = max(0.3, self.settings.real(20.0))
        plan = Plan(seed=0, thought=(), fixed=None, limit=1, natural_end=None)
        stream = self.submit(plan, 1, probe=True)
        try:
            stream.events.get(timeout=wait)
        except queue.Empty:
            return False
        finally:
            self._forget(stream)
        return True

    def state(self) -> dict[str, Any]:
        """The scheduler's own state; waits for ever where it hangs."""
        stream = Stream(uuid.uuid4().hex)
        self._streams[stream.rid] = stream
        self._tell({"op": "state", "rid": stream.rid})
        message = stream.events.get()
        self._forget(stream)
        state: dict[str, Any] = message["state"]
        return state
