"""Named misfortunes that the stand-in plays: name -> what it does, and its class of failure."""

from __future__ import annotations

from collections.abc import Mapping

from relight.standin.scenarios.arguments import ARGUMENTS
from relight.standin.scenarios.devices import DEVICES
from relight.standin.scenarios.ending import ENDING
from relight.standin.scenarios.kinds import Scenario
from relight.standin.scenarios.memory import MEMORY
from relight.standin.scenarios.serving import SERVING
from relight.standin.scenarios.starting import STARTING

SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario
    for family in (ARGUMENTS, STARTING, DEVICES, MEMORY, SERVING, ENDING)
    for scenario in family
}
