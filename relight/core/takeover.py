"""A running server that relight did not start: what its host tells, and the release it becomes.

The release's launch.sh repeats the start: words, variables that matter, folder. Secrets are kept
beside it, in a file of their own (`releases/ID/env`).
"""

from __future__ import annotations

import base64
import binascii
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from relight.core.attempt import Recipe
from relight.core.build import PastedCommand
from relight.core.release import Release, digest, release_id

ENV_FILE = "env"
PRESET = "adopted"
KEPT_VARIABLES = (
    "SGLANG_", "SGL_", "CUDA_", "NVIDIA_", "NCCL_", "GLOO_", "UCX_", "HF_", "HUGGING",
    "TRANSFORMERS_", "MODELSCOPE_", "VLLM_", "OMP_", "TORCH", "PYTORCH_", "TRITON_", "FLASHINFER_",
    "PYTHON", "LD_",
    "PATH=", "VIRTUAL_ENV=", "CONDA_PREFIX=", "RELIGHT_STANDIN_",
)  # fmt: skip
"""Beginnings of the variables that decide how a server starts; the others stay behind."""

_SECRET_WORD = "RELIGHT_SECRET_"  # noqa: S105 - the beginning of a variable's name
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Import = Callable[[str], PastedCommand]


@dataclass(frozen=True)
class Process:
    """One process; `uid` owns it, `apart` names the namespaces that it does not share with us.

    `environ` holds the kept variables only. `relight` is the launch that it belongs to, if any.
    """

    pid: int
    started: int
    uid: int
    argv: tuple[str, ...] = field(repr=False)
    cwd: str
    environ: Mapping[str, str] = field(repr=False)
    relight: str = ""
    readable: bool = False
    apart: tuple[str, ...] = ()
    unit: str = ""

    @property
    def shown(self) -> str:
        """Return number and program; its words may hold secrets and are not shown."""
        name = "".join(char for char in " ".join(self.argv[:1])[:80] if char.isprintable())
        return f"process {self.pid} ({name or 'no words'})"


@dataclass(frozen=True)
class Found:
    """What a host tells: the process asked for and those that started it, nearest first."""

    user: int
    chain: tuple[Process, ...]
    hidden: str = ""


@dataclass(frozen=True)
class Takeover:
    """A release for a running server, the bytes of its launch.sh, and of its file of secrets."""

    release: Release
    launch_sh: bytes
    secrets: bytes = field(repr=False)


def read_found(text: str) -> Found:
    """Return what templates/adopt.sh printed; what cannot be read counts as absent."""
    head, *blocks = re.split(r"(?m)^process=", text)
    told = _facts(head)
    chain = tuple(_process(f"pid={block}") for block in blocks)
    hidden = "".join(char for char in told.get("hidden", [""])[0] if char.isprintable())
    return Found(user=_number(told, "user"), chain=chain, hidden=hidden)


def server_of(found: Found, read_command: Import, *, asked: str) -> tuple[Process, PastedCommand]:
    """Return the server's main process and its command; raises ValueError with why there is none.

    `read_command` is the engine's own reading of a command; `asked` says what was looked for.
    """
    if not found.chain:
        if found.hidden:
            raise ValueError(f"{asked}: held by {found.hidden}; log in as that user to adopt it")
        raise ValueError(f"{asked}: there is none")
    first = found.chain[0]
    for process in found.chain:
        if process.uid != found.user:
            break
        if process.relight:
            raise ValueError(f"{process.shown} is relight's own: {process.relight}")
        try:
            command = read_command(_as_typed(process))
        except ValueError:
            continue
        _check(process)
        return process, command
    if first.uid != found.user:
        raise ValueError(
            f"{first.shown} belongs to user id {first.uid}, and relight logs in as {found.user}: "
            "log in as that user to adopt it"
        )
    raise ValueError(f"{first.shown} is no server that this engine knows")


def takeover(
    process: Process,
    command: PastedCommand,
    *,
    service: str,
    launcher: str,
    port: int,
    within: float,
    known: tuple[str, ...],
    origin: Mapping[str, str] = {},
) -> Takeover:
    """Return the release whose launch.sh repeats the start of a process; no version is known."""
    env = {n: v for n, v in process.environ.items() if n not in command.secrets}
    kept = {n: v for n, v in process.environ.items() if n in command.secrets}
    words, hidden = _words(process.argv, frozenset(command.secrets))
    launch_sh = _launch_sh(env, process.cwd, words, secrets=bool(kept or hidden))
    asked = digest(PRESET, words, sorted(env.items()), process.cwd)
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in kept.items()]
    lines += [f"{name}={shlex.quote(value)}\n" for name, value in hidden.items()]
    model = command.model or ""
    release = Release(
        id=release_id(known, PRESET, launch_sh, asked),
        asked=asked,
        service=service,
        preset=PRESET,
        engine=command.engine,
        engine_version="",
        model=model,
        served_name=command.served_name or model,
        port=port,
        gpus=command.gpus,
        launcher=launcher,
        recipe=Recipe(),
        flags=dict(command.flags),
        argv=tuple(text + (f"${name}" if name else "") for text, name in words),
        env=env,
        secrets=(*kept, *hidden),
        within=within,
        **origin,
    )
    return Takeover(release, launch_sh, "".join(lines).encode())


