"""Writes a relight project for the real SGLang on the CPU: `python tests/real/project.py DIR`.

Hosts: cpu10 and cpu23 are this machine through the local connection, with SGLang 0.5.10 and
0.5.23. With --sshd an sshd on loopback is started, and there are ssh10 and ssh23 too: this machine
as an ordinary user over SSH; the command then stays until it is interrupted. layer10 is cpu10 with
`language-only` as a layer, which 0.5.10 refuses for this model.

Each host keeps its releases in a folder of its own below DIR, so nothing of ~/.relight is touched.
"""

import argparse
import os
import pwd
import shlex
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
if not __package__:  # run as a script
    sys.path.insert(0, str(ROOT))

from ruamel.yaml import YAML  # noqa: E402 - the path comes first

from tests import sshd  # noqa: E402
from tests.real.environment import VERSIONS, ensure, model  # noqa: E402
from tests.real.server import FLAGS, ONE_THREAD, free_port  # noqa: E402

Tree = dict[str, Any]
# For two busy cores: a quiet machine is ready in 20 s and answers in 1 s.
READINESS: Final[Tree] = {"within": "480s", "stall": "180s", "settle": "1s", "answer": "240s"}
# SGLang 0.5.10 and 0.5.23 refuse it for the tiny model.
TEXT_ONLY: Final[Tree] = {"text-only": {"flags": {"language-only": True}}}


def preset(version: str, **changes: Any) -> Tree:
    """Return the preset of the tiny model for one SGLang; `changes` are keys of a preset."""
    flags = {
        name: True if value is None else YAML(typ="safe").load(value)
        for name, value in FLAGS
        if name != "served-model-name"
    }
    whole: Tree = {
        "description": f"Two layers of random weights on the CPU, SGLang {version}",
        "engine": "sglang",
        "engine_version": f"=={version}",
        "model": model().name,
        "served_name": "tiny",
        "flags": flags,
        "env": dict(ONE_THREAD),
        "readiness": READINESS,
        "max_downtime": "15m",
        "drain": "20s",
        "benchmark": {"tool": "probe", "requests": 2, "max_tokens": 64},
    }
    return whole | changes


def host(version: str, home: Path, **changes: Any) -> Tree:
    """Return the variables of a host with that SGLang, which keeps its releases in `home`."""
    whole: Tree = {
        "ansible_connection": "local",
        "relight_engine": {"python": str(ensure(version)), "model_root": str(model().parent)},
        "relight_launcher": "process",
        "relight_home": str(home),
        "relight_services": {"main": {"preset": f"tiny-{version}", "port": free_port()}},
    }
    return whole | changes


def over_ssh(server: sshd.Sshd) -> Tree:
    """Return the variables that lead to a host through this sshd."""
    return {
        "ansible_connection": "ssh",
        "ansible_host": server.host,
        "ansible_port": server.port,
        "ansible_user": server.user,
        "ansible_ssh_private_key_file": str(server.key),
    }


def short(version: str) -> str:
    """Return the version as hosts' names carry it: 0.5.10 is 10."""
    return version.rpartition(".")[2]


def write(folder: Path, hosts: Mapping[str, Tree], presets: Mapping[str, Tree]) -> None:
    """Write the inventory and the presets of a project."""
    yaml = YAML()
    yaml.width = 200
    place = folder / "inventory" / "presets"
    place.mkdir(parents=True, exist_ok=True)
    with (folder / "inventory" / "hosts.yml").open("w", encoding="utf-8") as file:
        file.write("# SGLang on the CPU of this machine; written by tests/real/project.py.\n")
        yaml.dump({"all": {"hosts": dict(hosts)}}, file)
    for name, content in presets.items():
        with (place / f"{name}.yml").open("w", encoding="utf-8") as file:
            file.write("# A preset for the tiny model; written by tests/real/project.py.\n")
            yaml.dump(content, file)


def home_for(folder: Path, user: str) -> Path:
    """Return a folder that this user owns and can reach, as a host's `relight_home`."""
    folder.mkdir(parents=True, exist_ok=True)
    open_the_way(folder)
    if pwd.getpwnam(user).pw_uid != os.geteuid():
        shutil.chown(folder, user, user)
    return folder


def open_the_way(folder: Path) -> None:
    """Let other users pass through the folders above, where they belong to this user."""
    for above in folder.parents:
        status = above.stat()
        if status.st_uid == os.geteuid() and not status.st_mode & 0o001:
            above.chmod(status.st_mode | 0o001)


def lay(folder: Path, server: sshd.Sshd | None = None) -> list[str]:
    """Write the project with both versions, over SSH too when there is a server; return hosts."""
    me = pwd.getpwuid(os.geteuid()).pw_name
    hosts = {}
    for version in VERSIONS:
        name = f"cpu{short(version)}"
        hosts[name] = host(version, home_for(folder / "kept" / name, me))
        if server is not None:
            name = f"ssh{short(version)}"
            open_the_way(ensure(version))
            home = home_for(folder / "kept" / name, server.user)
            hosts[name] = host(version, home, **over_ssh(server))
    services = {"main": {"preset": "text-only", "port": free_port()}}
    home = home_for(folder / "kept" / "layer10", me)
    hosts["layer10"] = host("0.5.10", home, relight_services=services)
    presets = {f"tiny-{version}": preset(version) for version in VERSIONS}
    write(folder, hosts, presets | {"text-only": preset("0.5.10", layers=TEXT_ONLY)})
    return list(hosts)


def main(arguments: Sequence[str]) -> int:
    """Write the project, say what to do with it; with --sshd serve until interrupted."""
    parser = argparse.ArgumentParser(description="A relight project for SGLang on the CPU.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sshd", action="store_true", help="hosts over SSH too; stays")
    chosen = parser.parse_args(arguments)
    folder = chosen.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    server = sshd.start(folder / "sshd", user=sshd.ordinary_user()) if chosen.sshd else None
    try:
        hosts = lay(folder, server)
        say = f"cd {shlex.quote(str(folder))}"
        say += f" && export PYTHONPATH={shlex.quote(str(ROOT))}"
        if server is not None:
            say += f" HOME={shlex.quote(str(server.home))}"
        sys.stdout.write(f"hosts: {', '.join(hosts)}\n{say}\n")
        sys.stdout.write(f"{sys.executable} -m relight deploy --host {hosts[0]}\n")
        sys.stdout.flush()
        if server is not None:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        if server is not None:
            server.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
