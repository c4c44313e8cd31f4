"""What one run was asked for, and what all of its parts share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from relight.core.events import Event
from relight.executor.hosts import Host
from relight.executor.workers import Workers
from relight.project import Project


@dataclass(frozen=True)
class Settings:
    """The options of a run."""

    project: Project
    report: Callable[[Event], None]
    limit: str | None = None
    tags: tuple[str, ...] = ("all",)
    skip_tags: tuple[str, ...] = ()
    extra_vars: Mapping[str, Any] = field(default_factory=dict)
    check: bool = False
    diff: bool = False
    forks: int = 32
    start_at: str | None = None


@dataclass
class Run:
    """One run: its options, its hosts, and whether the operator said stop."""

    settings: Settings
    stop: threading.Event = field(default_factory=threading.Event)
    hosts: dict[str, Host] = field(default_factory=dict)
    workers: Workers = field(default_factory=Workers)
    told: bool = False
    """Whether it was said that the operator said stop."""
    started: bool = True
    """False until the task of `--start-at-task` is reached."""

    def stopped(self) -> bool:
        """Return whether the operator said stop."""
        return self.stop.is_set()
