"""The running batch of a scheduler: when each request gets its next tokens, and what is logged."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from relight.standin.answers import Plan, salad
from relight.standin.journal import Journal
from relight.standin.settings import Settings

_PREFILL_TOKENS_PER_SECOND = 100_000.0


@dataclass
class Running:
    """One request: its plan, what it has said, and when it speaks next (monotonic seconds)."""

    rid: str
    plan: Plan
    prompt_tokens: int
    due: float
    words: Iterator[str]
    said: int = 0
    owed: float = 0.0
    probe: bool = False


@dataclass
class Spoken:
    """What one round gave one request."""

    rid: str
    tokens: list[str]
    thought: int  # how many of the tokens are thought
    reason: str | None


@dataclass
class Tally:
    """What the next decode line will tell."""

    since: float = field(default_factory=time.monotonic)
    rounds: int = 0
    steps: int = 0
    tokens: int = 0
    accept_len: float = 0.0
    throughput: float = 0.0


class Batch:
    """All requests of a scheduler. Pace: one round every `step` seconds for each request."""

    def __init__(self, settings: Settings, journal: Journal) -> None:
        self._settings = settings
        self._journal = journal
        self.running: list[Running] = []
        self.waiting: list[Running] = []
        self.tally = Tally()
        slow = settings.playing("slow")
        poor = settings.playing("below_goal")
        self._step = settings.step * (10 if slow else 1)
        self._accept = 1.0 if poor else settings.accept_len
        self._graph = "cuda graph" if settings.gpu else "cpu graph"
        self._decode_graph = settings.decode_graphs and poor is None
        self._last_prefill = time.monotonic()

    def add(self, rid: str, plan: Plan, prompt_tokens: int, *, probe: bool) -> None:
        """Take a request in; it waits when the batch is full."""
        words = plan.tokens()
        if self._settings.playing("wrong_output") or self._settings.playing("nan_logits"):
            words = salad(plan.seed)
        if self._settings.playing("garbage"):
            words = iter(lambda: "!", "")
        request = Running(rid, plan, prompt_tokens, 0.0, words, probe=probe)
        self.waiting.append(request)
        self._admit()

    def drop(self, rid: str) -> None:
        """Forget a request whose client went away."""
        self.running = [one for one in self.running if one.rid != rid]
        self.waiting = [one for one in self.waiting if one.rid != rid]

    def next_due(self) -> float | None:
        """When the next request speaks, or None."""
        return min((one.due for one in self.running), default=None)

    def speak(self, now: float) -> list[Spoken]:
        """The rounds that are due."""
        spoken: list[Spoken] = []
        lead = self.running[0] if self.running else None
        for request in list(self.running):
            while request.due <= now and request in self.running:
                spoken.append(self._round(request, lead=request is lead))
        if spoken:
            self._admit()
        return spoken

    def _admit(self) -> None:
        while self.waiting and len(self.running) < self._settings.max_running:
            request = self.waiting.pop(0)
            now = time.monotonic()
            self._say_prefill(request, now)
            request.due = now + self._step + request.prompt_tokens / _PREFILL_TOKENS_PER_SECOND
            self.running.append(request)

    def _round(self, request: Running, *, lead: bool) -> Spoken:
        first = request.said == 0
        request.owed += 1.0 if first else self._accept
        wanted = int(request.owed + 1e-9)
        request.owed -= wanted
        plan = request.plan
        if self._settings.playing("empty_answers"):
            plan = Plan(plan.seed, (), None, plan.limit, natural_end=0)
        count = min(wanted, plan.length - request.said)
        thought = max(0, min(count, len(plan.thought) - request.said))
        tokens = [next(request.words) for _ in range(count)]
        request.said += count
        request.due += self._step
        if not first:
            self._count(count, lead=lead)
        reason = plan.reason if request.said >= plan.length else None
        if reason is not None:
            self.running.remove(request)
        return Spoken(request.rid, tokens, thought, reason)

    def _count(self, tokens: int, *, lead: bool) -> None:
        tally = self.tally
        tally.rounds += 1
        tally.tokens += tokens
        if not lead:
            return
        tally.steps += 1
        if tally.steps >= int(self._settings.values["decode_log_interval"] or 40):
            self._say_decode()

    def _usage(self, tokens: int) -> str:
        share = tokens / self._settings.total_tokens
        if self._settings.model.hybrid:
            states = 3 * max(1, len(self.running))
            return (
                f"#full token: {tokens}, full token usage: {share:.2f}, mamba num: {states}, "
                f"mamba usage: {states / (4 * self._settings.max_running):.2f}"
            )
        return f"#token: {tokens}, token usage: {share:.2f}"

    @property
    def tokens_held(self) -> int:
        """Tokens in the KV cache."""
        return sum(one.prompt_tokens + one.said for one in self.running)

    def _say_decode(self) -> None:
        settings, old = self._settings, self.tally
        now = time.monotonic()
        fresh = Tally(since=now)
        fresh.throughput = old.tokens / max(1e-6, now - old.since)
        fresh.accept_len = old.tokens / max(1, old.rounds)
        accepted = ""
        if settings.speculative:
            drafts = settings.draft_tokens
            rate = (
                (fresh.accept_len - 1) / max(1, drafts - 1)
                if settings.profile.args_as_dict
                else fresh.accept_len / drafts
            )
            accepted = f"accept len: {fresh.accept_len:.2f}, accept rate: {rate:.2f}, "
        self.tally = fresh
        graph = self._decode_graph and len(self.running) <= settings.max_graph_batch
        self._journal.info(
            f"Decode batch, #running-req: {len(self.running)}, {self._usage(self.tokens_held)}, "
            f"{accepted}{self._graph}: {graph}, "
            f"gen throughput (token/s): {fresh.throughput:.2f}, #queue-req: {len(self.waiting)}"
        )
        if settings.playing("retraction") is not None:
            for line in settings.playing("retraction").before:  # type: ignore[union-attr]
                self._journal.info(line)

    def _say_prefill(self, request: Running, now: float) -> None:
        settings = self._settings
        share = self.tokens_held / settings.total_tokens
        usage = (
            f"full token usage: {share:.2f}, mamba usage: 0.00"
            if settings.model.hybrid
            else f"token usage: {share:.2f}"
        )
        pending = "#pending-token: 0, " if settings.profile.pending_token else ""
        rate = request.prompt_tokens / max(1e-3, now - self._last_prefill)
        self._last_prefill = now
        self._journal.info(
            f"Prefill batch, #new-seq: 1, #new-token: {request.prompt_tokens}, #cached-token: 0, "
            f"{usage}, #running-req: {len(self.running)}, #queue-req: {len(self.waiting)}, "
            f"{pending}{self._graph}: {settings.prefill_graphs}, "
            f"input throughput (token/s): {rate:.2f}"
        )
