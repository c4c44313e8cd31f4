"""`command`: run a program on the host, without a shell around it."""

from __future__ import annotations

import secrets
import shlex
from datetime import UTC, datetime

from pydantic import model_validator

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.core.posix.command import Limits, Ran, check, outcome, program, would_run
from relight.modules import Scope

FREE_FORM = "cmd"
BRIEF = True


class Args(Arguments):
    """The arguments of Ansible's `command`."""

    cmd: str | None = None
    argv: tuple[str, ...] | None = None
    chdir: str | None = None
    creates: str | None = None
    removes: str | None = None
    stdin: str | None = None
    stdin_add_newline: bool = True
    strip_empty_ends: bool = True
    expand_argument_vars: bool = True

    @model_validator(mode="after")
    def _one(self) -> Args:
        if (self.cmd is None) == (self.argv is None):
            raise ValueError("say what to run: exactly one of cmd and argv")
        return self


def run(args: Args, scope: Scope) -> Outcome:
    """Run the program; it failed when it ended with anything but 0."""
    try:
        words = list(args.argv) if args.argv is not None else shlex.split(args.cmd or "")
    except ValueError as error:
        return Outcome(failed=True, msg=f"cmd: {error}", values={"rc": 256, "cmd": args.cmd})
    if not words:
        return Outcome(failed=True, msg="no command given", values={"rc": 256, "cmd": ""})
    mark, limits = secrets.token_hex(16), Limits(args.chdir, args.creates, args.removes)
    connection = scope.open_connection()
    if scope.check:
        answer = connection.control(check(mark, limits))
        return would_run(words, limits, answer.out, mark)
    script = program(words, mark, limits, expand=args.expand_argument_vars)
    stdin = args.stdin or ""
    end = "\n" if args.stdin is not None and args.stdin_add_newline else ""
    start = datetime.now(UTC)
    result = connection.run(
        script, data=(stdin + end).encode(), environment=dict(scope.environment)
    )
    ran = Ran(result.exit, result.out, result.err, start, datetime.now(UTC))
    return outcome(words, limits, ran, mark, strip=args.strip_empty_ends)
