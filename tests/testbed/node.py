"""One test host: its file system over the base image, its boots and its ends."""

import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tests.deadline import until
from tests.testbed.access import Access
from tests.testbed.base_image import USER
from tests.testbed.control_groups import ControlGroup
from tests.testbed.network import Network
from tests.testbed.process import Process
from tests.testbed.tools import run

SUPERVISE: Final = Path(__file__).with_name("supervise.sh")
# What systemd does on a signal from the realtime range, counted from SIGRTMIN: systemd(1).
POWER_OFF: Final = signal.SIGRTMIN + 4
REBOOT: Final = signal.SIGRTMIN + 5

Power = Literal["on", "off"]


@dataclass(frozen=True)
class Bind:
    """A folder of this machine that the hosts see, read-only unless `writable`."""

    source: str
    target: str
    writable: bool = False

    def option(self) -> str:
        """Return it as an option of systemd-nspawn."""
        source, target = (path.replace(":", "\\:") for path in (self.source, self.target))
        return f"--bind{'' if self.writable else '-ro'}={source}:{target}"


@dataclass(frozen=True)
class Node:
    """A host by its number, 1 to 99, in a folder that keeps its state over reboots."""

    number: int
    folder: Path
    network: Network
    group: ControlGroup

    @property
    def name(self) -> str:
        """Return its host name."""
        return f"node{self.number}"

    @property
    def address(self) -> str:
        """Return its address."""
        return self.network.address(self.number)

    @property
    def root(self) -> Path:
        """Return where its file system is mounted on this machine."""
        return self.folder / "root"

    @property
    def console(self) -> Path:
        """Return the log of its console, all boots one after the other."""
        return self.folder / "console.log"

    def mounted(self) -> bool:
        """Return whether its file system is mounted."""
        return os.path.ismount(self.root)

    def mount(self, base: Path) -> None:
        """Mount its own layer over the base image."""
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        if not self.mounted():
            layers = f"lowerdir={base},upperdir={self.folder}/upper,workdir={self.folder}/work"
            run("mount", "-t", "overlay", "overlay", "-o", layers, self.root)

    def settle_in(self, access: Access) -> None:
        """Write what makes it this host: name, address, host key, who may log in."""
        etc = self.root / "etc"
        (etc / "hostname").write_text(f"{self.name}\n", encoding="ascii")
        (etc / "hosts").write_text(f"127.0.0.1 localhost {self.name}\n", encoding="ascii")
        (etc / "systemd/network/10-host0.network").write_text(
            f"[Match]\nName=host0\n[Network]\nAddress={self.address}/24\nLinkLocalAddressing=no\n",
            encoding="ascii",
        )
        host_key = etc / "ssh/ssh_host_ed25519_key"
        host_key.touch(mode=0o600)
        shutil.copyfile(access.host_key(self.number), host_key)
        (etc / "ssh/sshd_config.d/host_key.conf").write_text(
            "HostKey /etc/ssh/ssh_host_ed25519_key\n", encoding="ascii"
        )
        passwd = (etc / "passwd").read_text(encoding="utf-8").splitlines()
        ids = {line.split(":")[0]: [int(part) for part in line.split(":")[2:4]] for line in passwd}
        for user, home in (("root", self.root / "root"), (USER, self.root / "home" / USER)):
            folder = home / ".ssh"
            folder.mkdir(mode=0o700, exist_ok=True)
            shutil.copyfile(access.key.with_suffix(".pub"), folder / "authorized_keys")
            for path in (folder, folder / "authorized_keys"):
                os.chown(path, *ids[user])

    def supervisor(self) -> Process | None:
        """Return the process that boots it again after a reboot; None when it is powered off."""
        try:
            pid, started = (self.folder / "supervisor").read_text(encoding="ascii").split()
        except (OSError, ValueError):
            return None
        found = Process(int(pid), int(started))
        return found if found.alive() else None

    def power(self) -> Power:
        """Return whether it is powered on, booting included."""
        return "on" if self.supervisor() or self.group.populated() else "off"

    def power_on(self, binds: tuple[Bind, ...]) -> None:
        """Boot it, unless it is on; return when its processes exist, long before it answers."""
        if self.power() == "on":
            return
        (self.folder / "supervisor").unlink(missing_ok=True)
        self.group.make()
        groups = ":".join(str(folder) for folder in self.group.folders())
        container = (
            "systemd-nspawn",
            "--quiet",
            "--boot",
            "--register=no",
            "--keep-unit",
            "--resolv-conf=off",
            "--timezone=off",
            "--link-journal=no",
            f"--directory={self.root}",
            f"--machine={self.network.machine(self.number)}",
            f"--hostname={self.name}",
            f"--network-bridge={self.network.bridge}",
            *(bind.option() for bind in binds),
        )
        redirected = ("sh", "-c", 'exec "$@" </dev/null >>"$0" 2>&1', self.console)
        supervisor = ("sh", SUPERVISE, self.folder / "supervisor", groups)
        run("setsid", "--fork", *redirected, *supervisor, *container)
        until(lambda: self.supervisor() is not None, 10, f"the start of {self.name}")

    def boot(self) -> Process | None:
        """Return its systemd of this boot, a different one after each; None when it is not up."""
        pid = self.group.first_process()
        return None if pid is None else Process.of(pid)

    def ask(self, wish: int) -> None:
        """Send its systemd a signal, POWER_OFF or REBOOT; nothing when it is not up."""
        if (boot := self.boot()) is not None:
            os.kill(boot.pid, wish)

    def power_cut(self) -> None:
        """End all its processes at one moment; what it wrote to its files before stays."""
        # First the supervisor and its process group, who might be at the start of the next boot.
        if (supervisor := self.supervisor()) is not None:
            supervisor.kill_group()
            until(lambda: not supervisor.alive(), 10, f"the end of the supervisor of {self.name}")
        self.group.kill()
        plug = Path("/sys/class/net") / self.network.plug(self.number)
        # The kernel takes a network namespace down in its own time, on a busy machine over 30 s.
        until(lambda: not plug.exists(), 120, f"the end of the link of {self.name}")

    def remove(self) -> None:
        """Power it off at once, unmount it and remove its folder and its control group."""
        self.power_cut()
        self.group.remove()
        if self.mounted():
            run("umount", self.root)
        if self.folder.exists():
            shutil.rmtree(self.folder)
