"""Presets: what to serve and how (`inventory/presets/NAME.yml`)."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, Field, model_validator

from relight.core.duration import Seconds
from relight.core.failure import FailureClass
from relight.core.flags import FlagName, Flags, FlagValue
from relight.core.model import Frozen


def _specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError(
            f"{text!r} is no version range: write for example >=0.5.10,<0.5.15"
        ) from None
    return text


VersionRange = Annotated[str, AfterValidator(_specifier)]
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE", re.IGNORECASE
)


class SecretRef(Frozen):
    """Where a secret value is read, on the controller, at deploy time: exactly one of three."""

    env: str | None = None
    file: str | None = None
    command: str | None = None

    @model_validator(mode="after")
    def _one(self) -> SecretRef:
        given = [name for name in ("env", "file", "command") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("a secret is read from exactly one of env, file, command")
        return self


class Layer(Frozen):
    """A named bundle of optional flags put on top of a preset's base flags."""

    flags: Flags
    why: str = ""
    enabled: bool = True


class Adjust(Frozen):
    """A bounded change of a number: add `by` until `to`, at most `times` times."""

    by: float
    to: float
    times: int = Field(default=3, ge=1, le=10)


class Fallback(Frozen):
    """What to change when a launch fails with one class of failure."""

    on: FailureClass
    drop: tuple[FlagName, ...] = ()
    set: dict[FlagName, FlagValue] = {}
    adjust: dict[FlagName, Adjust] = {}

    @model_validator(mode="after")
    def _something(self) -> Fallback:
        if not (self.drop or self.set or self.adjust):
            raise ValueError("a fallback changes something: drop, set or adjust")
        return self


class Readiness(Frozen):
    """How long a start may take, be silent, one answer may take, and how long it must hold."""

    within: Seconds = 900.0
    stall: Seconds = 180.0
    settle: Seconds = 10.0
    answer: Seconds = 60.0


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None
    return text


class Canary(Frozen):
    """A question whose answer is known: `match` is looked for in it, whatever the case."""

    ask: str = Field(min_length=1, max_length=4000)
    match: Annotated[str, AfterValidator(_pattern)]
    max_tokens: int = Field(default=512, ge=1, le=8192)


class Expect(Frozen):
    """What holds whatever the known-good did: floors of the benchmark, and known answers.

    `answers` are asked before the benchmark: a server that fails one never was ready.
    """

    tok_s: float | None = Field(default=None, gt=0)
    ttft_ms: float | None = Field(default=None, gt=0)
    accept_len: float | None = Field(default=None, ge=1)
    answers: tuple[Canary, ...] = ()


class Benchmark(Frozen):
    """Which tool measures a release and what its verdict means."""

    tool: Literal["auto", "bench_serving", "command", "probe"] = "auto"
    command: str | None = None
    on_worse: Literal["rollback", "keep"] = "rollback"
    on_inconclusive: Literal["rollback", "keep"] = "keep"
    requests: int = Field(default=8, ge=1, le=1000)
    max_tokens: int = Field(default=512, ge=1)


class Preset(Frozen):
    """One way to serve one model: flags, optional layers, fallbacks and what counts as good."""

    engine: str = "sglang"
    engine_version: VersionRange = ""
    model: str = Field(min_length=1)
    served_name: str = Field(min_length=1)
    description: str = ""
    flags: Flags = {}
    layers: dict[FlagName, Layer] = {}
    fallbacks: tuple[Fallback, ...] = ()
    readiness: Readiness = Readiness()
    max_downtime: Seconds = 1800.0
    drain: Seconds = 30.0
    attempts: int = Field(default=6, ge=1, le=50)
    promote_degraded: bool = True
    env: dict[str, str | SecretRef] = {}
    secret_flags: dict[FlagName, SecretRef] = {}
    expect: Expect = Expect()
    benchmark: Benchmark = Benchmark()

    @model_validator(mode="after")
    def _secrets_by_reference(self) -> Preset:
        for name, value in self.env.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise ValueError(f"{name!r} is not the name of an environment variable")
            if isinstance(value, str) and _SECRET_NAME.search(name):
                raise ValueError(
                    f"{name} looks like a secret: write a reference ({name}: {{env: {name}}}), "
                    "never the value"
                )
        return self
