"""Commands about speed: bench --compare and --history, fit, ceiling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from relight.cli.look import one_target
from relight.cli.run import Options, say_with
from relight.core.capacity import ceiling_report, ceiling_words, fit_report
from relight.core.capacity.capacity_facts import CapacityFacts
from relight.core.capacity.fit import fit
from relight.core.events import Event, Note, Table, Text
from relight.core.measure import history, verdict_table
from relight.core.measure.history import Entry
from relight.core.measure.reached import with_runs
from relight.core.measure.verdict import judge
from relight.core.release import sequence_of
from relight.deploy.capacity import capacity_of
from relight.deploy.look import look
from relight.deploy.measure import entries
from relight.deploy.wanted import port_of, wanted_of
from relight.errors import EXIT_OK, HostError, UsageError

Say = Callable[[Event], None]


def show_history(options: Options, host: str, service: str) -> int:
    """Print a service's stored benchmarks: a table, and a plot over releases."""

    def act(say: Say) -> int:
        with one_target(options, host, service, say) as target:
            good = target.store.peek().known_good
            runs = [
                one.model_copy(update={"known_good": one.release == good})
                for one in entries(target.store)
            ]
        if not runs:
            raise HostError(host, "no benchmark is stored for this service", "run inv bench")
        say(Table(columns=history.COLUMNS, rows=history.rows(runs)))
        say(Text(text="\n".join(history.plots(runs))))
        return EXIT_OK

    return say_with(options, act)


def compare(options: Options, host: str, service: str, pair: str) -> int:
    """Judge the stored runs of one release against another's."""

    def act(say: Say) -> int:
        first, separator, second = pair.partition("..")
        if not separator or not first or not second:
            raise UsageError("--compare wants two releases: --compare A..B (inv releases)")
        with one_target(options, host, service, say) as target:
            runs = entries(target.store)
        older, newer = (_of(runs, name) for name in (first, second))
        then, now = older[-1].release, newer[-1].release
        others = history.by_config(runs, then)
        run = newer[-1].measurement
        verdict = judge(run, history.starts(older), None, others, than=then)
        if verdict.rows:
            columns = verdict_table.columns(then, now)
            say(Table(columns=columns, rows=verdict_table.rows(verdict)))
        for line in (f"{now}: {verdict.sentence}", *verdict.reasons):
            say(Note(text=line))
        return EXIT_OK

    return say_with(options, act)


def _of(runs: Sequence[Entry], name: str) -> list[Entry]:
    """Return the runs of the one release that a name, its beginning or its number means."""
    number = int(name) if name.isascii() and name.isdigit() else None
    found = {
        one.release
        for one in runs
        if one.release == name
        or one.release.startswith(f"{name}-")
        or (number is not None and sequence_of(one.release) == number)
    }
    if len(found) != 1:
        there = ", ".join(sorted({one.release for one in runs})) or "none"
        raise UsageError(f"{name!r} names no measured release; measured: {there}")
    return [one for one in runs if one.release in found]


def show_fit(options: Options, host: str, service: str, facts: str) -> int:
    """Print whether it fits, per GPU, and what limits context and running requests."""

    def act(say: Say) -> int:
        found = fit(_facts(options, host, service, facts, say))
        say(Table(columns=fit_report.COLUMNS, rows=fit_report.rows(found)))
        say(Text(text="\n".join(fit_report.sentences(found))))
        return EXIT_OK

    return say_with(options, act)


def show_ceiling(options: Options, host: str, service: str, facts: str) -> int:
    """Print the bound of decode speed, the share reached, and what can and cannot help."""

    def act(say: Say) -> int:
        known = ceiling_report.ceiling(_facts(options, host, service, facts, say))
        say(Table(columns=ceiling_report.COLUMNS, rows=ceiling_report.rows(known)))
        say(Text(text="\n".join(ceiling_words.sentences(known))))
        return EXIT_OK

    return say_with(options, act)


def _facts(options: Options, host: str, service: str, facts: str, say: Say) -> CapacityFacts:
    if facts:
        return facts_of_file(facts)
    with one_target(options, host, service, say) as target:
        seen = look(target, write=False)
        wanted = wanted_of(target, seen, port=port_of(target, seen))
        found = capacity_of(target, seen, wanted)
        own = [one for one in entries(target.store) if one.release == seen.observed.current]
        return with_runs(found, history.starts(own), wanted.service.gpus)


def facts_of_file(name: str) -> CapacityFacts:
    """Return stated facts; raises UsageError with every fault."""
    try:
        return CapacityFacts.model_validate_json(Path(name).read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from None
    except ValidationError as error:
        faults = (
            f"{name}: {'.'.join(map(str, one['loc'])) or 'file'}: {one['msg']}"
            for one in error.errors()
        )
        raise UsageError("\n".join(faults)) from None
