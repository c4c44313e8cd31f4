"""The same playbook run by ansible-core and by relight, and what each left behind."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import pwd
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BOOKS = HERE / "books"
COUNTS = ("ok", "changed", "unreachable", "failed", "skipped", "rescued", "ignored")
VOLATILE = frozenset({
    # times, places and numbers that no two runs share
    "start", "end", "delta", "stop", "elapsed", "atime", "ctime", "mtime", "inode", "dev",
    "version", "src", "backup_file", "date", "server", "stdout_pause",
    # what ansible-core says about itself
    "invocation", "exception", "deprecations", "warnings", "failed_when_suppressed_exception",
    # sizes of folders depend on the file system's history
    "blocks",
})  # fmt: skip


@dataclass(frozen=True)
class Left:
    """What a run left: its exit code, every host's counts, every file under the folder."""

    exit_code: int
    counts: dict[str, dict[str, int]]
    files: dict[str, Any]


@dataclass(frozen=True)
class Reach:
    """How the hosts of an inventory are reached: variables for both, an environment for Ansible."""

    name: str = "local"
    variables: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


LOCAL = Reach()


@dataclass(frozen=True)
class Book:
    """A playbook and what its header says: options, how often it runs, over SSH too, its hosts.

    `needs` is "root" where it changes owners or becomes another user.
    """

    path: Path
    options: tuple[str, ...]
    runs: int
    also: str
    needs: str
    inventory: Path

    def option(self, name: str) -> str | None:
        """Return the value of an option; "" for a switch, None when it is not given."""
        if name not in self.options:
            return None
        after = self.options[self.options.index(name) + 1 :]
        return after[0] if after and not after[0].startswith("--") else ""


def book(path: Path) -> Book:
    """Read the header of a playbook."""
    text = path.read_text()
    said = dict(re.findall(r"^# (options|runs|also|needs|inventory): (.*)$", text, re.MULTILINE))
    return Book(
        path,
        tuple(said.get("options", "").split()),
        int(said.get("runs", "1")),
        said.get("also", ""),
        said.get("needs", ""),
        HERE / said.get("inventory", "inventory.yml"),
    )


