"""A ceiling in words: only what was measured is called a cause, all else is a range."""

from __future__ import annotations

from collections.abc import Sequence

from relight.core.capacity.ceiling_report import Ceiling

EFFICIENCIES = (0.78, 0.92)
"""Shares of the bandwidth that weight reads were seen to reach."""
LAUNCHES_MS = (1.0, 5.0)


def sentences(known: Ceiling) -> tuple[str, ...]:
    """Return what an operator reads: bound, share reached, link, what cannot help, what could."""
    draft = f" + {known.steps} x {known.draft_gb:.1f} GB draft" if known.steps else ""
    first = (
        f"bound: {known.bound_ms:.1f} ms a round: {known.target_gb:.1f} GB target{draft} a GPU at "
        f"{known.bandwidth_gbs:.0f} GB/s ({known.bandwidth_source}; bytes from the "
        f"{known.weights_source})"
    )
    return (first, *_reached(known), *_links(known), *_cannot(known), *_could(known))


def _reached(known: Ceiling) -> tuple[str, ...]:
    if not known.observed:
        return ("no round was measured: the share of the bound that is reached is unknown",)
    times = [one.round_ms for one in known.observed]
    shares = [100 * known.bound_ms / time for time in times]
    rest = [time - known.bound_ms for time in times]
    speeds = span([one.tok_s for one in known.observed])
    return (
        (
            f"reached: {span(times)} ms a round ({speeds} tok/s, one stream) = "
            f"{span(shares)} % of the bound"
        ),
        f"the other {span(rest)} ms may be: {'; '.join(_pieces(known))}",
    )


def _pieces(known: Ceiling) -> list[str]:
    if known.bandwidth_share is not None:
        lost = [known.bound_ms / known.bandwidth_share - known.bound_ms]
    else:
        lost = [known.bound_ms / share - known.bound_ms for share in EFFICIENCIES]
    found = [f"bandwidth not reached {span(lost)} ms ({_how(known.bandwidth_share)})"]
    if known.tp > 1:
        reduces = [row.all_reduce_ms for row in known.rows]
        if known.all_reduce_us is not None:
            reduces = [known.all_reduce_calls * known.all_reduce_us / 1000]
        found.append(f"all-reduce {span(reduces)} ms ({_how(known.all_reduce_us)})")
    found.append(f"caches at {known.context} tokens {known.caches_ms:.1f} ms (modelled)")
    found.append(f"launches {span(LAUNCHES_MS)} ms (not measured)")
    return found


def _links(known: Ceiling) -> tuple[str, ...]:
    if known.tp < 2:
        return ()
    p2p = {True: "on (measured)", False: "off (measured)", None: "not measured"}[known.p2p]
    return (
        *(f"GPU {index}: {link.sentence}" for index, link in enumerate(known.links)),
        f"P2P between the GPUs: {p2p}",
    )


def _cannot(known: Ceiling) -> tuple[str, ...]:
    return tuple(
        f"cannot help decode: {item.flag} ({item.why})" for item in known.no_help if item.set_now
    )


def _could(known: Ceiling) -> list[str]:
    found: list[str] = []
    times = [one.round_ms for one in known.observed]
    if known.eight_bit and times:
        saved = known.bound_ms - known.eight_bit_bound_ms
        after = [time - saved for time in times]
        middle = sum(after) / len(after)
        speeds = [1000 * one.accept_len / middle for one in known.observed]
        found.append(
            f"could help: 8-bit weights: {saved:.1f} ms fewer of weight reads, a round of about "
            f"{span(after)} ms if all else stays: {span(speeds)} tok/s"
        )
    if known.steps and times:
        most = known.steps + 1
        found.append(
            f"could help: more accepted tokens: {most} is the most with {known.steps} draft "
            f"steps, {span([1000 * most / time for time in times])} tok/s at today's round"
        )
    if not known.speculates and known.draft_steps:
        least = known.draft_steps[2].break_even
        found.append(
            "could help: speculation with the model's own draft layer: by the model it pays "
            f"from an accept length of {least:.2f} on with 3 steps"
        )
    found += _link_worth(known)
    return found


def _link_worth(known: Ceiling) -> list[str]:
    if known.tp < 2:
        return []
    costs = [row.all_reduce_ms for row in known.rows]
    found = [
        (
            f"link: all-reduce is {min(costs):.1f} to {max(costs):.1f} ms a round over the assumed "
            "links; only a measurement says where this host is"
        )
    ]
    speeds = dict(known.prefill_tok_s)
    fast, slow = speeds.get("PCIe Gen4 x16, P2P"), speeds.get("PCIe Gen1 x16, P2P")
    if fast and slow:
        found.append(
            f"prefill of 4096 tokens by the model: {fast:.0f} tok/s over Gen4 with P2P, "
            f"{slow:.0f} over Gen1: measure prefill to tell the links apart"
        )
    return found


def _how(measured: float | None) -> str:
    return "not measured" if measured is None else "measured"


def span(values: Sequence[float], digits: int = 0) -> str:
    """Return the range of some values as text, or the one value that they all round to."""
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low}-{high}"
