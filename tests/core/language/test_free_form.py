"""Arguments written in one string."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.language.free_form import command_and_options, key_values, words


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("a=1 b='x y'", {"a": "1", "b": "x y"}),
        ("a={{ x | default('a b') }} b=2", {"a": "{{ x | default('a b') }}", "b": "2"}),
        ('msg="it is"', {"msg": "it is"}),
        ("path=/a=b", {"path": "/a=b"}),
    ],
)
def test_words_with_an_equals_sign_are_arguments(text: str, result: dict[str, str]) -> None:
    """Quotes and braces hold blanks together; the quotes around a value are not part of it."""
    assert key_values(text) == result


@pytest.mark.parametrize(
    ("text", "command", "options"),
    [
        ("make -j4", "make -j4", {}),
        ("make chdir=/src creates='/src/a b'", "make", {"chdir": "/src", "creates": "/src/a b"}),
        ("echo 'creates=/x'", "echo 'creates=/x'", {}),
        ("env A=1 run", "env A=1 run", {}),
        ("echo  two  blanks", "echo  two  blanks", {}),
    ],
)
def test_a_command_keeps_its_own_words(text: str, command: str, options: dict[str, str]) -> None:
    """Only known options are taken out of a command line, and nothing else is changed."""
    assert command_and_options(text, ("chdir", "creates", "removes")) == (command, options)


@pytest.mark.parametrize("text", ["a='x", 'a="', "a={{ x"])
def test_what_stays_open_is_refused(text: str) -> None:
    """A quote or brace that is never closed is told, not guessed."""
    with pytest.raises(ValueError, match="never closed"):
        key_values(text)


@given(st.lists(st.from_regex(r"[a-z=/.]{1,8}", fullmatch=True)))
def test_plain_words_come_back(parts: list[str]) -> None:
    """Words without quotes are split at blanks alone."""
    assert words(" ".join(parts)) == parts