def cache() -> Path:
    """Return the folder for what is made once: ansible-core and its results."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # whatever HOME a test sets
    return Path(os.environ.get("RELIGHT_CACHE") or home / ".cache" / "relight")


@contextmanager
def folder(name: str) -> Iterator[Path]:
    """Give an empty folder that has the same path in every run."""
    out = cache() / "parity" / name / "out"
    out.parent.mkdir(parents=True, exist_ok=True)
    with (out.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        out.chmod(0o755)
        try:
            yield out
        finally:
            shutil.rmtree(out, ignore_errors=True)


def files(out: Path, port: int) -> dict[str, Any]:
    """Return every path under a folder: kind, mode, and content without what is volatile."""
    found: dict[str, Any] = {}
    for path in sorted(out.rglob("*")):
        info = path.lstat()
        mode = f"{stat.S_IMODE(info.st_mode):04o}"
        name = str(path.relative_to(out))
        if path.is_symlink():
            found[name] = ["link", str(path.readlink())]
        elif path.is_dir():
            found[name] = ["folder", mode]
        else:
            found[name] = ["file", mode, content(path.read_text(), port)]
    return found


def content(text: str, port: int) -> Any:
    """Return JSON as data without volatile keys, anything else as text."""
    try:
        return stable(json.loads(text), port)
    except ValueError:
        return text.replace(str(port), "PORT")


def stable(value: Any, port: int) -> Any:
    """Return data without the keys that no two runs share."""
    if isinstance(value, dict):
        kept = {k: stable(v, port) for k, v in value.items() if k not in VOLATILE}
        if kept.get("state") == "directory" or kept.get("isdir"):
            kept.pop("size", None)
            kept.pop("nlink", None)
        return kept
    if isinstance(value, list):
        return [stable(item, port) for item in value]
    if isinstance(value, str):
        return value.replace(str(port), "PORT")
    return "PORT" if value == port else value


def by_ansible(one: Book, out: Path, port: int, ansible: Path, reach: Reach = LOCAL) -> Left:
    """Run it with ansible-core.

    With RELIGHT_KEEP_ANSIBLE set, return what the same run left the last time: for writing
    playbooks only, since what it left depends on the machine and the environment too.
    """
    digest = hashlib.sha256(f"{one.options}{ansible}{reach.name}".encode())
    beside = [path for path in BOOKS.rglob("*") if path.is_file() and path.parent != BOOKS]
    served = [HERE / "web.py"] if "{{ web" in one.path.read_text() else []
    hosts = [one.inventory, *(HERE / "sites").glob("*_vars/*")]
    for path in sorted([one.path, *hosts, *beside, *served]):
        digest.update(path.read_bytes())
    kept = cache() / "parity" / one.path.stem / f"{digest.hexdigest()[:16]}.json"
    if kept.exists() and os.environ.get("RELIGHT_KEEP_ANSIBLE"):
        return Left(**json.loads(kept.read_text()))
    environment = {
        **os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_PYTHON_INTERPRETER": str(ansible / "bin/python"),
        "ANSIBLE_RETRY_FILES_ENABLED": "false", "ANSIBLE_HOME": str(cache() / "ansible-home"),
        "LC_ALL": "C.UTF-8", **reach.environment,
    }  # fmt: skip
    command = [
        str(ansible / "bin/ansible-playbook"), "-i", str(one.inventory), str(one.path),
        "-e", json.dumps({**extra(out, port), **reach.variables}), *one.options,
    ]  # fmt: skip
    for _ in range(one.runs):
        ran = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    counts = recap(ran.stdout)
    if not counts:
        raise AssertionError(ran.stdout + ran.stderr)
    (kept.parent / "last.txt").write_text(ran.stdout + ran.stderr)
    left = Left(ran.returncode, counts, files(out, port))
    kept.write_text(json.dumps(left.__dict__))
    return Left(**json.loads(kept.read_text()))


def recap(text: str) -> dict[str, dict[str, int]]:
    """Return the counts of a recap as either tool prints it, by host."""
    return {
        host: _counts({name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", said)})
        for host, said in re.findall(r"^(\S+)\s+: (ok=.*)$", text, re.MULTILINE)
    }


def _counts(said: dict[str, int]) -> dict[str, int]:
    return {key: said.get(key, 0) for key in COUNTS}


def extra(out: Path, port: int) -> dict[str, Any]:
    """Return the extra variables of both runs."""
    web = {"web": f"http://127.0.0.1:{port}", "web_port": port}
    return {"out": str(out), "extra": "extra", **web}


def by_relight(one: Book, out: Path, port: int, reach: Reach = LOCAL) -> Left:
    """Run it with relight."""
    from relight.connections import connect  # noqa: PLC0415
    from relight.core.language.playbook import split_tags  # noqa: PLC0415
    from relight.executor import load, run  # noqa: PLC0415
    from relight.project.loader import load as load_project  # noqa: PLC0415

    variables = {**extra(out, port), **reach.variables}
    project = load_project(BOOKS, [str(one.inventory)], [json.dumps(variables)])
    loaded = load(project, one.path, variables)
    _forget(loaded, project.hosts("all"))
    for _ in range(one.runs):
        recap = run(
            loaded,
            project,
            limit=one.option("--limit"),
            tags=split_tags(one.option("--tags")),
            skip_tags=split_tags(one.option("--skip-tags")),
            extra_vars=variables,
            check=one.option("--check") is not None,
            diff=one.option("--diff") is not None,
            report=lambda _event: None,
            connect=connect,
        )
    counts = {host: _counts(said.model_dump()) for host, said in recap.hosts.items()}
    found = json.loads(json.dumps(files(out, port)))
    return Left(recap.exit_code, counts, found)


def _forget(loaded: Any, hosts: Sequence[str]) -> None:
    """Remove what an earlier run of the playbook kept for this one: Ansible keeps nothing."""
    from relight.executor.kept import key  # noqa: PLC0415

    for home in {Path.home(), Path(pwd.getpwuid(os.getuid()).pw_dir)}:
        for play in loaded.plays:
            for host in hosts:
                name = key(loaded.path, play, host)
                (home / ".relight" / "handlers" / name).unlink(missing_ok=True)


def differences(ours: Any, theirs: Any, where: str = "") -> list[str]:
    """Return every leaf in which two results differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = sorted({*ours, *theirs})
        return [
            line
            for key in keys
            for line in differences(
                ours.get(key, "(absent)"), theirs.get(key, "(absent)"), f"{where}/{key}"
            )
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{where}/{i}")]
    same = ours == theirs and type(ours) is type(theirs)
    return [] if same else [f"{where}: relight {ours!r}, ansible-core {theirs!r}"]
