"""Adopt a running server that relight did not start: known-good from now on, and not restarted."""

from __future__ import annotations

import getpass
import socket
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from relight import __version__
from relight.core.build import PastedCommand
from relight.core.release import Release, another_id
from relight.core.startup import Ending
from relight.core.takeover import (
    ENV_FILE,
    KEPT_VARIABLES,
    Process,
    Takeover,
    read_found,
    read_secret,
    secret_variable,
    server_of,
    takeover,
)
from relight.deploy.build_checks import read_build
from relight.deploy.effective import keep_effective
from relight.deploy.look import look
from relight.deploy.proof import client, healthy
from relight.deploy.secrets import kept_files
from relight.deploy.target import Target
from relight.deploy.wanted import wanted_of
from relight.errors import HostError, RelightError, UsageError

_ANSWER_WITHIN = 15.0
_DEFAULT_PORT = 30000
_LOGIN_UNITS = ("ssh", "sshd", "user@", "cron", "crond", "getty@", "session-")


@dataclass(frozen=True)
class Server:
    """A running server that may be adopted, and the port that it should hold."""

    process: Process
    command: PastedCommand
    port: int


def find_server(target: Target, pid: int) -> Server:
    """Return who listens on the service's port (with `pid`: that process, or what started it).

    Raises HostError when it cannot be adopted: nobody there, relight's own, another user's, in a
    container, or no server of the preset's engine.
    """
    port = target.service.port
    if not pid and not port:
        raise UsageError(f"service {target.name} has no fixed port: name the process with --pid")
    asked = f"process {pid}" if pid else f"a server that listens on port {port}"
    names = "|".join(KEPT_VARIABLES)
    parts = ("host/20-processes.sh", "host/25-holders.sh", "adopt.sh")
    given = f"adopt_pid={int(pid)}\nadopt_port={port}\nadopt_names='{names}'\n"
    step = given + "\n".join(target.project.template(part) for part in parts)
    result = target.connection.control(step, timeout=60)
    if result.exit != 0:
        raise HostError(target.host, f"cannot look at {asked}: {result.err.strip()[-300:]}")
    try:
        found = read_found(result.out)
        process, command = server_of(found, target.engine.import_command, asked=asked)
    except ValueError as error:
        raise HostError(target.host, f"nothing to adopt: {error}") from None
    told = command.port or (port if not pid else 0) or _DEFAULT_PORT
    return Server(process, command, told)


def take_over(target: Target, fence: int, server: Server) -> Release:
    """Make a running server the known-good release and its launch; returns the release.

    Raises HostError when it does not answer: what does not serve is no way back.
    """
    store, process = target.store, server.process
    taken = _takeover(target, server)
    secrets = {ENV_FILE: taken.secrets} if taken.secrets else {}
    store.write_release(taken.release, taken.launch_sh, secrets)
    with client(target, taken.release) as http:
        wrong = healthy(http, target, taken.release)
    if wrong is not None:
        what = f"{process.shown} is not adopted: {wrong.summary}"
        raise HostError(target.host, what, "what does not answer is no way back; try again later")
    launch = store.adopt(fence, taken.release.id, process.pid, process.started, taken.release.port)
    _warn(target, server)
    try:
        _explain(target, taken.release, launch)
    except (RelightError, TimeoutError) as error:
        target.say(f"what is in effect was not kept: {error}", "warning")
    return taken.release


def _explain(target: Target, release: Release, launch: int) -> None:
    """Keep what is in effect; the build's defaults count where the engine is the inventory's."""
    reader = target.engine.reader()
    for piece in target.store.whole_log(launch):
        reader.feed(piece)
    reader.close()
    seen = look(target, write=True)
    wanted = None
    if seen.facts.engine_version == release.engine_version:
        wanted = wanted_of(target, seen, port=release.port)
        read_build(target, wanted, write=True)  # kept, and read from there
    reading = reader.reading(Ending(state="running"))
    keep_effective(target, wanted, release, launch, reading, seen.facts, None)


def _takeover(target: Target, server: Server) -> Takeover:
    """Return the release; the engine's version is what the server itself says, where it does."""
    known = target.store.status().releases
    taken = takeover(
        server.process,
        server.command,
        service=target.name,
        launcher=target.launcher.name,
        port=server.port,
        within=target.preset.readiness.within,
        known=known,
        origin={
            "by": f"{getpass.getuser()}@{socket.gethostname()}",
            "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "relight": __version__,
        },
    )
    name = taken.release.id
    kept = kept_files(target, name).own(name) if name in known else {}
    if name in known and kept.get(ENV_FILE, "") != taken.secrets.decode():
        name = another_id(known, name)
    found = {"id": name, "engine_version": _version(target, taken)}
    return replace(taken, release=taken.release.model_copy(update=found))


def _version(target: Target, taken: Takeover) -> str:
    """Return the version that the server tells; nothing when it tells none."""
    import httpx  # noqa: PLC0415 - start-up time

    # The release is not on the host yet, and neither is the file that its key is read from.
    bare = taken.release.model_copy(update={"secrets": ()})
    key = read_secret(taken.secrets.decode(), secret_variable("api-key"))
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with client(target, bare, timeout=_ANSWER_WITHIN) as http:
        try:
            told = http.get(target.engine.endpoints.info, headers=headers).json()["version"]
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            return ""
    return told[:40] if isinstance(told, str) and told.isprintable() else ""


def _warn(target: Target, server: Server) -> None:
    """Say what adoption cannot do."""
    unit = server.process.unit
    if unit and not unit.startswith(_LOGIN_UNITS):
        target.say(
            f"it was started under the systemd unit {unit}, which may start it again after a stop: "
            "disable that unit",
            "warning",
        )
    if target.launcher.survives_reboot:
        target.say("until relight starts it anew, a reboot does not bring it back", "warning")
