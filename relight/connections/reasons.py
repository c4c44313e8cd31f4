"""Why a host could not be reached, in words for the person who has to do something about it."""

from __future__ import annotations

import errno
import socket
from typing import Any

import paramiko

from relight.connections.hostkeys import HostKeyRefused
from relight.core.address import Address
from relight.core.duration import spell
from relight.errors import Unreachable

_NO_ROUTE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN)
_DROPPED = (errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED)


class Fleeting(Unreachable):
    """A reason that often passes by itself: connecting again is safe and worth it."""


def unreachable(
    address: Address, hop: Any, error: Exception, heard: int | None, keys: list[str]
) -> Unreachable:
    """Return the error for one hop (a fabric.Connection) that did not open.

    `heard` counts what came from the peer; None when there was no connection to hear from.
    """
    if isinstance(error, HostKeyRefused):
        return Unreachable(address.name, str(error))
    if isinstance(error, paramiko.AuthenticationException) or _about_keys(error):
        return Unreachable(address.name, _refused(hop, error, keys))
    place = f"{hop.host}:{hop.port}"
    if isinstance(error, paramiko.ChannelException):
        return Unreachable(address.name, f"the gateway opens no way to {place}: {error.text}")
    if isinstance(error, socket.gaierror):
        return Unreachable(address.name, f"the name {hop.host} does not resolve: {error.strerror}")
    if heard is None:
        return _unconnected(address, error, place)
    return _unfinished(address, error, place, heard)


def _about_keys(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, paramiko.PasswordRequiredException) or any(
        part in text for part in ("authentication methods", "private key", "Too many")
    )


def _unconnected(address: Address, error: Exception, place: str) -> Unreachable:
    limit = spell(address.timeout)
    code = error.errno if isinstance(error, OSError) else None
    if isinstance(error, ConnectionRefusedError):
        return Fleeting(address.name, f"connection refused: nothing listens on {place}")
    if isinstance(error, TimeoutError):
        return Unreachable(address.name, f"no answer from {place} within {limit}")
    if code in _NO_ROUTE:
        return Unreachable(address.name, f"no route to {place}")
    if code in _DROPPED:
        return Fleeting(address.name, f"{place} dropped the connection")
    return Unreachable(address.name, f"{place}: {error}")


def _unfinished(address: Address, error: Exception, place: str, heard: int) -> Unreachable:
    """Return the reason for a connection that stood, and never became a login."""
    limit = spell(address.timeout)
    text = str(error) or type(error).__name__
    if _ended(error) or "Negotiation failed" in text:
        when = "before the login was done" if heard else "without a greeting"
        return Fleeting(address.name, f"{place} closed the connection {when}")
    if not heard:
        return Unreachable(
            address.name, f"{place} accepted the connection and then said nothing for {limit}"
        )
    if "banner" in text or "Indecipherable" in text:
        return Unreachable(address.name, f"{place} answers, but not as an SSH server")
    if "No existing session" in text or "imeout" in text:
        return Unreachable(address.name, f"{place} fell silent during the login, for {limit}")
    return Unreachable(address.name, f"{place}: {text}")


def _ended(error: BaseException | None) -> bool:
    """Whether the end of the stream stands behind an error of paramiko's, which tells only so."""
    while error is not None:
        if isinstance(error, EOFError | ConnectionError):
            return True
        if isinstance(error, OSError) and error.errno in _DROPPED:
            return True
        error = error.__cause__ or error.__context__
    return False


def _refused(hop: Any, error: Exception, keys: list[str]) -> str:
    taken = getattr(error, "allowed_types", None)
    offers = f" (the server takes {', '.join(taken)})" if taken else ""
    notes = [_note(key) for key in keys]
    tried = f": {'; '.join(notes)}" if notes else ": no key file is configured for it"
    return f"no authentication method is left for the user {hop.user}{offers}{tried}"


def _note(file: str) -> str:
    """Say of one key file why it did not open the door."""
    try:
        paramiko.PKey.from_path(file)
    except (paramiko.PasswordRequiredException, TypeError):
        return f"the key {file} is encrypted: unlock it with `ssh-add {file}`"
    except OSError as error:
        return f"the key {file} cannot be read: {error.strerror}"
    except Exception:  # noqa: BLE001 - key parsers raise what they like; any of it means the same
        return f"{file} is no private key that can be read"
    return f"the key {file} was refused"
