"""Getting in over SSH: configuration, keys, gateways, and the reason for each way to fail."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from relight.connections import Result, connect
from relight.core.address import Address
from relight.errors import Unreachable
from tests import sshd as servers
from tests.connections.conftest import require_sshd

pytestmark = pytest.mark.ssh


def refusal(address: Address) -> str:
    """Return why a host cannot be reached."""
    with pytest.raises(Unreachable) as caught:
        connect(address).close()
    return str(caught.value)


@contextlib.contextmanager
def peer(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Listen on a free port, and let `serve` have each connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept: list[socket.socket] = []

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken, _ = server.accept()
                    kept.append(taken)
                    serve(taken)

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        for one in kept:
            one.close()


def test_an_ordinary_user_gets_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary user logs in with a key and works as that user, in that home."""
    require_sshd()
    user = servers.ordinary_user()
    server = servers.start(tmp_path / "sshd", user=user)
    monkeypatch.setenv("HOME", str(server.home))
    try:
        opened = connect(server.address())
        assert opened.control("id -un; cd; pwd").out.splitlines()[0] == user
        assert opened.run("id -un").out.strip() == user
        opened.close()
    finally:
        server.stop()


def test_a_noisy_login_disturbs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a login shell prints before our first word is in no answer."""
    require_sshd()
    noise = "echo Welcome; echo MOTD >&2; printf 'no newline'"
    server = servers.start(tmp_path / "sshd", user=servers.ordinary_user(), noise=noise)
    monkeypatch.setenv("HOME", str(server.home))
    try:
        opened = connect(server.address())
        assert opened.run("bash -c :").stdout == b"Welcome\nno newline"  # the noise is really made
        for act in (opened.control, opened.run, opened.control):
            assert act("echo out; echo err >&2") == Result(0, b"out\n", b"err\n")
        assert opened.control("cat", data=b"\0").stdout == b"\0"
        assert opened.follow("echo out").read(5) == b"out\n"
        opened.close()
    finally:
        server.stop()


def test_ssh_config_names_everything(own_sshd: servers.Sshd) -> None:
    """An address that is only a name takes host, port, user, key and host key from ssh_config."""
    vouched = own_sshd.home / "elsewhere"
    key = (own_sshd.folder / "host_ed25519.pub").read_text()
    vouched.write_text(f"the-alias {key}")
    own_sshd.known_hosts.write_text("")
    moved = shutil.move(own_sshd.key, own_sshd.home / "the key")
    own_sshd.config.write_text(
        f"Host box\n HostName 127.0.0.1\n Port {own_sshd.port}\n User {own_sshd.user}\n"
        f' IdentityFile "{moved}"\n IdentitiesOnly yes\n'
        " UserKnownHostsFile ~/elsewhere\n HostKeyAlias the-alias\n"
    )
    opened = connect(Address(name="box", timeout=5.0))
    assert opened.control("echo in").stdout == b"in\n"
    opened.close()


def test_a_gateway_is_passed_through(own_sshd: servers.Sshd) -> None:
    """ProxyJump leads through another SSH server, whose host key is checked as well."""
    own_sshd.config.write_text(
        f"Host gate\n HostName 127.0.0.1\n Port {own_sshd.port}\n User {own_sshd.user}\n"
        f"Host box\n HostName 127.0.0.1\n Port {own_sshd.port}\n User {own_sshd.user}\n"
        " ProxyJump gate\n"
    )
    opened = connect(Address(name="box", timeout=5.0))
    assert opened.control("echo $SSH_CONNECTION").out.startswith("127.0.0.1 ")
    assert len(own_sshd.sessions()) == 2
    opened.close()
    own_sshd.known_hosts.write_text("")
    assert "host key is unknown" in refusal(Address(name="box", timeout=5.0))


def test_a_gateway_that_leads_nowhere_is_named(own_sshd: servers.Sshd) -> None:
    """A host that the gateway cannot reach is told from a gateway that cannot be reached."""
    nobody = servers.free_port()
    own_sshd.config.write_text(
        f"Host gate\n HostName 127.0.0.1\n Port {own_sshd.port}\n User {own_sshd.user}\n"
        f"Host box\n HostName 127.0.0.1\n Port {nobody}\n ProxyJump gate\n"
    )
    why = refusal(Address(name="box", timeout=5.0))
    assert f"the gateway opens no way to 127.0.0.1:{nobody}" in why


def test_an_agent_opens_the_door(own_sshd: servers.Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that only an agent holds is used."""
    agent = subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(own_sshd.home / "agent")], stdout=subprocess.DEVNULL
    )
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(own_sshd.home / "agent"))
        deadline = time.monotonic() + 5
        while subprocess.run(["ssh-add", "-q", str(own_sshd.key)], check=False).returncode:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        own_sshd.key.unlink()
        opened = connect(own_sshd.address(private_key_file=None))
        assert opened.control("echo in").stdout == b"in\n"
        opened.close()
    finally:
        agent.terminate()
        agent.wait(5)


