"""known_hosts as OpenSSH writes and reads it: plain, hashed, patterns, several keys, revoked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from relight.connections.hostkeys import Known, fingerprint, known
from tests import sshd as servers

pytestmark = pytest.mark.skipif(
    not Path("/usr/bin/ssh-keygen").exists(), reason="ssh-keygen is not installed"
)


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A public key as known_hosts has it: type and base64."""
    path = tmp_path_factory.mktemp("keys") / "key"
    servers.generate_key(path)
    return " ".join(path.with_suffix(".pub").read_text().split()[:2])


def read(file: Path, host: str = "box", port: int = 22, **settings: str) -> Known:
    """Read one file and no other."""
    return known(
        {"userknownhostsfile": str(file), "globalknownhostsfile": "none", **settings}, host, port
    )


@pytest.mark.parametrize(
    ("names", "host", "port", "matches"),
    [
        ("box", "box", 22, True),
        ("BOX,other", "box", 22, True),
        ("box", "box", 2222, False),
        ("[box]:2222", "box", 2222, True),
        ("[box]:2222", "box", 22, False),
        ("*.example.org", "a.example.org", 22, True),
        ("*.example.org,!b.example.org", "b.example.org", 22, False),
        ("!b.example.org,*.example.org", "b.example.org", 22, False),
        ("bo?", "box", 22, True),
        ("b[o]x", "box", 22, False),
        ("# box", "box", 22, False),
        ("@cert-authority box", "box", 22, False),
    ],
)
def test_names(
    tmp_path: Path, public: str, names: str, host: str, port: int, *, matches: bool
) -> None:
    """A line means the hosts that OpenSSH says it means."""
    file = tmp_path / "known_hosts"
    file.write_text(f"\n# a comment\nnonsense\nbox ssh-ed25519 AAAA!\n{names} {public}\n")
    assert bool(read(file, host, port).keys) is matches


def test_hashed_names(tmp_path: Path, public: str) -> None:
    """Names that ssh-keygen hashed are found."""
    file = tmp_path / "known_hosts"
    file.write_text(f"[box]:2222 {public}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", file], check=True, capture_output=True)
    assert "box" not in file.read_text()
    assert read(file, "box", 2222).keys
    assert not read(file, "bux", 2222).keys


def test_an_alias_replaces_name_and_port(tmp_path: Path, public: str) -> None:
    """HostKeyAlias is looked up as it stands."""
    file = tmp_path / "known_hosts"
    file.write_text(f"alias {public}\n")
    assert read(file, "box", 2222, hostkeyalias="alias").keys


def test_revoked_keys_are_kept_apart(tmp_path: Path, public: str) -> None:
    """A key that is marked @revoked vouches for nobody."""
    file = tmp_path / "known_hosts"
    file.write_text(f"@revoked * {public}\n")
    found = read(file)
    assert not found.keys
    assert found.revoked


def test_known_kinds_are_asked_for_first(tmp_path: Path) -> None:
    """The server is asked for the kinds of key that are known, RSA under its new names."""
    file = tmp_path / "known_hosts"
    for kind in ("rsa", "ecdsa"):
        servers.generate_key(tmp_path / kind, kind=kind)
        with file.open("a") as lines:
            lines.write(f"box {(tmp_path / kind).with_suffix('.pub').read_text()}")
    offered = ("ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-256", "rsa-sha2-512")
    assert read(file).prefer(offered) == (
        "rsa-sha2-512",
        "rsa-sha2-256",
        "ecdsa-sha2-nistp256",
        "ssh-ed25519",
    )
    assert Known("x", (), ()).prefer(offered) == offered


def test_fingerprints_are_those_of_openssh(tmp_path: Path, public: str) -> None:
    """A fingerprint can be compared with what ssh-keygen prints."""
    file = tmp_path / "known_hosts"
    file.write_text(f"box {public}\n")
    listed = subprocess.run(["ssh-keygen", "-lf", file], check=True, capture_output=True)
    assert fingerprint(read(file).keys[0]) == listed.stdout.decode().split()[1]
