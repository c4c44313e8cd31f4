"""What a host's driver and a model's files say of room and speed, asked on the host itself."""

from __future__ import annotations

import time

from pydantic import ValidationError

from relight.core.attempt import Recipe, enabled_layers, flags_of
from relight.core.capacity.capacity_facts import CapacityFacts
from relight.core.capacity.capacity_script import SCRIPT, read_answer
from relight.core.capacity.fit import fit
from relight.core.capacity.fit_report import sentences
from relight.core.capacity.room import crowded, least_mib
from relight.core.desired import Wanted
from relight.core.facts import read_facts
from relight.deploy.look import Seen
from relight.deploy.target import Target
from relight.errors import HostError

_SETTLES_WITHIN, _EVERY = 20.0, 0.5


def capacity_of(target: Target, seen: Seen, wanted: Wanted) -> CapacityFacts:
    """Return the facts with the service's flags; raises HostError saying what is missing."""
    command = f'{target.engine.python_of(wanted.spec)}exec "$py" - "$RELIGHT_MODEL"'
    path = target.engine.model_path(wanted.request(Recipe()))
    # The server's own variables: they say where a hub's models are kept.
    environment = wanted.environment(Recipe()) | {"RELIGHT_MODEL": path}
    result = target.connection.run(
        command, data=SCRIPT.encode(), environment=environment, timeout=120
    )
    try:
        found = read_answer(
            result.out,
            host=target.host,
            flags=flags_of(wanted.preset, Recipe(layers=enabled_layers(wanted.preset))),
            engine_version=wanted.engine_version,
            empty=bool(seen.observed.pids),
        )
        return found.bound_to(wanted.service.gpus)
    except (ValueError, ValidationError) as error:
        raise HostError(
            target.host, str(error), "or give the facts in a file: --facts FILE (docs/benchmark.md)"
        ) from None


def say_fit(target: Target, seen: Seen, wanted: Wanted) -> float:
    """Tell before the launch what will fit; return the MiB that its weights take of each GPU.

    An estimate, so it refuses nothing; 0.0 where nothing is known.
    """
    if not seen.facts.gpus:
        return 0.0
    try:
        found = fit(capacity_of(target, seen, wanted))
    except (HostError, TimeoutError, ValueError) as error:
        target.say(f"whether it fits is not known: {error}")
        return 0.0
    for sentence in sentences(found):
        target.say(sentence)
    return least_mib(found)


def await_room(target: Target, needed_mib: float) -> None:
    """Return once the service's GPUs have room for its weights.

    A driver gives memory back a moment after its process is gone. Raises HostError naming who holds
    the memory when it stays taken.
    """
    if not needed_mib:
        return
    look = target.project.template("gpus.sh")
    ends = time.monotonic() + _SETTLES_WITHIN
    while held := crowded(
        read_facts(target.connection.control(look, timeout=60).out),
        target.service.gpus,
        needed_mib,
    ):
        if time.monotonic() > ends:
            raise HostError(
                target.host, held, "nothing was launched; end what holds it, or bind other GPUs"
            )
        time.sleep(_EVERY)
