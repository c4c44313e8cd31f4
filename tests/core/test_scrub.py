"""No form of a secret value gets through."""

from __future__ import annotations

import base64
import json
import shlex
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.scrub import HIDDEN, Scrubber

SECRET = "s3cr\"et/$(id) 'q'+%é\\x"


@pytest.mark.parametrize(
    "printed",
    [
        SECRET,
        json.dumps({"key": SECRET}),
        json.dumps({"key": SECRET}, ensure_ascii=False),
        json.dumps(json.dumps({"key": SECRET})),
        repr({"key": SECRET}),
        f"export KEY={shlex.quote(SECRET)}",
        f"https://u:{quote(SECRET, safe='')}@x",
        f"https://x/?key={quote_plus(SECRET)}",
        f"https://x/{quote(SECRET)}",
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        "Basic " + base64.b64encode(f"user:{SECRET}".encode()).decode(),
        "Basic " + base64.b64encode(f"me:{SECRET}\n".encode()).decode(),
        SECRET.encode().hex(),
    ],
)
def test_a_secret_is_hidden_in_every_form_in_which_programs_print_it(printed: str) -> None:
    """A recognisable piece of the value is in none of them afterwards."""
    shown = Scrubber([SECRET])(printed)
    assert HIDDEN in shown
    plain = ("s3cr", "et/", "et%2F", quote(SECRET)[4:12], SECRET.encode().hex()[4:20])
    assert not any(piece in shown for piece in plain)
    assert base64.b64encode(SECRET.encode()).decode()[4:16] not in shown


def test_each_line_of_a_long_secret_is_hidden() -> None:
    """A private key is often printed line by line, or with its line ends escaped."""
    key = "-----BEGIN KEY-----\nAAAAB3NzaC1\nyc2EAAAADAQ\n-----END KEY-----\n"
    scrub = Scrubber([key])
    assert "AAAAB3NzaC1" not in scrub("  AAAAB3NzaC1  ")
    assert "yc2EAAAADAQ" not in scrub(json.dumps(key))


def test_a_secret_inside_of_another_leaves_no_rest() -> None:
    """The longer one goes first."""
    assert Scrubber(["pass", "password1"])("password1") == HIDDEN


def test_very_short_values_are_left_alone() -> None:
    """Hiding every `1` would make a text unreadable and tell the value."""
    assert Scrubber(["1", "", "abc"])("1 abc") == "1 abc"


def test_nothing_to_hide_changes_nothing() -> None:
    """A deploy without secrets shows its texts as they are."""
    assert Scrubber([])("text") == "text"


def test_a_scrubber_does_not_show_what_it_hides() -> None:
    """Neither in a traceback nor in a log."""
    assert SECRET not in repr(Scrubber([SECRET]))


@given(st.text(min_size=4, max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_a_value_never_survives_as_it_is(value: str, before: str, after: str) -> None:
    """Wherever it stands in a text."""
    shown = Scrubber([value])(f"{before}{value}{after}")
    if value not in f"{before}{HIDDEN}{after}":
        assert value not in shown
