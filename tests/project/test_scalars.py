"""Plain words of YAML mean what they mean to Ansible."""

from __future__ import annotations

import math

import pytest

from relight.project.scalars import plain

# As PyYAML 6.0 reads them; the two dates stay text here on purpose.
MEANINGS = [
    ("yes", True), ("No", False), ("ON", True), ("off", False), ("true", True), ("y", "y"),
    ("~", None), ("null", None), ("", None), ("None", "None"),
    ("010", 8), ("0o10", "0o10"), ("08", "08"), ("0x1f", 31), ("0b11", 3), ("0x", "0x"),
    ("-017", -15), ("1_000", 1000), ("0", 0), ("+5", 5), ("-0", 0), ("30000", 30000),
    ("12:30", 750), ("-1:30", -90), ("190:20:30.15", 685230.15), ("192.0.2.1", "192.0.2.1"),
    ("1e3", "1e3"), ("1.5e3", "1.5e3"), ("1.5e+3", 1500.0), (".5", 0.5), ("1.", 1.0),
    ("-.5", "-.5"), (".inf", math.inf), ("-.INF", -math.inf), (".", "."), ("-", "-"), ("._", "._"),
    ("0.5.10", "0.5.10"), ("2024-01-01", "2024-01-01"), ("2024-01-01 10:00:00",) * 2,
    ("9" * 500, "9" * 500),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), MEANINGS)
def test_a_plain_word_means_what_ansible_takes_it_for(text: str, value: object) -> None:
    """The value and its type are those of YAML 1.1."""
    found, _ = plain(text)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_one_of_yaml() -> None:
    """`.nan` is the float that equals nothing."""
    assert math.isnan(plain(".NaN")[0])


@pytest.mark.parametrize("text", ["010", "12:30", "1:30.5", "00"])
def test_what_few_people_mean_is_said(text: str) -> None:
    """Octal and base-60 numbers come with words that name both readings."""
    value, oddity = plain(text)
    assert text in oddity
    assert str(value) in oddity


@pytest.mark.parametrize("text", ["8", "0x10", "0b1", "1_000", "yes", "1.5"])
def test_what_everybody_means_is_not(text: str) -> None:
    """Decimal, hexadecimal and binary numbers pass without a word."""
    assert plain(text)[1] == ""
