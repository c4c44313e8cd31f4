"""Everything that a start depends on: flags, environment, model, scenarios, pace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relight.standin import config_file, modelfacts
from relight.standin.flags import Flag, load_flags, parse
from relight.standin.modelfacts import ModelFacts
from relight.standin.profiles import DEFAULT_VERSION, PROFILES, Profile
from relight.standin.scenarios import choice
from relight.standin.scenarios.kinds import Scenario

# A start of 15 s is what SPEED's default of 1.5 s stands for: waits of SGLang shrink alike.
_REAL_START = 15.0
_GPU_GB = 139.13


class BadEnvironment(ValueError):
    """A RELIGHT_STANDIN_ variable makes no sense; the message says which and what would."""


@dataclass(frozen=True)
class Settings:
    """One start's settings. Times are in seconds."""

    profile: Profile
    values: Mapping[str, Any]
    given: frozenset[str]
    model: ModelFacts
    scenarios: tuple[Scenario, ...]
    speed: float
    step: float
    accept_len: float

    def real(self, seconds: float) -> float:
        """SGLang's own wait of so many seconds, shrunk as the start is shrunk."""
        return seconds * self.speed / _REAL_START

    def playing(self, name: str) -> Scenario | None:
        """The scenario of that name, if it plays in this start."""
        return next((one for one in self.scenarios if one.name == name), None)

    @property
    def gpu(self) -> bool:
        """Does it act as if on a GPU? Yes, unless --device cpu."""
        return str(self.values["device"]) != "cpu"

    @property
    def speculative(self) -> bool:
        """Is speculative decoding on?"""
        return self.values["speculative_algorithm"] is not None

    @property
    def draft_tokens(self) -> int:
        """Draft tokens for each verify round."""
        return int(self.values["speculative_num_draft_tokens"] or 4)

    @property
    def context_length(self) -> int:
        """Tokens of prompt and answer together."""
        return int(self.values["context_length"] or self.model.context_length)

    @property
    def served_name(self) -> str:
        """The name that /v1/models gives."""
        if self.playing("wrong_model"):
            return "somebody-elses-model"
        return str(self.values["served_model_name"] or self.values["model_path"])

    @property
    def mem_fraction(self) -> float:
        """--mem-fraction-static, or what SGLang would choose."""
        chosen = self.values["mem_fraction_static"]
        return 0.869 if chosen is None else float(chosen)

    @property
    def gpu_gb(self) -> float:
        """Memory of each GPU in GB, as the recordings had it."""
        return _GPU_GB

    @property
    def weights_gb(self) -> float:
        """Weights on each rank in GB."""
        return self.model.weights_gb / max(1, int(self.values["tp_size"]))

    @property
    def kv_gb(self) -> float:
        """Room for the KV cache on each rank in GB; can be negative."""
        return self.gpu_gb * self.mem_fraction - self.weights_gb

    @property
    def total_tokens(self) -> int:
        """Tokens that the KV cache holds."""
        room = max(1, int(self.kv_gb * 7000))
        limit = self.values["max_total_tokens"]
        return min(room, int(limit)) if limit else room

    @property
    def max_running(self) -> int:
        """Requests that decode at once."""
        chosen = self.values["max_running_requests"]
        if chosen:
            return int(chosen)
        return 48 if self.speculative else 2048

    @property
    def max_graph_batch(self) -> int:
        """The largest batch that decode graphs are captured for."""
        for name in ("cuda_graph_max_bs", "cuda_graph_max_bs_decode"):
            if self.values.get(name):
                return int(self.values[name])
        return min(self.max_running, 24)

    @property
    def decode_graphs(self) -> bool:
        """Are decode graphs captured?"""
        return self.gpu and not (
            self.values.get("disable_cuda_graph")
            or self.values.get("disable_decode_cuda_graph")
            or self.values.get("cuda_graph_backend_decode") == "disabled"
        )

    @property
    def prefill_graphs(self) -> bool:
        """Are prefill (piecewise) graphs captured?"""
        if not self.gpu or self.values.get("disable_piecewise_cuda_graph"):
            return False
        if self.values.get("disable_prefill_cuda_graph"):
            return False
        backend = self.values.get("cuda_graph_backend_prefill")
        if backend is not None:
            return bool(backend != "disabled")
        if self.values.get("enforce_piecewise_cuda_graph"):
            return True
        return not (self.speculative or self.model.multimodal)


def _positive(environ: Mapping[str, str], name: str, default: float) -> float:
    text = environ.get(name, "")
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise BadEnvironment(f"{name}={text}: a number of zero or more is wanted")
    return value


def chosen_profile(environ: Mapping[str, str]) -> Profile:
    """The version to act as; raises BadEnvironment."""
    version = environ.get("RELIGHT_STANDIN_SGLANG_VERSION") or DEFAULT_VERSION
    profile = PROFILES.get(version)
    if profile is None:
        known = ", ".join(PROFILES)
        raise BadEnvironment(f"RELIGHT_STANDIN_SGLANG_VERSION={version}: there are {known}")
    return profile


def _facts(model_path: str) -> ModelFacts:
    folder = Path(model_path)
    if (folder / "config.json").is_file():
        return modelfacts.read(folder)
    return modelfacts.guess(model_path)


def settle(
    argv: list[str], environ: Mapping[str, str] = os.environ, *, counted: bool = True
) -> Settings:
    """Settings of a start; ends the process as argparse does on wrong arguments.

    `counted` counts the start in RELIGHT_STANDIN_STATE. Raises BadEnvironment, UnknownScenario.
    """
    profile = chosen_profile(environ)
    asked = choice.read(environ.get("RELIGHT_STANDIN_SCENARIO", ""))
    state = environ.get("RELIGHT_STANDIN_STATE", "")
    if any(one.first is not None for one in asked) and not state:
        raise BadEnvironment(
            "a scenario with first=N counts starts in the file of "
            "RELIGHT_STANDIN_STATE, which is not set"
        )
    flags: tuple[Flag, ...] = load_flags(profile.version)
    values, given = parse(flags, config_file.merged(argv))
    if asked:
        every = (flag for version in PROFILES for flag in load_flags(version))
        asked = choice.name_flags(
            asked, {name: flag.names[0] for flag in every for name in flag.names}
        )
    start = choice.count_start(state) if state and counted else 1
    speculative = values["speculative_algorithm"] is not None
    return Settings(
        profile=profile,
        values=values,
        given=given,
        model=_facts(str(values["model_path"])),
        scenarios=choice.playing(asked, values, given, start),
        speed=_positive(environ, "RELIGHT_STANDIN_SPEED", 1.5),
        step=_positive(environ, "RELIGHT_STANDIN_STEP_MS", 5.0) / 1000,
        accept_len=_positive(environ, "RELIGHT_STANDIN_ACCEPT_LEN", 3.0 if speculative else 1.0),
    )
