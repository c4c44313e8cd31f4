"""Commands that only look: status, releases, logs, inventory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from relight.cli.run import Options, load_project, say_with
from relight.cli.standing import COLUMNS, row
from relight.connections import connect
from relight.core.events import Event, Note, Table, Text
from relight.deploy.secrets import kept_files
from relight.deploy.target import Target, target_of
from relight.errors import (
    EXIT_OK,
    EXIT_UNREACHABLE,
    HostError,
    RelightError,
    Unreachable,
    UsageError,
)
from relight.project import Project

Say = Callable[[Event], None]
_AT_ONCE = 16


def status(options: Options, hosts: str) -> int:
    """Print one line a service, for all hosts at once; 4 when a host cannot be reached."""

    def act(say: Say) -> int:
        project = load_project(options)
        names = project.hosts(hosts or "all")
        with ThreadPoolExecutor(min(_AT_ONCE, max(1, len(names)))) as pool:
            answers = list(pool.map(lambda name: _stand(project, name, say), names))
        rows = tuple(line for lines, _ in answers for line in lines)
        say(Table(columns=COLUMNS, rows=rows))
        return max((code for _, code in answers), default=EXIT_OK)

    return say_with(options, act)


def _stand(project: Project, host: str, say: Say) -> tuple[list[tuple[str, ...]], int]:
    services = project.spec(host).services
    blank = ("-",) * 5
    try:
        connection = connect(project.address(host))
    except Unreachable as error:
        why = str(error).removeprefix(f"{host}: ")
        return [(host, name, why, *blank, "") for name in (services or ("-",))], EXIT_UNREACHABLE
    lines = []
    code = EXIT_OK
    try:
        for name, service in services.items():
            target = target_of(project, host, name, connection, say)
            try:
                observed = target.store.peek(service.port)
                lines.append(row(host, name, observed, _drift(target, observed.current)))
            except RelightError as error:
                why = str(error).removeprefix(f"{host}: ")
                lines.append((host, name, why, *blank, ""))
                code = max(code, error.exit_code)
    finally:
        connection.close()
    return lines, code


def _drift(target: Target, current: str | None) -> str:
    """Return a word when the inventory now binds another preset than the one that runs."""
    if current is None or f"-{target.service.preset}-" in current:
        return ""
    return f"the inventory now says preset {target.service.preset}"


def releases(options: Options, host: str, service: str) -> int:
    """Print the stored releases of a service, newest first, and what came of each."""

    def act(say: Say) -> int:
        with one_target(options, host, service, say) as target:
            observed = target.store.peek(target.service.port)
        rows = []
        for name in sorted(observed.releases, reverse=True):
            ledger = observed.ledger
            started = ledger.of_release(
                name, "started", "adopted", "promoted", "failed", "rolled_back"
            )
            measured = ledger.of_release(name, "benchmarked")
            marks = [
                word
                for word, link in (
                    ("current", observed.current),
                    ("known-good", observed.known_good),
                )
                if link == name
            ]
            rows.append(
                (
                    name,
                    ", ".join(marks) or "-",
                    f"{started.event} {started.t}" if started else "-",
                    measured.figure("tok_s") if measured else "-",
                )
            )
        say(Table(columns=("release", "is", "last", "tok/s"), rows=tuple(rows)))
        return EXIT_OK

    return say_with(options, act)


def logs(
    options: Options, host: str, service: str, *, launch: int, lines: int, follow: bool
) -> int:
    """Print the end of a launch's log (the last launch by default), and go on with `follow`."""

    def act(say: Say) -> int:
        with one_target(options, host, service, say) as target:
            observed = target.store.peek()
            number = launch or observed.launch
            if not number:
                raise HostError(target.host, f"service {target.name} was never launched")
            kept_files(target)
            data = target.store.log(number, max(4096, lines * 400))
            text = data.decode(errors="replace").splitlines()[-lines:]
            say(Text(host=target.host, text="\n".join(text)))
            if follow:
                _follow(target, number, observed.log_bytes, say)
        return EXIT_OK

    return say_with(options, act)


def _follow(target: Target, launch: int, offset: int, say: Say) -> None:
    stream = target.store.follow(launch, offset)
    rest = b""
    try:
        while (data := stream.read(3600.0)) != b"":
            *whole, rest = (rest + (data or b"")).split(b"\n")
            if whole:
                text = b"\n".join(whole).decode(errors="replace")
                say(Text(host=target.host, text=text))
    finally:
        stream.close()


def inventory(options: Options, hosts: str) -> int:
    """Print what each host resolves to, and where each value comes from."""

    def act(say: Say) -> int:
        project = load_project(options)
        for name in project.hosts(hosts or "all"):
            rows = tuple(
                (line.name, str(line.value), line.origin) for line in project.inventory_report(name)
            )
            say(Table(title=name, columns=("variable", "value", "from"), rows=rows))
        return EXIT_OK

    return say_with(options, act)


class one_target:  # noqa: N801 - a context manager, read as a phrase
    """A service of exactly one host, its connection open for the length of a `with`."""

    def __init__(self, options: Options, host: str, service: str, say: Say) -> None:
        self._options, self._host, self._service, self._say = options, host, service, say

    def __enter__(self) -> Target:
        """Connect; raises UsageError when the pattern names several hosts or services."""
        project = load_project(self._options)
        name = _only(project.hosts(self._host), "host", "--host")
        services = project.spec(name).services
        service = self._service or _only(services, "service", "--service")
        self._connection = connect(project.address(name))
        return target_of(project, name, service, self._connection, self._say)

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._connection.close()


def _only(names: Iterable[str], what: str, option: str) -> str:
    found = tuple(names)
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"there is no {what}")
    raise UsageError(f"several {what}s ({', '.join(found)}): name one with {option}")


def note(text: str) -> Note:
    """Return a line for a person."""
    return Note(text=text)
