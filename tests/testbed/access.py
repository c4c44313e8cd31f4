"""How a test reaches the hosts: a key pair, known host keys and an ssh_config, made per testbed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.testbed.base_image import USER
from tests.testbed.tools import run

CONFIG_HEAD: Final = """\
# For `ssh -F`: the hosts of one testbed, as the user {user}; root@NAME works as well.
Host *
    User {user}
    IdentityFile {key}
    IdentitiesOnly yes
    UserKnownHostsFile {known_hosts}
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    PasswordAuthentication no
    ConnectTimeout 5
"""


def new_key(path: Path) -> None:
    """Write an ed25519 key pair without a passphrase, PATH and PATH.pub, unless it is there."""
    if not path.exists():
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "testbed", "-f", path)


@dataclass(frozen=True)
class Access:
    """The files in one testbed's folder that ssh reads."""

    folder: Path

    @property
    def key(self) -> Path:
        """Return the private key that root and the ordinary user of every host accept."""
        return self.folder / "key"

    @property
    def known_hosts(self) -> Path:
        """Return the known_hosts file, which names each host by its address and its name."""
        return self.folder / "known_hosts"

    @property
    def config(self) -> Path:
        """Return the ssh_config."""
        return self.folder / "ssh_config"

    def make(self) -> None:
        """Make the key pair where it is not there yet."""
        new_key(self.key)

    def host_key(self, number: int) -> Path:
        """Return a host's own private key, made at the first call."""
        path = self.folder / f"host_key{number}"
        new_key(path)
        return path

    def write(self, addresses: dict[int, str]) -> None:
        """Write known_hosts and ssh_config for the hosts with these addresses by number."""
        known, entries = [], []
        for number, address in sorted(addresses.items()):
            public = self.host_key(number).with_suffix(".pub").read_text(encoding="ascii")
            algorithm, data, _ = public.split(maxsplit=2)
            known.append(f"{address},node{number} {algorithm} {data}\n")
            entries.append(f"Host node{number}\n    HostName {address}\n")
        head = CONFIG_HEAD.format(user=USER, key=self.key, known_hosts=self.known_hosts)
        self.known_hosts.write_text("".join(known), encoding="ascii")
        # Hosts first: of several values for an option ssh takes the one that it reads first.
        self.config.write_text("".join((*entries, head)), encoding="utf-8")
