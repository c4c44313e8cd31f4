"""What the testbed needs of this machine: root, and Debian packages that it installs itself."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.made_once import alone, cache

PACKAGE_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "systemd-nspawn": "systemd-container",
        "debootstrap": "debootstrap",
        "ssh": "openssh-client",
        "ssh-keygen": "openssh-client",
        "ip": "iproute2",
        "nft": "nftables",
        "setsid": "util-linux",
        "mount": "mount",
    }
)


class CannotRunError(Exception):
    """The testbed cannot run here; the message says what is missing and what would be right."""


def run(
    *command: str | Path, given: str | None = None, accept: Sequence[int] = (0,)
) -> subprocess.CompletedProcess[str]:
    """Run a command with `given` on its standard input and return what it said.

    Raises CannotRunError with its words when its exit code is not one of `accept`.
    """
    done = subprocess.run(command, input=given or "", capture_output=True, text=True, check=False)
    if done.returncode not in accept:
        line = " ".join(str(word) for word in command)
        raise CannotRunError(
            f"{line}: exit {done.returncode}: {(done.stderr or done.stdout).strip()}"
        )
    return done


def say(text: str) -> None:
    """Show progress on stderr."""
    sys.stderr.write(f"testbed: {text}\n")
    sys.stderr.flush()


def missing() -> list[str]:
    """Return the Debian packages of the commands that are not here, each once."""
    return sorted({name for tool, name in PACKAGE_OF.items() if shutil.which(tool) is None})


def require() -> None:
    """Return when everything needed is here, after installing it where that is possible.

    Raises CannotRunError for an ordinary user, a machine without apt, or a failed installation.
    """
    if os.geteuid() != 0:
        raise CannotRunError("needs root, for mounts and network links; run it with sudo")
    if not missing():
        return
    if shutil.which("apt-get") is None:
        raise CannotRunError(f"install {', '.join(missing())}; there is no apt-get here to do it")
    with alone(cache() / "apt.lock"):
        if not (names := missing()):
            return
        say(f"installing {', '.join(names)}")
        lock = ("-o", "DPkg::Lock::Timeout=120")
        run("apt-get", *lock, "update", "-q")
        quiet = ("env", "DEBIAN_FRONTEND=noninteractive")
        run(*quiet, "apt-get", *lock, "install", "-qy", "--no-install-recommends", *names)
    if names := missing():
        raise CannotRunError(f"{', '.join(names)}: installed, and still not on the PATH")
