"""Two controllers that deploy to one service at the same moment."""

from __future__ import annotations

from dataclasses import dataclass

from tests.host.field import Field, Site
from tests.host.prober import probing


@dataclass(frozen=True)
class Round:
    """How one round ended: both exit codes in order, both outputs, the longest darkness."""

    codes: tuple[int, ...]
    said: tuple[str, ...]
    darkness: float


def rivals(held: Field, site: Site, *, change: int, wait: int | None = None) -> Round:
    """Start two deploys at once, each with a flag of its own; return once the host has settled.

    With `wait` the second in line waits so many seconds for its turn. Raises AssertionError where
    not exactly one wins (both, one after the other, with `wait`), where the loser is not told who
    holds the lock, or where more than one server is left.
    """
    words = ("deploy", "--host", site.name, "--service", "main", "--no-benchmark")
    waiting = () if wait is None else ("--wait", str(wait))
    before = held.events(site).count("promoted")
    with probing(held, site) as prober:
        both = [
            held.start(*words, *waiting, "--set", f"max-running-requests={number}")
            for number in (change, change + 1)
        ]
        said = tuple(process.communicate(timeout=240)[0] for process in both)
        settled = held.settled(site)
    codes = tuple(sorted(process.returncode for process in both))
    told = f"{codes}\n" + "\n--\n".join(said)
    # Where the winner is done before the loser asks for the lock, the loser has its turn as well.
    assert codes in ((0, 0), (0, 6) if wait is None else (0, 0)), told
    assert held.events(site).count("promoted") - before == codes.count(0), told
    if codes == (0, 6):
        assert any("is held by " in one for one in said), told
    assert held.engines(site).count(settled.pid or 0) == 1, told
    assert len(held.engines(site)) == len(site.services), told
    assert not held.strays(site), told
    return Round(codes, said, prober.longest)
