"""`file`: what a path of the host should be, and its mode and owner."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from relight.core.language.arguments import Arguments, Mode
from relight.core.outcome import Diff, Outcome
from relight.core.posix.answers import attributes, read
from relight.core.posix.file import FilePlan, script
from relight.modules import Scope


class Args(Arguments):
    """The arguments of Ansible's `file`."""

    path: str
    state: Literal["absent", "directory", "file", "hard", "link", "touch"] | None = None
    src: str = ""
    mode: Mode = ""
    owner: str = ""
    group: str = ""
    recurse: bool = False
    force: bool = False
    follow: bool = True
    access_time: str | None = None
    modification_time: str | None = Field(default=None)

    @model_validator(mode="before")
    @classmethod
    def _aliases(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "path" in data:
            return data
        names = {"dest": "path", "name": "path"}
        return {names.get(key, key): value for key, value in data.items()}


def run(args: Args, scope: Scope) -> Outcome:
    """Make the path what it should be."""
    times = (args.access_time, args.modification_time)
    plan = FilePlan(
        path=args.path, state=args.state or "", src=args.src, mode=args.mode, owner=args.owner,
        group=args.group, recurse=args.recurse, force=args.force, follow=args.follow,
        keep_times=times == ("preserve", "preserve"), check=scope.check,
    )  # fmt: skip
    said = read(scope.open_connection().control(script(plan), timeout=120).out)
    state, was, path = said.get("state", ""), said.get("was", ""), said.get("path", args.path)
    if "error" in said:
        known = {"path": path} if state in ("link", "hard") else {"path": path, "state": was}
        return Outcome(failed=True, msg=said["error"], values=known)
    values = attributes(said)
    linked = args.state is None and values.get("state") == "hard"
    values["dest" if linked or state in ("touch", "link", "hard") else "path"] = path
    if state in ("link", "hard"):
        values["src"] = args.src
    if state == "absent":
        values = {"path": path, "state": "absent"}
    changed = said.get("changed") == "yes"
    diff = (Diff(path=path, before=f"state: {was}\n", after=f"state: {state}\n"),)
    return Outcome(changed=changed, values=values, diff=diff if changed and was != state else ())
