"""The script that runs one command: its folder, `creates`, `removes`, an absent program."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from relight.core.outcome import Outcome
from relight.core.posix.words import expanded, glob

End = Literal["creates", "removes", "chdir", "absent", "denied", ""]

_FOUND = r"""
found() {
  case $1 in
  */*) test -e "$1" || return 2; test -d "$1" && return 13; test -x "$1" || return 13 ;;
  *)
    old=$IFS; IFS=:; set -f
    for folder in $PATH; do
      if test -x "${folder:-.}/$1" && test ! -d "${folder:-.}/$1"; then
        IFS=$old; set +f; return 0
      fi
    done
    IFS=$old; set +f; return 2 ;;
  esac
}
"""

_EXISTS = 'exists() { for one in "$@"; do test -e "$one" && return 0; done; return 1; }'


@dataclass(frozen=True)
class Limits:
    """Where a command runs, and the globs that say whether it is needed."""

    chdir: str | None = None
    creates: str | None = None
    removes: str | None = None


def _before(mark: str, limits: Limits) -> str:
    lines = [_EXISTS] if limits.creates or limits.removes else []
    if limits.chdir:
        folder = expanded(limits.chdir)
        lines.append(f"cd -- {folder} 2>/dev/null || {{ printf '{mark} chdir'; exit 2; }}")
    if limits.creates:
        lines.append(f"if exists {glob(limits.creates)}; then printf '{mark} creates'; exit 0; fi")
    if limits.removes:
        line = f"if ! exists {glob(limits.removes)}; then printf '{mark} removes'; exit 0; fi"
        lines.append(line)
    return "\n".join(lines)


def program(words: Sequence[str], mark: str, limits: Limits, *, expand: bool = True) -> str:
    """Return a script that runs a program without a shell around it."""
    shown = [expanded(word) if expand else shlex.quote(word) for word in words]
    return "\n".join([
        _before(mark, limits),
        _FOUND.strip(),
        f"set -- {' '.join(shown)}",
        'found "$1"; missing=$?',
        f'test "$missing" != 2 || {{ printf "{mark} absent"; exit 2; }}',
        f'test "$missing" != 13 || {{ printf "{mark} denied"; exit 13; }}',
        'exec "$@"',
    ])  # fmt: skip


def shell(command: str, executable: str, mark: str, limits: Limits) -> str:
    """Return a script that hands a command line to a shell."""
    run = f"exec {shlex.quote(executable)} -c {shlex.quote(command)}"
    return f"{_before(mark, limits)}\n{run}"


def check(mark: str, limits: Limits) -> str:
    """Return a script that only says whether the command would run."""
    return f"{_before(mark, limits)}\n:"


def end(stdout: str, mark: str) -> End:
    """Return why the command did not run; nothing when it did."""
    if not stdout.startswith(f"{mark} "):
        return ""
    for reason in ("creates", "removes", "chdir", "absent", "denied"):
        if stdout == f"{mark} {reason}":
            return reason
    return ""


@dataclass(frozen=True)
class Ran:
    """How a command ended: its exit status, both streams, and when (the controller's clock)."""

    exit: int
    stdout: str
    stderr: str
    start: datetime
    end: datetime


def outcome(
    command: str | list[str], limits: Limits, ran: Ran, mark: str, *, strip: bool = True
) -> Outcome:
    """Return what Ansible's `command` returns."""
    reason = end(ran.stdout, mark)
    if reason in ("creates", "removes"):
        return _not_needed(command, limits, reason)
    if reason in ("chdir", "absent", "denied"):
        return _not_run(command, reason)
    stdout = ran.stdout.rstrip("\r\n") if strip else ran.stdout
    stderr = ran.stderr.rstrip("\r\n") if strip else ran.stderr
    return Outcome(
        changed=True,
        failed=ran.exit != 0,
        values={
            **streams(stdout, stderr, ran.exit),
            "cmd": command,
            "start": f"{ran.start:%Y-%m-%d %H:%M:%S.%f}",
            "end": f"{ran.end:%Y-%m-%d %H:%M:%S.%f}",
            "delta": str(ran.end - ran.start),
            "msg": "non-zero return code" if ran.exit else "",
        },
    )


def streams(stdout: str, stderr: str, code: int) -> dict[str, Any]:
    """Return the values that every command has."""
    return {
        "rc": code,
        "stdout": stdout,
        "stderr": stderr,
        "stdout_lines": stdout.splitlines(),
        "stderr_lines": stderr.splitlines(),
    }


_NO_TIME = {"start": None, "end": None, "delta": None}


def _not_needed(command: str | list[str], limits: Limits, reason: str) -> Outcome:
    if reason == "creates":
        said, why = f"skipped, since {limits.creates} exists", f"'{limits.creates}' exists"
    else:
        said = f"skipped, since {limits.removes} does not exist"
        why = f"'{limits.removes}' does not exist"
    values = {**streams(said, "", 0), **_NO_TIME, "cmd": command}
    return Outcome(values={**values, "msg": f"Did not run command since {why}"})


def _not_run(command: str | list[str], reason: str) -> Outcome:
    words = command if isinstance(command, str) else shlex.join(command)
    values = {**streams("", "", 13 if reason == "denied" else 2), "cmd": words}
    message = "Error executing command."
    if reason == "chdir":
        message = "Unable to change directory before execution."
        values = {**streams("", "", 0), "cmd": command, "rc": None}
    return Outcome(failed=True, msg=message, values=values)


def would_run(command: str | list[str], limits: Limits, stdout: str, mark: str) -> Outcome:
    """Return what `command` says in check mode."""
    reason = end(stdout, mark)
    if reason in ("creates", "removes"):
        return _not_needed(command, limits, reason)
    if reason:
        return _not_run(command, reason)
    asked = limits.creates is not None or limits.removes is not None
    values = {**streams("", "", 0), **_NO_TIME, "cmd": command}
    message = "Command would have run if not in check mode"
    return Outcome(changed=asked, skipped=not asked, values={**values, "msg": message})
