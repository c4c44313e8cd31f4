"""Several short steps in one round trip, each with its own exit status and streams."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from relight.connections import Connection, Result
from relight.errors import HostError


def in_one(
    connection: Connection, steps: Sequence[str], *, data: bytes = b"", timeout: float = 30.0
) -> tuple[Result, ...]:
    """Run steps in turn, each in a subshell, and return how each ended; a failed one is the last.

    They share `data` as their stdin. Raises what `Connection.control` raises, and HostError when
    the shell broke off before the first step ended.
    """
    mark = secrets.token_hex(16)
    whole = connection.control(_joined(steps, mark), data=data, timeout=timeout)
    found = _parted(whole, mark)
    if not found:
        raise HostError(connection.address.name, f"a step broke off: {whole.err.strip()[-300:]}")
    return found


def _joined(steps: Sequence[str], mark: str) -> str:
    told = f"printf '{mark} %s\\n' $relight_status; printf '{mark}\\n' >&2"
    return "\n".join(
        f"(\n{step}\n); relight_status=$?; {told}; [ $relight_status -eq 0 ] || exit 0"
        for step in steps
    )


def _parted(whole: Result, mark: str) -> tuple[Result, ...]:
    outs = re.split(rb"%b (\d+)\n" % mark.encode(), whole.stdout)
    errs = whole.stderr.split(f"{mark}\n".encode())
    ended = zip(outs[0::2], outs[1::2], errs, strict=False)
    return tuple(Result(int(status), out, err) for out, status, err in ended)
