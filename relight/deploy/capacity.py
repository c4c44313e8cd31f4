"""What a host's driver and a model's files say of room and speed, asked on the host itself."""

from __future__ import annotations

from pydantic import ValidationError

from relight.core.attempt import Recipe, enabled_layers, flags_of
from relight.core.capacity.capacity_facts import CapacityFacts
from relight.core.capacity.capacity_script import SCRIPT, read_answer
from relight.core.capacity.fit import fit
from relight.core.capacity.fit_report import sentences
from relight.core.desired import Wanted
from relight.deploy.look import Seen
from relight.deploy.target import Target
from relight.errors import HostError


def capacity_of(target: Target, seen: Seen, wanted: Wanted) -> CapacityFacts:
    """Return the facts with the service's flags; raises HostError saying what is missing."""
    command = f'{target.engine.python_of(wanted.spec)}exec "$py" - "$RELIGHT_MODEL"'
    path = target.engine.model_path(wanted.request(Recipe()))
    result = target.connection.run(
        command, data=SCRIPT.encode(), environment={"RELIGHT_MODEL": path}, timeout=120
    )
    try:
        return read_answer(
            result.out,
            host=target.host,
            flags=flags_of(wanted.preset, Recipe(layers=enabled_layers(wanted.preset))),
            engine_version=wanted.engine_version,
            empty=bool(seen.observed.pids),
        )
    except (ValueError, ValidationError) as error:
        raise HostError(
            target.host, str(error), "give the facts in a file: --facts FILE (docs/benchmark.md)"
        ) from None


def say_fit(target: Target, seen: Seen, wanted: Wanted) -> None:
    """Tell before the launch what will fit; an estimate, so it refuses nothing."""
    if not seen.facts.gpus:
        return
    try:
        found = fit(capacity_of(target, seen, wanted))
    except (HostError, TimeoutError, ValueError) as error:
        target.say(f"whether it fits is not known: {error}")
        return
    for sentence in sentences(found):
        target.say(sentence)
