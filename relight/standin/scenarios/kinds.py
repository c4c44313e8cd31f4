"""What a scenario is: where it strikes, how, with which words, and the flags that keep it away."""

from __future__ import annotations

from dataclasses import dataclass

# Where a scenario strikes, in the order of a start.
STAGES = (
    "args",
    "import",
    "resolve",
    "spawn",
    "dist",
    "load",
    "pool",
    "capture",
    "prefill_capture",
    "draft",
    "http",
    "warmup",
    "serve",
    "stop",
)

# How it strikes.
REFUSE = "refuse"  # the main process says `error` and exits with `rc`
RAISE = "raise"  # a scheduler raises `error`; SGLang kills its own tree
KILLED = "killed"  # a scheduler is gone without a word
HANG = "hang"  # no line any more, nothing ends
SLOW = "slow"  # the stage takes longer, then all is well
SERVE = "serve"  # the server comes up and misbehaves as its name says


@dataclass(frozen=True)
class Scenario:
    """One misfortune. `taxonomy` is the class of failure that a watcher should find."""

    name: str
    summary: str
    taxonomy: str
    stage: str
    act: str
    error: str = ""  # the last line of the traceback, or the words of the refusal
    frames: tuple[tuple[str, str], ...] = ()  # innermost frames: (file below srt/, line of code)
    before: tuple[str, ...] = ()  # log lines just before
    hints: str = ""  # lines of the same message after `error`
    rank: int = 0
    rc: int = 1
    cured_by: tuple[str, ...] = ()  # conditions on flags under which it does not happen
    needs: tuple[str, ...] = ()  # conditions on flags without which it does not happen
    after: float = 0.0  # seconds, where the act waits for something
