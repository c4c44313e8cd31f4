"""Ranges in host names mean what they mean to Ansible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.hostrange import expand

# Seen with ansible-core 2.19 (`ansible-inventory --list`).
MEANINGS = [
    ("box", ("box",), None),
    ("box[1:3]", ("box1", "box2", "box3"), None),
    ("box[08:10]", ("box08", "box09", "box10"), None),
    ("box[:2]", ("box0", "box1", "box2"), None),
    ("box[1:9:4]", ("box1", "box5", "box9"), None),
    ("n[a:c]x", ("nax", "nbx", "ncx"), None),
    ("a[1:2]-b[1:2]", ("a1-b1", "a1-b2", "a2-b1", "a2-b2"), None),
    ("box:2222", ("box",), 2222),
    ("box[1:2]:22", ("box1", "box2"), 22),
    ("192.0.2.7:22", ("192.0.2.7",), 22),
    ("2001:db8::1", ("2001:db8::1",), None),
    ("[2001:db8::1]:22", ("2001:db8::1",), 22),
]


@pytest.mark.parametrize(("written", "names", "port"), MEANINGS)
def test_an_entry_means_these_hosts(written: str, names: tuple[str, ...], port: int | None) -> None:
    """Padding, steps, letters, several ranges, ports and addresses."""
    assert expand(written) == (names, port)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("box[1:]", "no end"),
        ("box[01:100]", "pads"),
        ("box[3:1]", "ends before"),
        ("box[a:3]", "two numbers or two letters"),
        ("box[1:9:0]", "step"),
        ("box[1:999999999]", "more than"),
        ("[0:999][0:999]", "more than"),
        ("-oProxyCommand=id", "no host name"),
        ("a b", "no host name"),
        ("a;id", "no host name"),
        ("$(id)", "no host name"),
        ("{{ x }}", "no host name"),
        ("../x", "no host name"),
        ("", "no host name"),
    ],
)
def test_what_is_no_host_is_refused_in_words(written: str, words: str) -> None:
    """Broken ranges, and names that a shell, ssh or a path could take for something else."""
    with pytest.raises(ValueError, match=words):
        expand(written)


@given(st.integers(0, 500), st.integers(0, 200), st.integers(1, 20))
def test_a_range_counts_like_python(first: int, more: int, step: int) -> None:
    """From first to last, both included, by the step."""
    names, _ = expand(f"h[{first}:{first + more}:{step}]")
    assert names == tuple(f"h{n}" for n in range(first, first + more + 1, step))


@given(st.text(max_size=40))
def test_any_text_is_hosts_or_a_refusal(text: str) -> None:
    """Nothing else comes out, and no name that begins like an option."""
    try:
        names, _ = expand(text)
    except ValueError:
        return
    assert names
    assert not any(name.startswith("-") or "/" in name for name in names)
