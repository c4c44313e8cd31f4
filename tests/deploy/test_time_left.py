"""Time left: a host's own last starts tell how long the next one takes."""

from __future__ import annotations

import json
import socket

from relight.core.time_left import read_starts
from tests.deploy.conftest import Rig


def test_the_second_start_is_estimated_from_the_first(rig: Rig) -> None:
    """Nothing is promised at first; then plan forecasts, and progress counts down."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    rig.write(None, main={"preset": "tiny", "port": port})
    first = rig.deploy("--no-benchmark", "--json")
    assert first.code == 0, first.everything
    progress = [json.loads(line) for line in first.out.splitlines()]
    assert {one["left"] for one in progress if one["kind"] == "progress"} == {None}
    file = rig.store() / "starts.json"
    (start,) = read_starts(file.read_text()).starts
    assert file.stat().st_mode & 0o777 == 0o600
    stages = [one.stage for one in start.segments]
    assert stages[0] == "import"
    assert {"load", "ready", "settle"} <= set(stages)

    plan = rig.run("plan", "--host", rig.host, "--set", "mem-fraction-static=0.6")
    assert "(the last start here)" in plan.out, plan.everything

    again = rig.deploy("--no-benchmark", "--json", "--set", "mem-fraction-static=0.6")
    assert again.code == 0, again.everything
    events = [json.loads(line) for line in again.out.splitlines()]
    lefts = [one["left"] for one in events if one["kind"] == "progress"]
    whole = sum(one.seconds for one in start.segments)
    assert None not in lefts
    assert lefts[0] <= whole + 0.1
    assert lefts[-1] < lefts[0]
    both = read_starts(file.read_text()).starts
    assert len(both) == 2
    assert both[1].stop > 0


def test_a_torn_record_of_starts_stops_nothing(rig: Rig) -> None:
    """What cannot be read is no past; it is written anew."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    rig.write(None, main={"preset": "tiny", "port": port})
    rig.store().mkdir(parents=True)
    file = rig.store() / "starts.json"
    file.write_text('{"starts": [{"at": "$(id)"')
    ended = rig.deploy("--no-benchmark")
    assert ended.code == 0, ended.everything
    assert len(read_starts(file.read_text()).starts) == 1
