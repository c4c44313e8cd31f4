"""Whether the GPUs that a launch is bound to have room for its weights, and who is there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from relight.core.capacity.fit import Fit
from relight.core.facts import Gpu, GpuHolder, HostFacts


def least_mib(found: Fit) -> float:
    """Return the MiB that a launch takes of each GPU at the very least: the weights it loads."""
    return sum(line.gib for line in found.lines if line.what == "weights") * 1024


def crowded(facts: HostFacts, bound: Sequence[int], needed_mib: float) -> str | None:
    """Return who keeps a launch from loading its weights, or None when there is room or no saying.

    `bound` are the indices of the GPUs it may use (empty: all), `needed_mib` the memory it takes of
    each at the least.
    """
    wanted = [gpu for gpu in facts.gpus if not bound or gpu.index in bound]
    told = [_sentence(gpu, needed_mib, facts.gpu_holders) for gpu in wanted]
    # Without a binding the engine takes the first that it sees: one with room is enough to try.
    full = [one for one in told if one]
    return "; ".join(full) if full and (bound or len(full) == len(wanted)) else None


def _sentence(gpu: Gpu, needed_mib: float, holders: Iterable[GpuHolder]) -> str | None:
    if gpu.memory_mib is None or gpu.used_mib is None:
        return None
    free = gpu.memory_mib - gpu.used_mib
    if free >= needed_mib:
        return None
    names = [
        f"pid {holder.pid}: {holder.command}" for holder in holders if holder.index == gpu.index
    ]
    who = ", ".join(names) or "nobody that this user can see (another container, another user?)"
    return (
        f"GPU {gpu.index} has {free} of {gpu.memory_mib} MiB free, and the weights alone take "
        f"{needed_mib:.0f}; held by {who}"
    )
