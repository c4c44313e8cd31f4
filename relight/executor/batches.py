"""Which hosts a play takes at a time: `serial` as a number, a percentage or a list, and `order`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any


def size(serial: Any, total: int) -> int:
    """Return how many hosts one batch takes; 0 or less means all."""
    if isinstance(serial, str) and serial.endswith("%"):
        return int(float(serial[:-1]) / 100.0 * total) or 1
    return int(serial)


def batches(hosts: Sequence[str], serial: Any) -> list[tuple[str, ...]]:
    """Return the hosts in batches; the last size of a list holds for what is left."""
    sizes = [-1] if serial in (None, []) else serial if isinstance(serial, list) else [serial]
    left, result = list(hosts), []
    for index in range(len(left) + 1):
        if not left:
            break
        count = size(sizes[min(index, len(sizes) - 1)], len(hosts))
        count = len(left) if count <= 0 else count
        result.append(tuple(left[:count]))
        left = left[count:]
    return result


def ordered(hosts: Sequence[str], order: str | None) -> list[str]:
    """Return the hosts in the order that a play wants."""
    if order in ("sorted", "reverse_sorted"):
        return sorted(hosts, reverse=order == "reverse_sorted")
    if order == "reverse_inventory":
        return list(reversed(hosts))
    if order == "shuffle":
        return random.sample(list(hosts), len(hosts))
    return list(hosts)
