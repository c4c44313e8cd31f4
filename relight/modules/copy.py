"""`copy`: put a file of the project, a text, or a file of the host itself, in its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from relight.core.language.arguments import Arguments, Mode
from relight.core.outcome import Outcome
from relight.core.posix.answers import attributes, told
from relight.core.posix.file import FilePlan
from relight.core.posix.file import script as folder_script
from relight.core.posix.install import Install, script
from relight.core.posix.placed import outcome
from relight.modules import Scope

SENDS = "files"


class Args(Arguments):
    """The arguments of Ansible's `copy`."""

    dest: str
    src: str | None = None
    content: Any = None
    mode: Mode = ""
    owner: str = ""
    group: str = ""
    backup: bool = False
    force: bool = True
    remote_src: bool = False
    validate_: str = Field("", alias="validate")
    follow: bool = False
    directory_mode: Mode = ""

    @model_validator(mode="after")
    def _one(self) -> Args:
        if (self.src is None) == (self.content is None):
            raise ValueError("say what to copy: exactly one of src and content")
        return self


def run(args: Args, scope: Scope) -> Outcome:
    """Copy the file, unless it is there already, byte for byte."""
    source, data, mode = "", b"", args.mode
    if args.src is None:
        if args.dest.endswith("/"):
            return Outcome(failed=True, msg="can not use content with a dir as dest")
        data = _text(args.content).encode()
    elif args.remote_src:
        source = args.src
    else:
        path = scope.source(args.src, "files")
        if path is None:
            return Outcome(failed=True, msg=f"Could not find or access '{args.src}'")
        if path.is_dir():
            return _folder(path, args, scope)
        source, data = str(path), path.read_bytes()
        mode = f"{path.stat().st_mode & 0o7777:04o}" if mode == "preserve" else mode
    name = Path(args.src).name if args.src else ""
    return _install(args, scope, args.dest, name, data, source, mode)


def _text(content: Any) -> str:
    return json.dumps(content) if isinstance(content, dict | list) else str(content)


def _install(
    args: Args, scope: Scope, dest: str, name: str, data: bytes, source: str, mode: str
) -> Outcome:
    plan = Install(
        dest=dest, name=name, mode="" if mode == "preserve" else mode, owner=args.owner,
        group=args.group, backup=args.backup, force=args.force, validate=args.validate_,
        follow=args.follow, folders=args.directory_mode,
        remote=source if args.remote_src else "", check=scope.check, diff=scope.diff,
    )  # fmt: skip
    try:
        text = script(plan)
    except ValueError as error:
        return Outcome(failed=True, msg=str(error))
    said = told(scope.open_connection().control(text, data=data, timeout=120))
    return outcome(said, data, source, check=scope.check, diff=scope.diff, remote=args.remote_src)


def _folder(path: Path, args: Args, scope: Scope) -> Outcome:
    """Copy a folder: with its own name, or only what is in it when `src` ends in a slash."""
    inside = (args.src or "").endswith("/")
    base = args.dest.rstrip("/") if inside else f"{args.dest.rstrip('/')}/{path.name}"
    found = sorted(path.rglob("*"))
    files = [one for one in found if one.is_file()]
    outcomes: list[Outcome] = []
    for file in files:
        below = file.relative_to(path)
        folder = f"{base}/{below.parent}/" if str(below.parent) != "." else f"{base}/"
        mode = f"{file.stat().st_mode & 0o7777:04o}" if args.mode == "preserve" else args.mode
        one = _install(args, scope, folder, file.name, file.read_bytes(), str(file), mode)
        if one.failed:
            return one
        outcomes.append(one)
    holding = {folder for file in files for folder in file.parents}
    for empty in [one for one in (path, *found) if one.is_dir() and one not in holding]:
        one = _empty(f"{base}/{empty.relative_to(path)}".removesuffix("/."), args, scope)
        if one.failed:
            return one
        outcomes.append(one)
    if len(files) == 1:
        values = {"dest": outcomes[-1].values.get("path", ""), **outcomes[-1].values}
        return outcomes[-1].model_copy(update={"values": values})
    changed = any(one.changed for one in outcomes)
    dest = f"{args.dest.rstrip('/')}/"
    return Outcome(
        changed=changed, values={"dest": dest, "src": f"{path}/" if inside else args.src}
    )


def _empty(path: str, args: Args, scope: Scope) -> Outcome:
    """Make a folder that holds no file."""
    plan = FilePlan(
        path=path, state="directory", mode=args.directory_mode, owner=args.owner,
        group=args.group, check=scope.check,
    )  # fmt: skip
    said = told(scope.open_connection().control(folder_script(plan), timeout=120))
    if "error" in said:
        return Outcome(failed=True, msg=said["error"], values={"path": path})
    return Outcome(changed=said.get("changed") == "yes", values={"path": path, **attributes(said)})