def secret_variable(flag: str) -> str:
    """Return the name under which a flag's secret is kept in a release's file of secrets."""
    return _SECRET_WORD + re.sub(r"[^A-Z0-9]", "_", flag.upper())


def read_secret(text: str, name: str) -> str | None:
    """Return a value of a release's file of secrets."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    return next((word[len(name) + 1 :] for word in words if word.startswith(f"{name}=")), None)


def _check(process: Process) -> None:
    """Raise ValueError when a start of this process could not be repeated."""
    if process.apart:
        raise ValueError(
            f"{process.shown} runs in a container of its own: relight would start it again "
            f"outside of it (another {' and '.join(process.apart)} namespace)"
        )
    if not process.readable or not process.cwd:
        raise ValueError(f"{process.shown}: its variables and folder cannot be read")
    if process.cwd.endswith(" (deleted)"):
        raise ValueError(f"{process.shown}: the folder that it was started in is gone")
    if any("\ufffd" in word for word in process.argv):
        raise ValueError(f"{process.shown}: its words are not UTF-8")


def _as_typed(process: Process) -> str:
    assigned = [f"{name}={value}" for name, value in process.environ.items() if name != "PATH"]
    return shlex.join([*assigned, *process.argv])


def _words(
    argv: Sequence[str], secret: frozenset[str]
) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return each word as text and the variable that follows it, and the variables' values."""
    words: list[tuple[str, str]] = []
    hidden: dict[str, str] = {}
    under = ""
    for word in argv:
        flag, equals, value = word[2:].partition("=") if word.startswith("--") else ("", "", "")
        if flag:
            under = flag if flag.replace("_", "-") in secret or flag in secret else ""
        if under and (equals or not flag):
            name = secret_variable(under)
            name = name if name not in hidden else f"{name}_{len(hidden)}"
            hidden[name] = value if flag else word
            words.append((f"--{flag}=" if flag else "", name))
        else:
            words.append((word, ""))
    return words, hidden


def _launch_sh(
    env: Mapping[str, str], cwd: str, words: Sequence[tuple[str, str]], *, secrets: bool
) -> bytes:
    exports = [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
    sourced = ["# Values that are kept apart, in a file that only this user can read."]
    sourced += [f'. "${{0%/*}}/{ENV_FILE}"']
    spelled = [
        (shlex.quote(text) if text or not name else "") + (f'"${name}"' if name else "")
        for text, name in words
    ]
    lines = [
        "#!/bin/sh",
        "# Starts again what relight adopted, as it was started by hand. Never edited.",
        "set -eu",
        *exports,
        *(sourced if secrets else []),
        f"cd -- {shlex.quote(cwd)}",
        f"exec {' '.join(spelled)}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _process(block: str) -> Process:
    told = _facts(block)
    pairs = (one.partition("=") for one in _texts(told, "environ"))
    environ = {name: value for name, _, value in pairs if _NAME.fullmatch(name)}
    marker = "".join(_texts(told, "relight")[:1]).partition("=")[2]
    return Process(
        pid=_number(told, "pid"),
        started=_number(told, "started"),
        uid=_number(told, "uid"),
        argv=tuple(_texts(told, "argv")),
        cwd="".join(_texts(told, "cwd")[:1]),
        environ={name: value for name, value in environ.items() if "\ufffd" not in value},
        relight="".join(char for char in marker if char.isprintable()),
        readable="readable" in told,
        apart=tuple(one for one in told.get("apart", []) if one in ("mnt", "pid")),
        unit="".join(char for char in told.get("unit", [""])[0] if char.isprintable()),
    )


def _facts(text: str) -> dict[str, list[str]]:
    facts: dict[str, list[str]] = {}
    for name, value in _pairs(text):
        facts.setdefault(name, []).append(value)
    return facts


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, separator, value = line.partition("=")
        if separator:
            yield name, value.strip()


def _texts(told: Mapping[str, list[str]], name: str) -> list[str]:
    """Return what a host printed as base64, cut at its NUL bytes; a last empty piece is none."""
    try:
        data = base64.b64decode(told.get(name, [""])[0], validate=True)
    except (binascii.Error, ValueError):
        return []
    pieces = data.decode(errors="replace").split("\0")
    return pieces[:-1] if pieces[-1] == "" else pieces


def _number(told: Mapping[str, list[str]], name: str) -> int:
    text = told.get(name, [""])[0]
    return int(text) if text.isascii() and text.isdigit() else -1
