"""Which host keys the user's known_hosts files vouch for, and what to say of any other."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paramiko
from paramiko.hostkeys import HostKeyEntry, HostKeys, InvalidHostKey

_USER_FILES = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
_GLOBAL_FILES = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"
_RSA = ("rsa-sha2-512", "rsa-sha2-256")


class HostKeyRefused(paramiko.SSHException):
    """A host showed a key that nothing vouches for; the text is the reason for a person."""


@dataclass(frozen=True)
class Known:
    """The keys known for one host under one name of known_hosts, and those revoked."""

    name: str
    keys: tuple[paramiko.PKey, ...]
    revoked: tuple[paramiko.PKey, ...]

    def prefer(self, offered: Iterable[str]) -> tuple[str, ...]:
        """Return the key algorithms to ask for: those of the known keys first."""
        ours: list[str] = []
        for key in self.keys:
            ours += _RSA if key.get_name() == "ssh-rsa" else (key.get_name(),)
        rest = tuple(offered)
        first = tuple(dict.fromkeys(kind for kind in ours if kind in rest))
        return first + tuple(kind for kind in rest if kind not in first)


def known(settings: Mapping[str, Any], host: str, port: int) -> Known:
    """Read the known keys of a host, by ssh_config's UserKnownHostsFile and HostKeyAlias."""
    name = settings.get("hostkeyalias") or (host if port == 22 else f"[{host}]:{port}")
    files = settings.get("userknownhostsfile", _USER_FILES).split()
    files += settings.get("globalknownhostsfile", _GLOBAL_FILES).split()
    keys: list[paramiko.PKey] = []
    revoked: list[paramiko.PKey] = []
    for file in files:
        try:
            text = Path(file.strip('"')).expanduser().read_text(errors="replace")
        except (OSError, RuntimeError):
            continue
        for line in text.splitlines():
            marker, _, rest = line.strip().partition(" ")
            if marker == "@revoked":
                revoked += _matching(rest, name)
            elif not marker.startswith(("@", "#")):
                keys += _matching(line.strip(), name)
    return Known(name, tuple(keys), tuple(revoked))


class Strict(paramiko.MissingHostKeyPolicy):
    """Accept the known keys, and reject every other with a reason that says what to do."""

    def __init__(self, known: Known, login: str) -> None:
        self._known = known
        self._login = login

    def missing_host_key(
        self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey
    ) -> None:
        """Judge the key that the host showed; raises HostKeyRefused."""
        del client, hostname
        shown = f"{key.get_name()} {fingerprint(key)}"
        if key in self._known.revoked:
            raise HostKeyRefused(f"its host key {shown} is marked @revoked in known_hosts")
        if key in self._known.keys:
            return
        if self._known.keys:
            before = ", ".join(f"{old.get_name()} {fingerprint(old)}" for old in self._known.keys)
            raise HostKeyRefused(
                f"its host key has CHANGED: it shows {shown}, known_hosts has {before}; somebody "
                "may be listening in. If the host was reinstalled: "
                f"ssh-keygen -R '{self._known.name}', then {self._login} once"
            )
        raise HostKeyRefused(
            f"its host key is unknown: {shown} for {self._known.name}; compare it with "
            "`ssh-keygen -lf` of /etc/ssh/ssh_host_*_key.pub on the host, then accept it with "
            f"{self._login} once"
        )


class Trusting(paramiko.MissingHostKeyPolicy):
    """Accept any key, because the inventory said so; nothing is written down."""

    def missing_host_key(
        self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey
    ) -> None:
        """Accept."""


def fingerprint(key: paramiko.PKey) -> str:
    """Return a key's fingerprint as OpenSSH prints it: SHA256 and base64 without padding."""
    digest = hashlib.sha256(key.asbytes()).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def _matching(line: str, name: str) -> list[paramiko.PKey]:
    try:
        entry = HostKeyEntry.from_line(line)
    except (InvalidHostKey, paramiko.SSHException, ValueError):
        return []
    key = entry.key if entry else None
    if entry is None or key is None or not _named(entry.hostnames or (), name):
        return []
    return [key]


def _named(patterns: Iterable[str], name: str) -> bool:
    """Whether known_hosts patterns (hashed, negated, with * and ?) mean a name."""
    named = False
    for pattern in patterns:
        if pattern.startswith("|1|"):
            named = named or HostKeys.hash_host(name, pattern) == pattern
            continue
        glob = re.escape(pattern.removeprefix("!").lower())
        glob = glob.replace(r"\*", ".*").replace(r"\?", ".")
        if re.fullmatch(glob, name.lower()):
            if pattern.startswith("!"):
                return False
            named = True
    return named
