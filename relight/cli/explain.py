"""Commands that explain a host's engine: flags, explain, doctor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatch

from relight.cli.look import one_target
from relight.cli.run import Options, say_with
from relight.core.build import Build, BuildFlag, Explained
from relight.core.events import Event, Note, Table
from relight.deploy.build_checks import read_build
from relight.deploy.doctor import examine
from relight.deploy.effective import explain_now
from relight.deploy.look import Seen, look
from relight.deploy.remembered import Kept, flag_history
from relight.deploy.wanted import port_of, wanted_of
from relight.errors import EXIT_FAILED, EXIT_OK, HostError, UsageError

Say = Callable[[Event], None]
_HISTORY_COLUMNS = ("when (UTC)", "build", "model", "what was rejected", "why")
_FLAG_COLUMNS = ("flag", "also", "type", "default", "choices", "")


def flags(options: Options, host: str, service: str, match: str, diff: str) -> int:
    """Print the flags of the installed build, or what differs between the builds of two hosts."""

    def act(say: Say) -> int:
        if diff:
            first, separator, second = diff.partition("..")
            if not separator or not first or not second:
                raise UsageError("--diff wants two hosts: --diff A..B")
            one, two = (_build_of(options, name, service, say) for name in (first, second))
            say(
                Table(
                    title=f"{first} {one.version} .. {second} {two.version}",
                    columns=("flag", first, second),
                    rows=build_changes(one, two, match),
                )
            )
            return EXIT_OK
        if not host:
            raise UsageError("flags needs --host, or --diff A..B")
        build = _build_of(options, host, service, say)
        rows = tuple(_flag_row(flag) for flag in build.flags if _matches(flag, match))
        say(Table(title=f"{host}: {build.version}", columns=_FLAG_COLUMNS, rows=rows))
        return EXIT_OK

    return say_with(options, act)


def build_changes(one: Build, two: Build, match: str = "") -> tuple[tuple[str, ...], ...]:
    """Return flags that only one build has, and those whose default or choices differ."""
    first = {flag.names[0]: flag for flag in one.flags if _matches(flag, match)}
    second = {flag.names[0]: flag for flag in two.flags if _matches(flag, match)}
    rows = []
    for name in sorted({*first, *second}):
        left, right = _told(first.get(name)), _told(second.get(name))
        if left != right:
            rows.append((f"--{name}", left, right))
    return tuple(rows)


def explain(options: Options, host: str, service: str, flag: str) -> int:
    """Print what the server does with what was asked of it, in three groups.

    What does not run is told from what was kept with its release. One flag comes with its history.
    """

    def act(say: Say) -> int:
        with one_target(options, host, service, say) as target:
            groups, when = explain_now(target)
            history = flag_history(target, flag.lstrip("-")) if flag else ()
        if when:
            say(Note(level="warning", host=target.host, text=when))
        wanted = target.engine.canonical(flag.lstrip("-").replace("_", "-"))
        titles = ("asked and got", "asked and not got", "changed without being asked")
        told = False
        for title, group in zip(titles, (groups.kept, groups.lost, groups.changed), strict=True):
            rows = tuple(_explained(one) for one in group if not flag or one.flag == wanted)
            if rows:
                told = True
                say(Table(title=title, columns=("flag", "asked", "is", "why"), rows=rows))
        if flag and not told:
            say(Note(host=target.host, text=f"--{wanted} was not asked for, nor changed"))
        if history:
            rows = tuple(map(_remembered, history))
            say(Table(title=f"--{wanted} on this host", columns=_HISTORY_COLUMNS, rows=rows))
        return EXIT_OK

    return say_with(options, act)


def doctor(options: Options, host: str, service: str) -> int:
    """Print everything that stands in the way of a deploy, each with what to do; 2 for faults."""

    def act(say: Say) -> int:
        with one_target(options, host, service, say) as target:
            found = examine(target)
        rows = [(str(one.level), one.subject, one.what, one.remedy) for one in found]
        say(Table(title=target.host, columns=("", "what", "finding", "to do"), rows=tuple(rows)))
        return EXIT_FAILED if any(row[0] == "fault" for row in rows) else EXIT_OK

    return say_with(options, act)


def _build_of(options: Options, host: str, service: str, say: Say) -> Build:
    with one_target(options, host, service, say) as target:
        seen: Seen = look(target, write=True)
        wanted = wanted_of(target, seen, port=port_of(target, seen))
        build = read_build(target, wanted, write=True)
    if build is None:
        raise HostError(host, "the flags of its engine cannot be read")
    if build.note:
        say(Note(level="warning", host=host, text=build.note))
    return build


def _matches(flag: BuildFlag, match: str) -> bool:
    pattern = match.lstrip("-") or "*"
    wide = pattern if any(char in pattern for char in "*?[") else f"*{pattern}*"
    return any(fnmatch(name, wide) for name in flag.names)


def _flag_row(flag: BuildFlag) -> tuple[str, ...]:
    old = f"deprecated: {flag.instead or ''}".rstrip(": ") if flag.deprecated else ""
    return (
        f"--{flag.names[0]}",
        ", ".join(f"--{name}" for name in flag.names[1:]),
        "switch" if flag.switch else flag.type or "text",
        "" if flag.default is None else str(flag.default),
        _choices(flag.choices),
        old,
    )


def _told(flag: BuildFlag | None) -> str:
    if flag is None:
        return "-"
    default = "" if flag.default is None else f"={flag.default}"
    choices = _choices(flag.choices)
    words = ["switch" if flag.switch else f"{flag.type or 'text'}{default}"]
    words += [f"of {choices}"] if choices else []
    words += ["deprecated"] if flag.deprecated else []
    return " ".join(words)


def _choices(choices: Sequence[object] | None) -> str:
    return "" if choices is None else ", ".join(map(str, choices))


def _remembered(kept: Kept) -> tuple[str, ...]:
    one = kept.rejection
    what = f"layer {one.name}" if one.what == "layer" else f"{one.what} {one.name}"
    instead = "" if one.instead is None else f" ({one.instead} served instead)"
    why = one.reason or one.evidence
    return (one.at, kept.build, one.model, f"{what} {one.proof}{instead}", why)


def _explained(one: Explained) -> tuple[str, ...]:
    why = f"{one.why} [{one.rule}]" if one.rule else one.why
    values = ("" if value is None else str(value) for value in (one.requested, one.resolved))
    return (f"--{one.flag}", *values, why)
