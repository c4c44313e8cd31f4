"""Waiting for a condition with a deadline, in place of sleeping for luck."""

import time
from collections.abc import Callable


def until(condition: Callable[[], bool], seconds: float, what: str, every: float = 0.05) -> None:
    """Return once the condition holds, asked every so many seconds.

    Raises TimeoutError, which names `what`, when it does not hold in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(every)
