"""What one rule for a failure is: the words that show it, where they count, what helps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from relight.core.failure import FailureClass, Remedy
from relight.core.startup import Stage


class Tier(IntEnum):
    """How much a line proves; within one failure the lowest tier wins, then the earliest line."""

    CAUSE = 1
    """It names the cause itself."""
    CONTEXT = 2
    """It names the part that failed, and a cause nearby is better."""
    FRAME = 3
    """Only the place in the code is known."""
    GENERIC = 4
    """An exception without a rule of its own: its stage decides."""
    ECHO = 5
    """Another process's failure, seen from here."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a line stands: its stage, what the frames above it are about, the server's arguments.

    Tags: `args`, `draft`, `prefill`, `allreduce`, `grammar`, `vision`, `config`.
    """

    stage: Stage
    tags: frozenset[str] = frozenset()
    arguments: Mapping[str, object] = field(default_factory=dict)
    serving: bool = False

    @property
    def modern(self) -> bool:
        """Whether the flags of graphs have their names of 0.5.15 and later."""
        return any(
            name in self.arguments for name in ("cuda_graph_config", "cuda_graph_max_bs_decode")
        )


NOTHING = Remedy()

Cure = Callable[[re.Match[str], Scene], Remedy]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of failure, as data.

    `needles` are lower-case texts, one of which the line holds; `pattern` (on the line as it is)
    refines them. `stages` and `tags` limit where it counts. `ends` tells a failure that is final
    from a warning. `lasting` survives the ready line; `last` counts only as the log's last words;
    `loud` counts in warnings too, which otherwise say nothing.
    A group `flag` of the pattern, else `flag`, is the flag concerned.
    """

    name: str
    failure: FailureClass
    needles: tuple[str, ...]
    summary: str
    remedy: Remedy | Cure = NOTHING
    pattern: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    tier: Tier = Tier.CAUSE
    stages: frozenset[Stage] = frozenset()
    tags: frozenset[str] = frozenset()
    serving: bool | None = None
    flag: str = ""
    ends: bool = True
    lasting: bool = False
    last: bool = False
    loud: bool = False
    times: int = 1

    def match(self, text: str, low: str) -> re.Match[str] | None:
        """Return where a line (`low` is its lower case) has this rule's words, or None."""
        for needle in self.needles:
            if needle in low:
                break
        else:
            return None
        if self.unless is not None and self.unless.search(text):
            return None
        if self.pattern is None:
            at = low.find(needle)
            return _ANY.match(text, at, at + len(needle))
        return self.pattern.search(text)

    def fits(self, scene: Scene) -> bool:
        """Return whether the rule counts where the line stands."""
        return (
            (not self.stages or scene.stage in self.stages)
            and (not self.tags or bool(self.tags & scene.tags))
            and (self.serving is None or self.serving == scene.serving)
        )

    def cure(self, match: re.Match[str], scene: Scene) -> Remedy:
        """Return what helps here."""
        return self.remedy if isinstance(self.remedy, Remedy) else self.remedy(match, scene)

    def concerned(self, match: re.Match[str]) -> str | None:
        """Return the flag concerned, without dashes."""
        named = match.groupdict().get("flag")
        if named:
            return named.lstrip("-").replace("_", "-").split("/")[0].split("=")[0]
        return self.flag or None


_ANY = re.compile(r".*", re.DOTALL)


def regex(text: str) -> re.Pattern[str]:
    """Return a pattern that ignores case."""
    return re.compile(text, re.IGNORECASE)
