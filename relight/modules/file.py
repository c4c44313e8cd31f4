"""`file`: what a path of the host should be, and its mode and owner."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import model_validator

from relight.core.language.arguments import Arguments, Mode
from relight.core.outcome import Diff, Outcome
from relight.core.posix.answers import attributes, told
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
    access_time_format: str = "%Y%m%d%H%M.%S"
    modification_time: str | None = None
    modification_time_format: str = "%Y%m%d%H%M.%S"

    @model_validator(mode="before")
    @classmethod
    def _aliases(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "path" in data:
            return data
        names = {"dest": "path", "name": "path"}
        return {names.get(key, key): value for key, value in data.items()}


def run(args: Args, scope: Scope) -> Outcome:
    """Make the path what it should be."""
    touching = "now" if args.state == "touch" else "preserve"
    try:
        mtime = _stamp(args.modification_time or touching, args.modification_time_format)
        atime = _stamp(args.access_time or touching, args.access_time_format)
    except ValueError as error:
        return Outcome(failed=True, msg=f"Error while obtaining timestamp: {error}")
    plan = FilePlan(
        path=args.path, state=args.state or "", src=args.src, mode=args.mode, owner=args.owner,
        group=args.group, recurse=args.recurse, force=args.force, follow=args.follow,
        mtime=mtime, atime=atime, check=scope.check,
    )  # fmt: skip
    said = told(scope.open_connection().control(script(plan), timeout=120))
    return _outcome(said, args, shown=scope.diff)


def _stamp(text: str, form: str) -> str:
    """Return a time as `touch -t` takes it; `now` and nothing (kept) stand for themselves."""
    if text in ("now", "preserve"):
        return text.removeprefix("preserve")
    return f"{datetime.strptime(text, form):%Y%m%d%H%M.%S}"  # noqa: DTZ007  the host's own zone


def _outcome(said: Mapping[str, str], args: Args, *, shown: bool) -> Outcome:
    state, was, path = said.get("state", ""), said.get("was", ""), said.get("path", args.path)
    known = attributes(said)
    linking = {"src": args.src or said.get("src", "")}
    if "error" in said:
        details = {"details": said["details"]} if "details" in said else {}
        where = {"dest": path, **linking} if state == "hard" and args.src else {"path": path}
        kept = {"state": was} if state in ("", "file") else {}
        values = {**where, **kept, **known, **details}
        return Outcome(failed=True, msg=said["error"], values=values)
    values = {"dest" if state in ("touch", "link", "hard") else "path": path, **known}
    if state == "absent":
        values = {"path": path, "state": "absent", **known}
    if state in ("link", "hard"):
        values |= linking if args.src or state == "link" else {"src": None}
    changed = said.get("changed") == "yes"
    if shown and (state != "absent" or changed):
        values["diff"] = _difference(said, path)
    diff = (Diff(path=path, before=f"state: {was}\n", after=f"state: {state}\n"),)
    return Outcome(changed=changed, values=values, diff=diff if changed and was != state else ())


def _difference(said: Mapping[str, str], path: str) -> dict[str, dict[str, str]]:
    """Return what changes under Ansible's names."""
    found: dict[str, dict[str, str]] = {"before": {"path": path}, "after": {"path": path}}
    state, was = said.get("state", ""), said.get("was", "")
    pairs = [(name, said[name]) for name in ("had", "mode") if name in said]
    if state != was:
        found["before"]["state"], found["after"]["state"] = was, state
    for (_, mode), side in zip(pairs, ("before", "after"), strict=False):
        found[side]["mode"] = f"{int(mode, 8):04o}"
    return found
