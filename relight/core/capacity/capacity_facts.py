"""Facts for ceiling and fit, as a file states them (`--facts FILE`) or a host answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from relight.core.capacity.gpu_table import bandwidth, look_up
from relight.core.flags import Flags
from relight.core.model import Frozen


class LinkSample(Frozen):
    """One reading of a GPU's PCIe link: generation and lanes now, how busy the GPU was (%)."""

    gpu: int = 0
    gen: int = Field(ge=1, le=7)
    width: int = Field(default=16, ge=1, le=32)
    utilization: float = Field(ge=0, le=100)


class GpuFacts(Frozen):
    """One GPU: the driver's words; `memory_free_gib` is free before the engine starts."""

    name: str
    memory_total_mib: float = Field(gt=0)
    memory_free_gib: float | None = Field(default=None, gt=0)
    bus_bits: int | None = Field(default=None, gt=0)
    memory_mhz: float | None = Field(default=None, gt=0)
    bandwidth_gbs: float | None = Field(default=None, gt=0)
    tflops: float | None = Field(default=None, gt=0)
    compute_capability: str = ""
    link_gen_possible: int | None = Field(default=None, ge=1, le=7)

    def bandwidth(self) -> tuple[float | None, str]:
        """Return GB/s and where they come from; the driver's figures go before the table's."""
        if self.bandwidth_gbs is not None:
            return self.bandwidth_gbs, "stated"
        if self.bus_bits and self.memory_mhz:
            return bandwidth(self.bus_bits, self.memory_mhz), "driver: bus width x memory clock"
        model = look_up(self.name)
        return (model.bandwidth, f"table: {model.name}") if model else (None, "unknown card")

    def speed(self) -> float | None:
        """Return dense FP16/BF16 TFLOPS; None when neither stated nor in the table."""
        model = look_up(self.name)
        return self.tflops or (model.tflops if model else None)

    def capability(self) -> str:
        """Return the compute capability (8.6), stated or from the table."""
        model = look_up(self.name)
        return self.compute_capability or (model.capability if model else "")


class Interconnect(Frozen):
    """How the GPUs of one server reach each other; None is unknown, never no."""

    kind: str = "pcie"
    p2p: bool | None = None
    samples: tuple[LinkSample, ...] = ()
    all_reduce_us: float | None = Field(default=None, gt=0)
    """A measured all-reduce of one decode message, in microseconds."""


class Observed(Frozen):
    """One observation of decode: tok/s of one stream, and the accept length of the same run."""

    tok_s: float = Field(gt=0)
    accept_len: float = Field(default=1.0, ge=1)

    @property
    def round_ms(self) -> float:
        """Return ms a decode round."""
        return 1000 * self.accept_len / self.tok_s


class ModelFacts(Frozen):
    """The model's own files: config.json, tensor bytes by name or the index's total size."""

    config: dict[str, Any]
    tensors: dict[str, float] = {}
    total_bytes: float | None = Field(default=None, gt=0)


class CapacityFacts(Frozen):
    """Everything that ceiling and fit need of a host, a model and a config."""

    host: str
    note: str = ""
    gpus: tuple[GpuFacts, ...] = Field(min_length=1)
    link: Interconnect = Interconnect()
    model: ModelFacts
    flags: Flags = {}
    engine_version: str = ""
    observed: tuple[Observed, ...] = ()
    bandwidth_share: float | None = Field(default=None, gt=0, le=1)
    """Measured share of the memory bandwidth that a copy or a matrix-vector product reaches."""

    def bound_to(self, indices: Sequence[int]) -> CapacityFacts:
        """Return the facts of the GPUs that a service is bound to; all of them without any.

        Raises ValueError when the host has no GPU of such a number.
        """
        if not indices:
            return self
        lost = [index for index in indices if index >= len(self.gpus)]
        if lost:
            raise ValueError(f"there is no GPU {lost[0]}: the host has {len(self.gpus)}")
        return self.model_copy(update={"gpus": tuple(self.gpus[index] for index in indices)})
