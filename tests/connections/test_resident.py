"""The frame of a step's answer: the same however it is cut, and exact about what stands around."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from relight.connections.resident import _Framed

MARK = "0123456789abcdef0123456789abcdef"
bodies = st.binary(max_size=80).filter(lambda body: MARK.encode() not in body)


@given(bodies, bodies, bodies, st.integers(0, 255), st.lists(st.integers(0, 400), max_size=8))
def test_a_frame_is_the_same_however_it_is_cut(
    before: bytes, body: bytes, after: bytes, status: int, cuts: list[int]
) -> None:
    """Body, status and what stands around do not depend on the pieces in which they came."""
    mark = MARK.encode()
    whole = before + mark + body + mark + b" %d\n" % status + after
    frame = _Framed(MARK, rb" (\d{1,3})\n")
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    for start, end in itertools.pairwise(places):
        frame.feed(whole[start:end])
    assert frame.complete
    assert (frame.before, frame.body, frame.after) == (before, body, after)
    assert int(frame.tail) == status


@given(bodies, st.integers(0, 200))
def test_no_part_of_a_frame_is_complete(body: bytes, missing: int) -> None:
    """A frame whose end has not come is not taken for one."""
    mark = MARK.encode()
    whole = mark + body + mark + b" 0\n"
    frame = _Framed(MARK, rb" (\d{1,3})\n")
    frame.feed(whole[: len(whole) - 1 - missing % len(whole)])
    assert not frame.complete