def test_an_unknown_host_key_is_refused(own_sshd: servers.Sshd) -> None:
    """The reason names the key's type and fingerprint and how to accept it; nothing is stored."""
    own_sshd.known_hosts.write_text("")
    public = own_sshd.folder / "host_ed25519.pub"
    listed = subprocess.run(["ssh-keygen", "-lf", public], capture_output=True, check=True)
    why = refusal(own_sshd.address())
    assert "its host key is unknown: ssh-ed25519" in why
    assert listed.stdout.decode().split()[1] in why
    assert f"`ssh -p {own_sshd.port} {own_sshd.user}@127.0.0.1`" in why
    assert own_sshd.known_hosts.read_text() == ""


def test_a_changed_host_key_is_refused(own_sshd: servers.Sshd) -> None:
    """A key that is not the known one is told from an unknown one, with both fingerprints."""
    other = own_sshd.home / "other"
    servers.generate_key(other)
    place = f"[127.0.0.1]:{own_sshd.port}"
    own_sshd.known_hosts.write_text(f"{place} {other.with_suffix('.pub').read_text()}")
    why = refusal(own_sshd.address())
    assert "its host key has CHANGED" in why
    assert len(set(re.findall(r"SHA256:\S{43}", why))) == 2
    assert f"ssh-keygen -R '{place}'" in why


def test_host_keys_go_unchecked_only_on_demand(own_sshd: servers.Sshd) -> None:
    """An address without host key checking gets in, and nothing is written down."""
    own_sshd.known_hosts.write_text("")
    opened = connect(own_sshd.address(host_key_checking=False))
    opened.close()
    assert own_sshd.known_hosts.read_text() == ""


def test_a_refused_key_is_named(own_sshd: servers.Sshd) -> None:
    """No method left: the reason names the user, what the server takes and the key it refused."""
    stranger = own_sshd.home / "stranger"
    servers.generate_key(stranger)
    own_sshd.key.unlink()
    why = refusal(own_sshd.address(private_key_file=str(stranger)))
    assert f"no authentication method is left for the user {own_sshd.user}" in why
    assert f"the key {stranger} was refused" in why


def test_an_encrypted_key_says_how_to_unlock_it(own_sshd: servers.Sshd) -> None:
    """A key under a passphrase that no agent holds ends in words, not in a prompt."""
    locked = own_sshd.home / "locked"
    servers.generate_key(locked, "secret words")
    own_sshd.key.unlink()
    why = refusal(own_sshd.address(private_key_file=str(locked)))
    assert f"the key {locked} is encrypted: unlock it with `ssh-add {locked}`" in why


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_other_kinds_of_keys_get_in(own_sshd: servers.Sshd, kind: str) -> None:
    """RSA and ECDSA keys are taken as Ed25519 ones are."""
    key = own_sshd.home / kind
    servers.generate_key(key, kind=kind)
    with (own_sshd.folder / "authorized_keys").open("a") as file:
        file.write(key.with_suffix(".pub").read_text())
    own_sshd.key.unlink()
    connect(own_sshd.address(private_key_file=str(key))).close()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"host": "no-such-host.invalid"}, "the name no-such-host.invalid does not resolve"),
        ({"host": "-oProxyCommand=touch x"}, "'-oProxyCommand=touch x' is no host name"),
        ({"host": "a;touch x"}, "'a;touch x' is no host name"),
        ({"user": "-x y"}, "'-x y' is no user name"),
        ({"private_key_file": "/nowhere/key"}, "private key file /nowhere/key does not exist"),
        ({"private_key_file": __file__, "user": "nobody"}, f"{__file__} is no private key"),
    ],
)
def test_wrong_words_in_the_inventory_are_named(
    own_sshd: servers.Sshd, changes: dict[str, Any], why: str
) -> None:
    """What the inventory says wrongly comes back in the reason."""
    own_sshd.key.rename(own_sshd.home / "kept")
    base = {"private_key_file": str(own_sshd.home / "kept")}
    assert why in refusal(own_sshd.address(**{**base, **changes}))


def test_nobody_listens(own_sshd: servers.Sshd) -> None:
    """A refused connection is called so, with its place."""
    port = servers.free_port()
    why = refusal(own_sshd.address(port=port))
    assert f"connection refused: nothing listens on 127.0.0.1:{port}" in why


def test_a_server_of_another_kind_is_told(own_sshd: servers.Sshd) -> None:
    """A port that answers in another language than SSH is told from a silent one."""
    with peer(lambda taken: taken.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 40)) as port:
        assert "answers, but not as an SSH server" in refusal(own_sshd.address(port=port))


def test_a_dropped_greeting_is_tried_again(own_sshd: servers.Sshd) -> None:
    """A server that hangs up before its greeting is tried three times, then named."""
    taken: list[socket.socket] = []

    def hang_up(one: socket.socket) -> None:
        taken.append(one)
        one.shutdown(socket.SHUT_RDWR)

    with peer(hang_up) as port:
        assert "closed the connection" in refusal(own_sshd.address(port=port))
    assert len(taken) == 3
