"""A fit in words: the sentences and the rows that an operator reads before the launch."""

from __future__ import annotations

from relight.core.capacity.fit import Fit

COLUMNS = ("use of one GPU", "GiB", "from")


def rows(fit: Fit) -> tuple[tuple[str, ...], ...]:
    """Return the table of one GPU's memory, a row a use, under `COLUMNS`."""
    return tuple((line.what, f"{line.gib:.2f}", line.source) for line in fit.lines)


def sentences(fit: Fit) -> tuple[str, ...]:
    """Return what the fit comes to, the answer first."""
    if not fit.fits:
        return (_unfit(fit),)
    first = (
        f"fits: {fit.kv_tokens} KV tokens and {fit.running} running requests "
        f"in {fit.free_gib:.2f} GiB a GPU"
    )
    found = [first, _running(fit)]
    if fit.context_asked > fit.kv_tokens:
        found.append(
            f"a request of {fit.context_asked} tokens does not fit: "
            f"the largest that does has {fit.largest_context}"
        )
    elif fit.full_contexts:
        found.append(
            f"largest context {fit.largest_context} tokens; {fit.full_contexts} "
            f"request{'s' if fit.full_contexts > 1 else ''} of {fit.context_asked} tokens at once"
        )
    found += _reserve(fit)
    return tuple(found)


def _unfit(fit: Fit) -> str:
    weights = sum(line.gib for line in fit.lines if line.what == "weights")
    least = weights / fit.free_gib
    if least >= 1:
        return (
            f"does not fit: {weights:.2f} GiB of weights a GPU, {fit.free_gib:.2f} GiB are free; "
            "more GPUs (tp-size) or fewer bytes a weight are needed"
        )
    return (
        f"does not fit: mem-fraction-static {fit.memory_fraction:g} leaves nothing for caches "
        f"beside {weights:.2f} GiB of weights in {fit.free_gib:.2f} GiB; "
        f"it must be well above {least:.3f}"
    )


def _running(fit: Fit) -> str:
    if fit.running_asked is None or fit.running >= fit.running_asked:
        return f"running requests are limited by {fit.running_limit}"
    text = (
        f"{fit.running_asked} running requests are asked, {fit.running} will run: "
        f"limited by {fit.running_limit}"
    )
    if fit.state_ratio_for_asked is not None:
        text += (
            f"; mamba-full-memory-ratio {fit.state_ratio_for_asked:g} would allow "
            f"{fit.running_asked}, with {fit.kv_tokens_for_asked} KV tokens"
        )
    return text


def _reserve(fit: Fit) -> tuple[str, ...]:
    whole = sum(line.gib for line in fit.lines if line.what == "reserve")
    inner = sum(line.gib for line in fit.lines if line.inside == "reserve") - whole
    if inner <= whole:
        return ()
    return (
        (
            f"the reserve of {whole:.2f} GiB is smaller than what comes after the caches "
            f"({inner:.2f} GiB, partly estimated): the start may run out of memory"
        ),
    )
