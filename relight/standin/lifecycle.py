"""The main process: starts the children, serves, and ends in one of SGLang's many ways."""

from __future__ import annotations

import errno
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import NoReturn

from relight.standin import processes
from relight.standin.children import start_family
from relight.standin.engine import UNHEALTHY, Engine
from relight.standin.journal import Journal
from relight.standin.service import Service, listen_on
from relight.standin.settings import Settings
from relight.standin.warmup import READY, process_line, warm_up
from relight.standin.wording import plain_traceback

# Seconds of a start of 15 s.
_SERVE_AT, _DRAIN_LOOK = 13.4, 5.0


class Lifecycle:
    """One life of a server. `began` is the moment of its start (monotonic seconds)."""

    def __init__(self, settings: Settings, journal: Journal, began: float) -> None:
        self._settings = settings
        self._journal = journal
        self._began = began
        self._main = os.getpid()
        self._children: dict[int, str] = {}
        self._init: list[int] = []
        self._signals: list[int] = []
        self._up = False
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)

    def run(self) -> int:
        """Start and serve; the exit code, where SGLang does not kill itself."""
        self._take_signal(signal.SIGQUIT)
        family = start_family(self._settings, self._began)
        self._children, self._init = family.names, family.init
        if self._settings.playing("orphan_detokenizer"):
            processes.kill_tree((), own=True)
        self._wait_for_schedulers()
        engine = Engine(self._settings, self._journal, family.to_scheduler)
        threading.Thread(target=engine.hear, args=(family.from_detokenizer,), daemon=True).start()
        service = self._open_service(engine)
        if service is None:
            return self._go_without_port(engine)
        self._up = True
        self._take_signal(signal.SIGTERM)
        self._take_signal(signal.SIGINT)
        self._take_signal(signal.SIGCHLD)
        listen_on(service)
        self._in_thread(lambda: warm_up(engine, self._kill_own_tree))
        return self._watch(engine)

    def _in_thread(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def _take_signal(self, number: int) -> None:
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(number, lambda number, _frame: self._signals.append(number))

    def _wait_for_schedulers(self) -> None:
        waiting = list(self._init)
        while waiting:
            try:
                ready, _, _ = select.select([*waiting, self._wake_read], [], [])
            except InterruptedError:
                continue
            if signal.SIGQUIT in self._signals:
                self._journal.error(
                    "Received sigquit from a child process. It usually means the child failed."
                )
                self._kill_own_tree()
            for descriptor in ready:
                if descriptor == self._wake_read:
                    os.read(descriptor, 64)
                elif os.read(descriptor, 4096):
                    waiting.remove(descriptor)
                else:
                    self._scheduler_died(self._init.index(descriptor))
        left = self._began + self._settings.real(_SERVE_AT) - time.monotonic()
        time.sleep(max(0.0, left))

    def _scheduler_died(self, rank: int) -> NoReturn:
        pid = next(pid for pid, name in self._children.items() if name == f"scheduler_{rank}")
        _, status = os.waitpid(pid, 0)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        error = (
            f"RuntimeError: Rank {rank} scheduler died during initialization (exit code: {code}). "
            "If exit code is -9 (SIGKILL), a common cause is the OS OOM killer. Run `dmesg -T | "
            "grep -i oom` to check."
        )
        frames = (("entrypoints/engine.py", "scheduler_init_result.wait_for_ready()"),)
        self._journal.bare(plain_traceback(frames, error))
        processes.kill_tree(tuple(self._children), own=False)
        os._exit(1)

    def _open_service(self, engine: Engine) -> Service | None:
        settings, journal = self._settings, self._journal
        if settings.profile.startup_timings:
            journal.info(
                "Engine startup timings (s): load_weight=0.05, kv_cache_allocation=0.43, "
                "scheduler_e2e=1.64, cuda_graph={prefill=0.00, decode=0.00, target_verify=0.00, "
                "draft_prefill=0.00, draft_decode=0.00, draft_extend=0.00}, tokenizer_e2e=10.48"
            )
        journal.info(process_line())
        journal.info("INFO:     Waiting for application startup.")
        journal.info("INFO:     Application startup complete.")
        host, port = str(settings.values["host"]), int(settings.values["port"])
        taken = settings.playing("port_in_use") or settings.playing("ready_line_lies")
        fault = errno.EADDRINUSE if taken else 0
        try:
            service = None if taken else Service((host, port), engine)
        except OSError as error:
            service, fault = None, error.errno or 0
        if service is None:
            journal.error(
                f"ERROR:    [Errno {fault}] error while attempting to bind on address "
                f"('{host}', {port}): {os.strerror(fault).lower()}"
            )
            journal.info("INFO:     Waiting for application shutdown.")
            return None
        journal.info(f"INFO:     Uvicorn running on http://{host}:{port} (Press CTRL+C to quit)")
        return service

    def _go_without_port(self, engine: Engine) -> int:
        """The port is not ours: SGLang waits for its warm-up, which asks whoever holds the port."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if self._settings.playing("port_in_use"):
            while True:
                time.sleep(3600)
        if self._settings.playing("ready_line_lies"):
            time.sleep(self._settings.real(2.0))
            self._journal.info(READY)
        else:
            warm_up(engine, self._kill_own_tree)
        self._journal.info("INFO:     Application shutdown complete.")
        processes.kill_tree(tuple(self._children), own=False)
        return 3

    def _watch(self, engine: Engine) -> int:
        """Wait for signals, dead children and the drain; the exit code."""
        look: float | None = None
        self._reap(engine)  # one may have died before its signal was listened for
        while True:
            wait = None if look is None else max(0.0, look - time.monotonic())
            ready, _, _ = select.select([self._wake_read], [], [], wait)
            if ready:
                os.read(self._wake_read, 64)
            while self._signals:
                number = self._signals.pop(0)
                if number == signal.SIGINT and not self._settings.playing("stop_ignored"):
                    return self._leave()
                self._on_signal(engine, number)
            if engine.draining and look is None:
                look = self._next_look()
            if look is not None and time.monotonic() >= look:
                look = time.monotonic() + max(0.05, self._settings.real(_DRAIN_LOOK))
                if self._drained(engine):
                    return self._end_drain()

    def _on_signal(self, engine: Engine, number: int) -> None:
        if number == signal.SIGTERM and not self._settings.playing("stop_ignored"):
            self._journal.info(
                "SIGTERM received. signum=None frame=None. Draining requests and shutting down..."
            )
            engine.draining = True
        elif number == signal.SIGQUIT:
            self._crash(engine)
        elif number == signal.SIGCHLD:
            self._reap(engine)

    def _next_look(self) -> float:
        # SGLang looks every 5 s since it is up; the signal falls somewhere in between.
        every = self._settings.real(_DRAIN_LOOK)
        now = time.monotonic()
        return now + every - (now - self._began) % every if every > 0 else now

    def _drained(self, engine: Engine) -> bool:
        if engine.status == UNHEALTHY:
            self._journal.error("Signal SIGTERM received while health check failed. Force exiting.")
            self._diagnose(engine)
            self._kill_own_tree()
        left = engine.remaining()
        self._journal.info(
            f"Gracefully exiting... Remaining number of requests {len(left)}. Remaining requests "
            f"remaining_rids={left}."
        )
        return not left

    def _end_drain(self) -> int:
        slow = self._settings.playing("slow_drain")
        if slow is not None:
            time.sleep(slow.after)
        if self._settings.profile.term_exit != 0:
            self._kill_own_tree()
        self._say_kill(own=False)
        return self._leave()

    def _leave(self) -> int:
        self._journal.info("INFO:     Shutting down")
        self._journal.info("INFO:     Waiting for application shutdown.")
        self._journal.info("INFO:     Application shutdown complete.")
        self._journal.info(f"INFO:     Finished server process [{self._main}]")
        self._say_kill(own=False)
        processes.kill_tree(tuple(self._children), own=False)
        return 0

    def _reap(self, engine: Engine) -> None:
        for pid, name in list(self._children.items()):
            gone, status = os.waitpid(pid, os.WNOHANG)
            if not gone:
                continue
            del self._children[pid]
            if name == "tracker":
                continue
            code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            self._journal.error(
                f"Subprocess {name} (pid={pid}) crashed with exit code {code}. Triggering SIGQUIT "
                "for cleanup..."
            )
            self._crash(engine)

    def _crash(self, engine: Engine) -> NoReturn:
        self._journal.error(
            "SIGQUIT received. signum=None, frame=None. It usually means one child failed."
        )
        self._diagnose(engine)
        self._kill_own_tree()

    def _schedulers_left(self) -> bool:
        for pid, name in list(self._children.items()):
            if name.startswith("scheduler") and os.waitpid(pid, os.WNOHANG)[0]:
                del self._children[pid]
        return any(name.startswith("scheduler") for name in self._children.values())

    def _diagnose(self, engine: Engine) -> None:
        """0.5.23 looks for the cause first; nothing is answered meanwhile."""
        profile = self._settings.profile
        if not profile.crash_wait:
            return
        engine.frozen = True
        self._journal.info(
            "Sleeping 5 seconds before crash diagnostics to let GPU activity settle."
        )
        time.sleep(self._settings.real(profile.crash_wait))
        if self._schedulers_left():
            self._journal.info("Waiting 60.0 seconds for CUDA coredumps before exiting.")
            time.sleep(self._settings.real(profile.coredump_wait))
        else:
            self._journal.info(
                "No live scheduler processes found; skipping py-spy and CUDA coredump."
            )

    def _say_kill(self, *, own: bool) -> None:
        if self._settings.profile.args_as_dict:
            self._journal.info(
                f"kill_process_tree called: parent_pid={self._main}, include_parent={own}, "
                f"pid={self._main}"
            )

    def _kill_own_tree(self) -> NoReturn:
        self._say_kill(own=True)
        processes.kill_tree(tuple(self._children), own=True)
        time.sleep(60)
        os._exit(1)
