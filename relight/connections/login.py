"""From an address to an authenticated SSH transport: Fabric's configuration on our own socket."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fabric
import paramiko
import tenacity
from paramiko.message import Message

from relight.connections.hostkeys import Strict, Trusting, known
from relight.connections.reasons import Fleeting, unreachable
from relight.connections.sessions import Sessions
from relight.connections.wire import Watch, Wire, dial
from relight.core.address import Address
from relight.core.duration import spell
from relight.errors import Unreachable

# What paramiko logs, relight raises: without a handler Python would print its tracebacks.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

# These reach ssh_config's ProxyCommand and Match exec, which split words or start a shell.
_HOST = re.compile(r"[\w\[][\w.:%\[\]-]*")
_USER = re.compile(r"[\w][\w.@+-]*\$?")


class Login:
    """An authenticated transport, the hops under it, and the watch over its silence."""

    def __init__(self, address: Address, hops: list[fabric.Connection], wire: Wire) -> None:
        self._hops = hops
        self._wire = wire
        self.transport: paramiko.Transport = hops[-1].transport
        self._lost = "the connection was lost"
        self._limit = 2 * address.timeout
        # sshd answers this one, unlike paramiko's own keepalive: a reply is a sign of life.
        self.transport.packetizer.set_keepalive(self._limit / 6, self._probe)
        self._watch = Watch(wire, self._limit, self._fell_silent)
        self.sessions = Sessions(self.transport, address.timeout)

    @property
    def alive(self) -> bool:
        """Whether the transport still stands; an end that has come and was not read yet counts."""
        return self.transport.is_active() and not self._wire.ended

    @property
    def lost(self) -> str:
        """Why it stands no longer, for a person."""
        return self._lost

    def close(self) -> None:
        """Close the transport and its gateways, the nearest hop last."""
        self._watch.stop()
        self.sessions.close()
        _close(self._hops)

    def _probe(self) -> None:
        request = Message()
        request.add_byte(b"\x50")  # SSH_MSG_GLOBAL_REQUEST, RFC 4254 section 4
        request.add_string("keepalive@openssh.com")
        request.add_boolean(True)
        post(self.transport, request)

    def _fell_silent(self) -> None:
        if self.alive:
            self._lost = f"it fell silent: nothing came for {spell(self._limit)}"
            self.transport.close()


def post(transport: paramiko.Transport, message: Message) -> None:
    """Send a message without waiting for its reply, which paramiko's own calls all do."""
    transport._send_user_message(message)  # type: ignore[attr-defined]  # noqa: SLF001


def log_in(address: Address) -> Login:
    """Connect and authenticate; raises Unreachable with the reason.

    What may pass by itself (refused, reset, dropped before the greeting) is tried three times.
    """
    again = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Fleeting),
        stop=tenacity.stop_after_attempt(3),
        wait=tenacity.wait_random_exponential(multiplier=0.4, max=1.0),
        reraise=True,
    )
    login: Login = again(_log_in, address)
    return login


def _log_in(address: Address) -> Login:
    final = _configured(address)
    hops: list[fabric.Connection] = []
    opened: list[fabric.Connection] = []
    step = final
    while isinstance(step, fabric.Connection):
        hops.insert(0, step)
        step = step.gateway
    wire: Wire | None = None
    try:
        for hop in hops:
            wire = _open(hop, address, opened[-1] if opened else None)
            opened.append(hop)
    except BaseException:
        _close([*opened, *hops[len(opened) :]])
        raise
    if wire is None:
        raise Unreachable(address.name, "it has no address")
    return Login(address, hops, wire)


def _configured(address: Address) -> fabric.Connection:
    host = address.host or address.name
    if not _HOST.fullmatch(host):
        raise Unreachable(address.name, f"{host!r} is no host name")
    if address.user is not None and not _USER.fullmatch(address.user):
        raise Unreachable(address.name, f"{address.user!r} is no user name")
    settings = fabric.Config(lazy=True)
    try:
        settings.load_ssh_config()
        return fabric.Connection(host, user=address.user, port=address.port, config=settings)
    except (paramiko.SSHException, OSError, ValueError, KeyError) as error:
        why = str(error) or type(error).__name__
        raise Unreachable(address.name, f"~/.ssh/config or its address: {why}") from error


def _open(hop: fabric.Connection, address: Address, through: fabric.Connection | None) -> Wire:
    """Open one hop; `through` is the hop before it."""
    limit = address.timeout
    port = int(hop.port)
    trusted = known(hop.ssh_config, hop.host, port)
    user = f"{hop.user}@" if hop.user else ""
    at = f" -p {port}" if port != 22 else ""
    policy = Strict(trusted, f"`ssh{at} {user}{hop.original_host}`")
    hop.client.set_missing_host_key_policy(policy if address.host_key_checking else Trusting())
    keys = _key_files(address, hop)
    wire: Wire | None = None
    try:
        wire = Wire(_socket(hop, port, limit, through))
        hop.gateway = None  # the socket is its gateway
        hop.connect_timeout = limit
        hop.connect_kwargs = {
            "sock": wire,
            "key_filename": keys,
            "banner_timeout": limit,
            "auth_timeout": limit,
            "channel_timeout": limit,
            "transport_factory": _transport_of(trusted.prefer),
            "allow_agent": hop.ssh_config.get("identitiesonly", "no") != "yes",
        }
        hop.open()
    except (paramiko.SSHException, OSError, EOFError) as error:
        if wire is not None and hop.client.get_transport() is None:
            wire.close()
        raise unreachable(address, hop, error, wire.heard if wire else None, keys) from error
    return wire


def _socket(
    hop: fabric.Connection, port: int, limit: float, through: fabric.Connection | None
) -> Any:
    if through is not None:
        return through.transport.open_channel(
            "direct-tcpip", (hop.host, port), ("127.0.0.1", 0), timeout=limit
        )
    if isinstance(hop.gateway, str) and hop.gateway != "none":
        return hop.open_gateway()
    return dial(hop.host, port, limit)


def _transport_of(prefer: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Callable[..., Any]:
    def make(sock: Any, **options: Any) -> paramiko.Transport:
        transport = paramiko.Transport(sock, **options)
        wanted = transport.get_security_options()
        wanted.key_types = prefer(tuple(wanted.key_types))
        return transport

    return make


def _key_files(address: Address, hop: fabric.Connection) -> list[str]:
    """Return the private keys to offer; raises Unreachable when the inventory's is not there."""
    keys: list[str] = []
    if address.private_key_file is not None:
        path = Path(address.private_key_file).expanduser()
        if not path.is_file():
            raise Unreachable(address.name, f"the private key file {path} does not exist")
        keys.append(str(path))
    configured = [Path(file).expanduser() for file in hop.ssh_config.get("identityfile", ())]
    return keys + [str(path) for path in configured if path.is_file()]


def _close(hops: list[fabric.Connection]) -> None:
    for hop in reversed(hops):
        hop.client.close()
