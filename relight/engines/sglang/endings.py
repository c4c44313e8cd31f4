"""What is said where no rule knows the words: by an exception's place, or by how it all ended."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from relight.core.failure import Diagnosis, Evidence, FailureClass, Remedy
from relight.core.startup import Ending, Stage
from relight.engines.sglang.rule import Scene
from relight.engines.sglang.rules.remedies import (
    CRASHED,
    NO_PEER_ACCESS,
    RESTART,
    drop_speculation,
    graph_off,
    tell,
)
from relight.engines.sglang.suspects import Suspect

_TEXT = 2000
_READ = tell("Read the traceback above the line; no rule knows its words.")
_STOPPED = {130: "SIGINT", 143: "SIGTERM", -2: "SIGINT", -15: "SIGTERM"}
_KILLED = {137, -9}
_NOTHING = re.compile("")

_BY_STAGE: dict[Stage, tuple[FailureClass, str]] = {
    Stage.IMPORT: (FailureClass.ENV_TOOLCHAIN, "the engine could not be imported"),
    Stage.DIST: (FailureClass.DIST_INIT, "the process group could not be set up"),
    Stage.LOAD: (FailureClass.CHECKPOINT_MISMATCH, "the weights could not be loaded"),
    Stage.CAPTURE: (FailureClass.GRAPH_CAPTURE, "CUDA graphs could not be captured"),
    Stage.HTTP: (FailureClass.WARMUP_FAILED, "the server failed before its first answer"),
    Stage.WARMUP: (FailureClass.WARMUP_FAILED, "the warm-up request failed"),
    Stage.READY: (FailureClass.RUNTIME_CRASH, "the server crashed"),
    Stage.SERVING: (FailureClass.RUNTIME_CRASH, "the server crashed"),
}
_UNKNOWN = (FailureClass.UNKNOWN, "an exception that no rule knows")


class Standing(Protocol):
    """How far a log came."""

    @property
    def stage(self) -> Stage:
        """The furthest stage."""

    @property
    def ready(self) -> bool:
        """Whether the ready line was there."""

    @property
    def serving(self) -> bool:
        """Whether it serves, ready line or not."""

    @property
    def stopping(self) -> bool:
        """Whether somebody stopped it."""

    @property
    def compiling(self) -> bool:
        """Whether its last words were of compiling kernels."""

    @property
    def arguments(self) -> Mapping[str, object]:
        """The server's arguments."""


def bare(one: Suspect) -> Diagnosis:
    """Name an exception that no rule knows, by where it happened."""
    failure, summary = _place(one.scene)
    remedy: Remedy = _READ
    if failure is FailureClass.GRAPH_CAPTURE:
        remedy = graph_off(_empty(), one.scene)
    elif failure is FailureClass.SPEC_CONFIG:
        remedy = drop_speculation()
    elif failure is FailureClass.RUNTIME_CRASH:
        remedy = CRASHED
    return Diagnosis(
        failure=failure,
        evidence=Evidence(line=one.line, text=one.text[:_TEXT]),
        remedy=remedy,
        summary=f"{summary}: {one.text[:200]}",
    )


def _place(scene: Scene) -> tuple[FailureClass, str]:
    early = scene.stage in {Stage.IMPORT, Stage.RESOLVE, Stage.SPAWN}
    if early and "config" in scene.tags:
        return FailureClass.MODEL_UNSUPPORTED, "the model's configuration could not be read"
    if early and "args" in scene.tags:
        return FailureClass.FLAG_CONFLICT, "SGLang's own check of its arguments failed"
    if scene.stage is Stage.LOAD and "draft" in scene.tags:
        return FailureClass.SPEC_CONFIG, "the draft model could not be loaded"
    return _BY_STAGE.get(scene.stage, _UNKNOWN)


def silent(ending: Ending, state: Standing) -> Diagnosis | None:
    """Name what no line names: a hang, a kill, a taken port; None where nothing failed."""
    if ending.oom_killed:
        return Diagnosis(
            failure=FailureClass.HOST_RESOURCES,
            remedy=tell("Free host memory, or raise the limit of the container or unit."),
            summary="the kernel killed the server for its memory",
        )
    if state.stopping:
        return None
    if ending.state == "hung":
        return _hung(state)
    if ending.port_holder and not state.ready:
        return Diagnosis(
            failure=FailureClass.PORT_IN_USE,
            flag="port",
            remedy=tell("Free the port, or give the service another one."),
            summary=f"the port is held by {ending.port_holder}",
        )
    if ending.state != "exited":
        return None
    if ending.exit in _STOPPED:
        summary = f"{_STOPPED[ending.exit]} ended it"
    elif ending.exit in _KILLED:
        summary = "SIGKILL ended it (SGLang also kills its own processes that way)"
    else:
        summary = f"it ended with status {ending.exit}" if ending.exit is not None else "it ended"
    when = "while it served" if state.ready or state.serving else f"during {state.stage.value}"
    return Diagnosis(
        failure=FailureClass.UNKNOWN,
        remedy=tell("See dmesg and the host's journal; the log ends without a reason."),
        summary=f"{summary} {when}, and no line says why",
    )


def _hung(state: Standing) -> Diagnosis:
    if state.ready or state.serving:
        return Diagnosis(
            failure=FailureClass.RUNTIME_HANG,
            remedy=RESTART,
            summary="it serves, and no longer answers",
        )
    if state.stage is Stage.LOAD:
        return Diagnosis(
            failure=FailureClass.MODEL_ACCESS,
            remedy=Remedy(
                env={"HF_HUB_OFFLINE": "1"},
                words="Fetch the model to the host first, then start once more, offline.",
                auto="bounded",
            ),
            summary="loading the weights makes no progress",
        )
    if state.stage is Stage.CAPTURE and not state.compiling:
        return Diagnosis(
            failure=FailureClass.GRAPH_CAPTURE,
            flag="disable-cuda-graph",
            remedy=graph_off(_empty(), Scene(Stage.CAPTURE, arguments=state.arguments)),
            summary="capturing CUDA graphs makes no progress",
        )
    if state.compiling:
        remedy = tell("Kernels are compiled, which can take 20 minutes: give the start more time.")
    else:
        remedy = NO_PEER_ACCESS
    return Diagnosis(
        failure=FailureClass.STARTUP_STALL,
        remedy=remedy,
        summary=f"no progress during {state.stage.value}",
    )


def _empty() -> re.Match[str]:
    found = _NOTHING.match("")
    if found is None:
        raise AssertionError
    return found
