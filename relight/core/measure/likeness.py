"""Which runs may be compared: like with like, anything else is refused with the reason."""

from __future__ import annotations

from collections import Counter

from relight.core.measure.measurement import Measurement


def unlike(one: Measurement, two: Measurement) -> tuple[str, ...]:
    """Return every difference that forbids a comparison, in words; empty for like runs."""
    found: list[str] = []
    for name, first, second in (
        ("tool", one.tool, two.tool),
        ("tool version", one.tool_version, two.tool_version),
        ("backend", one.backend, two.backend),
        ("prompts", one.prompts_sha256[:12], two.prompts_sha256[:12]),
        ("GPUs", _gpus(one), _gpus(two)),
    ):
        if first != second and not (name == "GPUs" and "" in (first, second)):
            found.append(f"{name}: {second or 'none'} then, {first or 'none'} now")
    for key in sorted({*one.subject, *two.subject}):
        if one.subject.get(key) != two.subject.get(key):
            then, now = two.subject.get(key, "unset"), one.subject.get(key, "unset")
            found.append(f"{key}: {then} then, {now} now")
    return tuple(found)


def drafted_alike(one: Measurement, two: Measurement) -> bool:
    """Say whether two runs had the same draft settings: only then tokens per step compare."""
    return one.speculation == two.speculation


def link_fell(one: Measurement, two: Measurement) -> tuple[str, ...]:
    """Return GPUs whose PCIe link was slower under load in `one` than in `two`, in words."""
    before = {gpu.index: gpu for gpu in two.gpus}
    found: list[str] = []
    for gpu in one.gpus:
        other = before.get(gpu.index)
        if other is None or gpu.link_gen is None or other.link_gen is None:
            continue
        if gpu.link_gen < other.link_gen:
            found.append(
                f"GPU {gpu.index} ran its link at Gen{gpu.link_gen} under load, "
                f"Gen{other.link_gen} at the known-good's run"
            )
    return tuple(found)


def _gpus(run: Measurement) -> str:
    names = Counter(gpu.name for gpu in run.gpus if gpu.name)
    return ", ".join(f"{count}x {name}" for name, count in sorted(names.items()))
