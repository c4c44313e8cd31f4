"""One service on one host, through the host script: every method is one round trip."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from relight.connections import Connection, Result, Stream
from relight.core.ledger import fields
from relight.core.observed import Observed, Pulse, read_holder, read_pulse, read_status
from relight.core.release import Release
from relight.errors import Busy, HostError, Unreachable
from relight.store.host_script import HostScript
from relight.store.steps import in_one

_MISSING = 91
_STALE_FENCE = 75
_LOCKED = 76


class StaleFence(HostError):
    """The lock was taken over: this deploy may not change anything any more."""


def on_host(path: str) -> str:
    """Return a path as a shell word; a leading `~/` is the login user's home there."""
    if path == "~":
        return '"$HOME"'
    return '"$HOME"/' + shlex.quote(path[2:]) if path.startswith("~/") else shlex.quote(path)


@dataclass
class ServiceStore:
    """What one host keeps of one service (`HOME/SERVICE/`)."""

    connection: Connection
    home: str
    service: str
    script: HostScript
    _shipped: bool = field(default=False, init=False)

    @property
    def directory(self) -> str:
        """Return the service's folder as a shell word."""
        return f"{on_host(self.home)}/{shlex.quote(self.service)}"

    @property
    def host(self) -> str:
        """Return the host's name for messages."""
        return self.connection.address.name

    def command(self, *words: str | int) -> str:
        """Return the shell text that calls the host script."""
        return shlex.join(["sh"]) + f" {self.directory}/host.sh " + shlex.join(map(str, words))

    def status(self, port: int = 0) -> Observed:
        """Return how the service stands; ships the host script first where it is old or missing."""
        result = self._current(self.command("status", port), again=True)
        self._shipped = True
        return read_status(self._good(result, "read the state"))

    def peek(self, port: int = 0) -> Observed:
        """Return how the service stands and write nothing: a host without the script has none."""
        step = f"[ -f {self.directory}/host.sh ] || exit {_MISSING}; {self.command('status', port)}"
        result = self._twice(step)
        return Observed() if result.exit == _MISSING else read_status(self._good(result, "look"))

    def _current(self, command: str, *, again: bool) -> Result:
        """Run a command of the host script, shipping it first where it is old or missing."""
        version = f"sed -n '3s/^script_hash=//p' {self.directory}/host.sh 2>/dev/null"
        step = f'[ "$({version})" = {self.script.version} ] || exit {_MISSING}; {command}'
        result = self._twice(step) if again else self.connection.control(step)
        if result.exit == _MISSING:
            self._ship()
            result = self.connection.control(command)
        return result

    def _ship(self) -> None:
        place = f"{self.directory}/host.sh"
        step = (
            f"umask 077; mkdir -p {self.directory} && cat > {place}.new && "
            f"chmod 700 {place}.new && mv -f {place}.new {place}"
        )
        self._good(self.connection.control(step, data=self.script.text), "write the host script")

    def write_release(
        self, release: Release, launch_sh: bytes, private: Mapping[str, bytes] = {}
    ) -> bool:
        """Write a release's files, all or nothing; False when it stands there already.

        `private` are its files of secrets, by name; no text passes through a command line.
        """
        name = shlex.quote(release.id)
        base = f"{self.directory}/releases"
        files = {"launch.sh": launch_sh, "release.json": release.stored(), **private}
        written = "".join(
            f'head -c {len(data)} > {file} && [ "$(wc -c < {file})" -eq {len(data)} ] && '
            for file, data in ((shlex.quote(file), data) for file, data in files.items())
        )
        step = (
            f"umask 077; [ ! -d {base}/{name} ] || {{ cat >/dev/null; exit {_MISSING}; }}; "
            f"rm -rf {base}/.new-{name} && mkdir -p {base}/.new-{name} && cd {base}/.new-{name} && "
            f"{written}chmod 400 -- * && chmod 500 launch.sh && "
            "{ sync -- * 2>/dev/null || sync; } && "
            f"mv -T ../.new-{name} ../{name}"
        )
        result = self.connection.control(step, data=b"".join(files.values()), timeout=60)
        if result.exit == _MISSING:
            return False
        self._good(result, f"write release {release.id}")
        return True

    def read_release_file(self, release: str, name: str) -> str:
        """Return a file of a stored release."""
        path = f"{self.directory}/releases/{shlex.quote(release)}/{shlex.quote(name)}"
        return self._good(self.connection.control(f"cat {path}"), f"read {name} of {release}")

    def lock(
        self, holder: dict[str, str], lease: int, port: int | None = None
    ) -> tuple[int, Observed]:
        """Take the lock; returns its fence and, given a port, how the service stands under it.

        Raises `Busy` with the holder's own words.
        """
        words = (lease, "{" + fields(**holder) + "}", *(() if port is None else (port,)))
        result = self._current(self.command("lock", *words), again=False)
        if result.exit == _LOCKED:
            raise Busy(f"{self.host}: service {self.service} is held by {read_holder(result.out)}")
        fence, _, seen = self._good(result, "take the lock").partition("\n")
        return int(fence), read_status(seen)

    def unlock(self, fence: int) -> None:
        """Give the lock back."""
        self._do("give the lock back", "unlock", fence)

    def finish(self, fence: int) -> str:
        """Give the lock back, and disarm the dead-man when this deploy has confirmed or undone.

        Returns `settled` then, `untouched` when it had begun nothing, and `begun`, with nothing
        changed, when what it began is still to be undone.
        """
        return self._do("give the lock back", "finish", fence).strip()

    def record(
        self, fence: int, event: str, *then: str, data: bytes = b"", **details: object
    ) -> tuple[Result, ...]:
        """Append an event to the ledger.

        `then` are steps that run afterwards in the same round trip, with `data` as their stdin;
        returns how they ended, the one that failed being the last.
        """
        written = self.command("record", fence, event, fields(**details))
        first, *rest = in_one(self.connection, (f"{written} </dev/null", *then), data=data)
        self._good(first, "write the ledger")
        return tuple(rest)

    def arm(self, fence: int, seconds: float) -> None:
        """Arm the dead-man, or move its deadline."""
        self._do_twice("arm the dead-man", "arm", fence, int(seconds))

    def disarm(self, fence: int) -> None:
        """Disarm the dead-man."""
        self._do_twice("disarm the dead-man", "disarm", fence)

    def start(self, fence: int, release: str) -> tuple[int, int]:
        """Start a release; returns the launch's number and its main process."""
        return _launch(self._do(f"start {release}", "start", fence, release, timeout=60))

    def stop(self, fence: int, drain: float) -> str:
        """Stop the server; returns `drained`, `interrupted`, `killed`, or nothing when none ran."""
        return self._do(
            "stop the server", "stop", fence, int(drain), timeout=drain + 60, own_channel=True
        ).strip()

    def arm_and_stop(
        self, fence: int, drain: float, deadman: float, port: int
    ) -> tuple[str, tuple[str, ...]]:
        """Arm the dead-man and stop the server, if one runs.

        Returns what `stop` does, and who of others holds the port then.
        """
        words = ("stop", fence, int(drain), int(deadman), port)
        text = self._do("stop the server", *words, timeout=drain + 90, own_channel=True)
        how, _, seen = text.partition("\n")
        return how.strip(), read_status(seen).foreign

    def quit(self, fence: int, drain: float) -> str:
        """Stop the server because the operator wants it stopped, and keep it so."""
        return self._do(
            "stop the server", "quit", fence, int(drain), timeout=drain + 60, own_channel=True
        ).strip()

    def promote(self, fence: int, release: str) -> None:
        """Make the running release the known-good."""
        self._do_twice(f"promote {release}", "promote", fence, release)

    def confirm(self, fence: int, release: str, keep: int, *, let_go: bool = False) -> None:
        """Make the running release the known-good, disarm the dead-man and take old things away.

        With `let_go` the lock is given back with it.
        """
        words = ("confirm", fence, release, keep, *(("let-go",) if let_go else ()))
        self._do_twice(f"promote {release}", *words)

    def rollback(self, fence: int, drain: float, release: str, why: str) -> tuple[int, int]:
        """Stop what runs and start stored bytes; returns the new launch and its main process."""
        words = ("rollback", fence, int(drain), release, why)
        return _launch(
            self._do(f"roll back to {release}", *words, timeout=drain + 90, own_channel=True)
        )

    def adopt(self, fence: int, release: str, pid: int, started: int, port: int) -> int:
        """Make a running process the launch of a release, known-good; returns the launch."""
        words = ("adopt", fence, release, pid, started, port)
        return int(self._do(f"adopt process {pid}", *words, timeout=60).strip())

    def free_port(self, start: int = 30000) -> int:
        """Return a port on which nobody listens."""
        result = self.connection.control(self.command("free-port", start))
        return int(self._good(result, "find a free port").strip())

    def renew(self, fence: int) -> None:
        """Renew the lease and nothing else."""
        self._do("renew the lease", "renew", fence)

    def pulse(self, launch: int, fence: int, port: int) -> Pulse:
        """Look at a launch, and renew the lease on the way."""
        result = self._twice(self.command("pulse", launch, fence, port))
        return read_pulse(self._good(result, "look at the launch"))

    def follow(self, launch: int, offset: int = 0) -> Stream:
        """Stream a launch's log from a byte on, until the launch ends."""
        return self.connection.follow("exec " + self.command("follow", launch, offset))

    def whole_log(self, launch: int) -> Iterator[bytes]:
        """Yield a launch's log from its first byte to what it holds now."""
        path = f"{self.directory}/launches/{int(launch)}/server.log"
        stream = self.connection.follow(f"exec cat {path}")
        try:
            while (data := stream.read(60.0)) != b"":
                if data is not None:
                    yield data
        finally:
            stream.close()

    def log(self, launch: int, last_bytes: int) -> bytes:
        """Return the end of a launch's log."""
        path = f"{self.directory}/launches/{int(launch)}/server.log"
        return self.connection.run(f"tail -c {int(last_bytes)} {path}", timeout=60).stdout

    def _do(
        self, what: str, *words: str | int, timeout: float = 30.0, own_channel: bool = False
    ) -> str:
        command = self.command(*words)
        if own_channel:
            return self._good(self.connection.run(command, timeout=timeout), what)
        return self._good(self.connection.control(command, timeout=timeout), what)

    def _do_twice(self, what: str, *words: str | int) -> None:
        self._good(self._twice(self.command(*words)), what)

    def _twice(self, step: str) -> Result:
        """Run a step that may be repeated: a connection that was lost in it is opened anew."""
        try:
            return self.connection.control(step)
        except Unreachable:
            return self.connection.control(step)

    def _good(self, result: Result, what: str) -> str:
        if result.exit == 0:
            return result.out
        why = result.err.strip().removeprefix("relight: ") or f"exit status {result.exit}"
        if result.exit == _STALE_FENCE:
            raise StaleFence(self.host, f"cannot {what}: {why}")
        raise HostError(self.host, f"cannot {what}: {why}")


def _launch(text: str) -> tuple[int, int]:
    words = text.split()
    return int(words[-2]) if len(words) > 1 else int(words[-1]), (
        int(words[-1]) if len(words) > 1 else 0
    )
