"""Bytes become lines: bars, glued lines, endless lines, lines that somebody wrapped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relight.engines.sglang.cut import LIMIT, Cut, LineCutter


def _cut(data: bytes, size: int = 0) -> list[Cut]:
    cutter = LineCutter()
    found: list[Cut] = []
    for start in range(0, len(data), size or len(data) or 1):
        found += cutter.feed(data[start : start + (size or len(data))])
    return found + cutter.close()


def test_lines_are_numbered_by_newlines() -> None:
    """A carriage return ends a bar's step, and the line's number stays that of the file."""
    assert _cut(b"one\n\rtwo 1%\rtwo 2%\nthree") == [
        Cut(1, "one"),
        Cut(2, "two 1%"),
        Cut(2, "two 2%"),
        Cut(3, "three"),
    ]


def test_bars_are_given_before_their_newline() -> None:
    """A bar that only returns the carriage is told while it grows."""
    cutter = LineCutter()
    assert cutter.feed(b"load 1%\rload 2%\r") == [Cut(1, "load 1%"), Cut(1, "load 2%")]


def test_glued_lines_come_apart() -> None:
    """Two stamped messages on one line are two lines with one number."""
    line = b"bar 9%[2026-09-01 12:00:00] a[2026-09-01 12:00:00 TP1] b\n"
    assert [cut.text for cut in _cut(line)] == [
        "bar 9%",
        "[2026-09-01 12:00:00] a",
        "[2026-09-01 12:00:00 TP1] b",
    ]


def test_a_line_without_end_is_cut_at_the_bound() -> None:
    """Of a line longer than the bound only the head is kept, and the next line is whole."""
    found = _cut(b"a" * (3 * LIMIT) + b"\nnext\n", 1000)
    assert [len(cut.text) for cut in found[:-1]] == [LIMIT]
    assert found[-1] == Cut(2, "next")


def test_what_collectors_put_before_a_line_is_taken_off() -> None:
    """Docker compose, Kubernetes, journald, Python's logging and Ray wrap lines."""
    for wrapped in (
        b"sglang-1  | Traceback",
        b"2026-09-01T12:00:00.1Z stdout F Traceback",
        b"Sep 01 12:00:00 box python3[7]: Traceback",
        b"2026-09-01 12:00:00,527 - __main__ - INFO - Traceback",
        b"(WorkerDict pid=616, ip=10.0.0.1) Traceback",
        b"\x1b[36mTraceback\x1b[0m",
        b"[2025-12-18T16:24:02+08:00] pod-1 >> (SGLangEngine pid=3111) Traceback",
        b"04-20 13:32:25.784 Traceback",
        b"0: Traceback",
    ):
        assert _cut(wrapped + b"\n") == [Cut(1, "Traceback")]


@given(data=st.binary(max_size=300), size=st.integers(1, 9))
def test_cutting_does_not_depend_on_the_chunks(data: bytes, size: int) -> None:
    """Any chunking gives the same lines; nothing is lost but line ends and empty lines."""
    assert _cut(data, size) == _cut(data)
