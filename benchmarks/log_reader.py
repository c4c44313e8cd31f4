"""How fast the SGLang log reader is, and whether its memory stays flat: run it as a script.

Repeats the recordings of tests/data/sglang up to `--megabytes`, in chunks of 64 kB, and prints MB/s
of this process on one core and its peak of memory after a tenth and at the end. `--least` makes it
exit 1 below that many MB/s.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from relight.core.startup import Ending  # noqa: E402
from relight.engines.sglang.reader import SglangReader  # noqa: E402

CHUNK = 64 * 1024


def recordings(folder: Path) -> dict[str, bytes]:
    """Return every recording: all of them, the serving lines alone, the tracebacks alone."""
    logs = [path.read_bytes() for path in sorted(folder.rglob("*.log"))]
    everything = b"\n".join(logs)
    lines = everything.split(b"\n")
    return {
        "all recordings": everything,
        "serving lines": b"\n".join(
            line for line in lines if b"batch, #" in line or b"HTTP/1.1" in line
        ),
        "other lines": b"\n".join(line for line in lines if b"batch, #" not in line),
    }


def repeated(text: bytes, total: int) -> Iterator[bytes]:
    """Yield `total` bytes of a text laid end to end."""
    block = (text + b"\n") * (1 + CHUNK * 4 // (len(text) + 1))
    given = 0
    while given < total:
        for start in range(0, len(block), CHUNK):
            yield block[start : start + CHUNK]
            given += CHUNK
            if given >= total:
                return


def peak() -> float:
    """Return the peak of this process's memory, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Read, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=64, help="size of each log (default 64)")
    parser.add_argument("--least", type=float, default=0.0, help="MB/s below which it fails")
    options = parser.parse_args()
    slowest = float("inf")
    for name, text in recordings(ROOT / "tests" / "data" / "sglang").items():
        reader = SglangReader()
        total = options.megabytes * 1024 * 1024
        spent, events, early, given = 0.0, 0, 0.0, 0
        for chunk in repeated(text, total):
            start = time.process_time()
            events += len(reader.feed(chunk))
            spent += time.process_time() - start
            given += len(chunk)
            if not early and given > total // 10:
                early = peak()
        reader.reading(Ending())
        rate = given / 1e6 / spent
        slowest = min(slowest, rate)
        print(
            f"{name:16} {given / 1e6:8.1f} MB {rate:7.1f} MB/s {events:9d} events "
            f"peak {early:6.1f} MB after a tenth, {peak():6.1f} MB at the end"
        )
    return 1 if slowest < options.least else 0


if __name__ == "__main__":
    raise SystemExit(main())
