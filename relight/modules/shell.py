"""`shell`: hand a command line to a shell on the host."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.core.posix.command import Limits, Ran, check, outcome, shell, would_run
from relight.modules import Scope

FREE_FORM = "cmd"
BRIEF = True


class Args(Arguments):
    """The arguments of Ansible's `shell`."""

    cmd: str
    chdir: str | None = None
    creates: str | None = None
    removes: str | None = None
    executable: str = "/bin/sh"
    stdin: str | None = None
    stdin_add_newline: bool = True


def run(args: Args, scope: Scope) -> Outcome:
    """Run the command line; it failed when it ended with anything but 0."""
    mark, limits = secrets.token_hex(16), Limits(args.chdir, args.creates, args.removes)
    connection = scope.open_connection()
    if scope.check:
        answer = connection.control(check(mark, limits))
        return would_run(args.cmd, limits, answer.out, mark)
    stdin = args.stdin or ""
    end = "\n" if args.stdin is not None and args.stdin_add_newline else ""
    start = datetime.now(UTC)
    result = connection.run(
        shell(args.cmd, args.executable, mark, limits),
        data=(stdin + end).encode(),
        environment=dict(scope.environment),
    )
    ran = Ran(result.exit, result.out, result.err, start, datetime.now(UTC))
    return outcome(args.cmd, limits, ran, mark)
