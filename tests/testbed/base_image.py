"""The file system that every test host starts from: a small Debian with systemd, sshd, Python."""

import shutil
import time
from pathlib import Path
from typing import Final

from tests.made_once import cache, key, made_once
from tests.testbed.tools import CannotRunError, run, say

SUITE: Final = "bookworm"
# python3 and not python3-minimal, which has no json or http; libpam-systemd gives SSH logins
# their session scopes and user services, as on a host that people use.
PACKAGES: Final = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "dbus-user-session",
    "libpam-systemd",
    "openssh-server",
    "python3",
    "iproute2",
    "curl",
    "procps",
    "util-linux",
    "sudo",
)
USER: Final = "relight"
ATTEMPTS: Final = 3
# Nothing in a test host may start by the clock; mounts and units of hardware are not there.
MASKED: Final = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "systemd-networkd-wait-online.service",
    "console-getty.service",
)
SSHD: Final = """\
# Keys alone, and enough sessions for a tool that opens many at once.
PasswordAuthentication no
PermitRootLogin prohibit-password
UseDNS no
MaxStartups 100
MaxSessions 100
"""


def configure(root: Path) -> None:
    """Turn a fresh Debian into the image: users, sshd, network, nothing that is one host's own."""
    run("chroot", root, "useradd", "--create-home", "--shell", "/bin/bash", "--password", "*", USER)
    sudoers = root / "etc/sudoers.d/relight"
    sudoers.write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n", encoding="utf-8")
    sudoers.chmod(0o440)
    (root / "etc/ssh/sshd_config.d/testbed.conf").write_text(SSHD, encoding="utf-8")
    for found in (root / "etc/ssh").glob("ssh_host_*"):
        found.unlink()
    units = root / "etc/systemd/system"
    for unit in MASKED:
        place = units / unit
        place.unlink(missing_ok=True)
        place.symlink_to("/dev/null")
    wanted = units / "multi-user.target.wants" / "systemd-networkd.service"
    wanted.unlink(missing_ok=True)
    wanted.symlink_to("/lib/systemd/system/systemd-networkd.service")
    # Empty, so that each host gets one of its own and keeps it over reboots.
    (root / "etc/machine-id").write_text("", encoding="utf-8")
    (root / "var/lib/dbus/machine-id").unlink(missing_ok=True)
    for folder in ("var/cache/apt", "var/lib/apt/lists"):
        shutil.rmtree(root / folder, ignore_errors=True)


def build(folder: Path) -> None:
    """Fill an empty folder with the image; about a minute and 100 MB of downloads.

    Raises CannotRunError when debootstrap fails three times.
    """
    started = time.monotonic()
    include = f"--include={','.join(PACKAGES)}"
    for attempt in range(1, ATTEMPTS + 1):
        say(f"making the base image with debootstrap (attempt {attempt} of {ATTEMPTS})")
        try:
            run("debootstrap", "--variant=minbase", include, SUITE, folder)
            break
        except CannotRunError as error:
            if attempt == ATTEMPTS:
                raise
            say(str(error))
            shutil.rmtree(folder)
            folder.mkdir(mode=0o755)
    configure(folder)
    say(f"base image made in {time.monotonic() - started:.0f} s")


def base_image() -> Path:
    """Return the root folder of the image, made when it is not there yet; nobody writes to it."""
    recipe = Path(__file__).read_bytes()
    return made_once(cache() / f"testbed-base-{key(recipe)}", build)
