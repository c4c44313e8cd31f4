"""Lines of SGLang's log: time, rank, message; and the progress bars that share its stream."""

from __future__ import annotations

import os
import time

_STDOUT, _STDERR = 1, 2
_BLOCKS = " ▏▎▍▌▋▊▉█"


def _put(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        # Nobody reads the log any more; a server goes on serving.
        return


class Journal:
    """One process's pen: every line is written whole, so that ranks do not mix inside a line."""

    def __init__(self, rank: str = "", *, quiet: bool = False) -> None:
        self._rank = f" {rank}" if rank else ""
        self._quiet = quiet

    def _stamped(self, message: str) -> str:
        return f"[{time.strftime('%Y-%m-%d %H:%M:%S')}{self._rank}] {message}\n"

    def info(self, message: str) -> None:
        """A line of level INFO: left out with --log-level warning."""
        if not self._quiet:
            _put(_STDERR, self._stamped(message))

    def error(self, message: str) -> None:
        """A line that every log level shows."""
        _put(_STDERR, self._stamped(message))

    def access(self, message: str) -> None:
        """An access line of uvicorn: the only ones on standard output."""
        if not self._quiet:
            _put(_STDOUT, self._stamped(f"INFO:     {message}"))

    def bare(self, text: str) -> None:
        """Text without a time: warnings of Python, tracebacks of the main process."""
        _put(_STDERR, text if text.endswith("\n") else text + "\n")

    def progress(self, text: str) -> None:
        """Rewrite the progress line: a carriage return before, no line end after."""
        _put(_STDERR, f"\r{text}")

    def end_progress(self) -> None:
        """Close the progress line."""
        _put(_STDERR, "\n")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02d}:{rest:02d}"


def bar(label: str, done: int, total: int, elapsed: float) -> str:
    """One state of a tqdm bar; `elapsed` in seconds."""
    share = done / total
    eighths = int(share * 80)
    full, part = divmod(eighths, 8)
    drawn = "█" * full + (_BLOCKS[part] if full < 10 else "")
    if done and elapsed > 0:
        rate = done / elapsed
        speed = f"{rate:.2f}it/s" if rate >= 1 else f"{1 / rate:.2f}s/it"
        left = _clock((total - done) / rate)
    else:
        speed, left = "?it/s", "?"
    percent = f"{share * 100:3.0f}%"
    return f"{label}{percent}|{drawn:<10}| {done}/{total} [{_clock(elapsed)}<{left}, {speed}]"
