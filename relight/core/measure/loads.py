"""What a server says of itself over HTTP: how busy it is, and which models it serves."""

from __future__ import annotations

from typing import Any


def running_now(answer: Any) -> int | None:
    """Return running plus waiting requests over all workers; None when the answer says nothing.

    Shapes: `/get_load` of SGLang to 0.5.12 (a list with `num_reqs`), `/v1/loads` (an object with
    `aggregate.total_reqs` or `loads` with `num_total_reqs`).
    """
    if isinstance(answer, dict):
        aggregate = answer.get("aggregate")
        if isinstance(aggregate, dict) and (total := _count(aggregate, "total_reqs")) is not None:
            return total
        answer = answer.get("loads")
    if not isinstance(answer, list):
        return None
    counts = [
        found
        for entry in answer
        if isinstance(entry, dict)
        and (found := _count(entry, "num_total_reqs", "num_reqs", "num_running_reqs")) is not None
    ]
    return sum(counts) if counts else None


def _count(entry: dict[str, Any], *names: str) -> int | None:
    for name in names:
        value = entry.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def served_models(answer: Any) -> tuple[str, ...]:
    """Return the model names of `/v1/models`; empty when the answer lists none."""
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        return ()
    names = (entry.get("id") for entry in entries if isinstance(entry, dict))
    return tuple(name for name in names if isinstance(name, str))
