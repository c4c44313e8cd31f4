"""`wait_for`: wait on the host until a port, a path or a text in a file is there, or gone."""

from __future__ import annotations

import re
import shlex
import time
from typing import Any, Literal

from pydantic import Field, model_validator

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.core.posix.answers import attributes, read
from relight.core.posix.waiting import Wait, script
from relight.modules import Scope

CHECK_MODE = False
BRIEF = True


class Args(Arguments):
    """The arguments of Ansible's `wait_for`."""

    host: str = "127.0.0.1"
    port: int | None = Field(default=None, ge=1, le=65535)
    path: str | None = None
    search_regex: str | None = None
    state: Literal["absent", "drained", "present", "started", "stopped"] = "started"
    timeout: float = Field(default=300, ge=0)
    delay: float = Field(default=0, ge=0)
    sleep: float = Field(default=1, gt=0)
    connect_timeout: float = 5
    msg: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> Args:
        if self.port is not None and self.path is not None:
            raise ValueError("port and path parameter can not both be passed to wait_for")
        if self.search_regex is not None and self.path is None:
            raise ValueError("search_regex needs a path: relight reads no text from a port")
        if self.search_regex is not None:
            try:
                re.compile(self.search_regex)
            except re.error as error:
                raise ValueError(f"search_regex: {error}") from None
        return self


def run(args: Args, scope: Scope) -> Outcome:
    """Wait; not in time is a failure."""
    begun = time.monotonic()
    _rest(args.delay, scope)
    if args.port is None and args.path is None:
        _rest(args.timeout - args.delay, scope)
        return Outcome(values=_values(args, begun, {}, None))
    here = args.state not in ("absent", "stopped", "drained")
    if args.search_regex is not None and here:
        return _text(args, scope, begun)
    left = max(0.0, args.timeout - args.delay)
    plan = Wait(left, args.sleep, args.port, args.host, args.path or "", here,
                args.state == "drained")  # fmt: skip
    result = scope.open_connection().run(script(plan), timeout=left + args.sleep + 30)
    said = read(result.out)
    if said.get("met") == "yes":
        return Outcome(values=_values(args, begun, said, None))
    elapsed = int(time.monotonic() - begun)
    message = said.get("error") or args.msg or _late(args)
    return Outcome(failed=True, msg=message, values={"elapsed": elapsed})


def _rest(seconds: float, scope: Scope) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not scope.stopped():
        time.sleep(max(0.0, min(0.2, until - time.monotonic())))


def _text(args: Args, scope: Scope, begun: float) -> Outcome:
    """Wait for a text in a file: the file comes here, so that Python's expressions hold."""
    pattern = re.compile(args.search_regex or "", re.MULTILINE)
    path = shlex.quote(args.path or "")
    while not scope.stopped():
        result = scope.open_connection().control(f"tail -c 2097152 -- {path} 2>/dev/null")
        found = pattern.search(result.out) if result.exit == 0 else None
        if found is not None:
            look = scope.open_connection().control(
                f"stat -c 'attributes %u %g %a %s %h %f %U %G' -- {path}"
            )
            return Outcome(values=_values(args, begun, read(look.out), found))
        if time.monotonic() - begun >= args.timeout:
            break
        _rest(args.sleep, scope)
    values = {"elapsed": int(time.monotonic() - begun)}
    return Outcome(failed=True, msg=args.msg or _late(args), values=values)


def _values(args: Args, begun: float, said: dict[str, str], found: Any) -> dict[str, Any]:
    return {
        "state": args.state,
        "port": args.port,
        "path": args.path,
        "search_regex": args.search_regex,
        "match_groups": [] if found is None else list(found.groups()),
        "match_groupdict": {} if found is None else found.groupdict(),
        "elapsed": int(time.monotonic() - begun),
        **attributes(said),
    }


def _late(args: Args) -> str:
    where = f"{args.host}:{args.port}"
    if args.state in ("absent", "stopped"):
        thing = f"file {args.path} to be absent" if args.path else f"{where} to stop"
        return f"Timeout when waiting for {thing}."
    if args.state == "drained":
        return f"Timeout when waiting for {where} to drain"
    if args.search_regex:
        return f"Timeout when waiting for search string {args.search_regex} in {args.path}"
    return f"Timeout when waiting for {'file ' + args.path if args.path else where}"
