"""What a plain word of YAML means to Ansible: the scalar rules of YAML 1.1."""

from __future__ import annotations

import re
from typing import Any

_BOOLS = {"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False}
_BOOL = re.compile(r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF")
_NULL = re.compile(r"~|null|Null|NULL|")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)")
_BASED = re.compile(r"([-+]?)0(?:b([01_]+)|x([0-9a-fA-F_]+)|([0-7_]+))")
_SIXTIES = re.compile(r"[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
)
_SIXTIES_FLOAT = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*")
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NAN = re.compile(r"\.(?:nan|NaN|NAN)")
_MOST_DIGITS = 400
"""Longer numbers stay text: Python refuses to print very long ones, and nobody means them."""


def plain(text: str) -> tuple[Any, str]:
    """Return what an unquoted word means, and a warning when few people mean that.

    Dates stay text. Source of the rules: yaml.org/type (YAML 1.1), as PyYAML applies them.
    """
    if _BOOL.fullmatch(text):
        return _BOOLS[text.lower()], ""
    if _NULL.fullmatch(text):
        return None, ""
    if len(text) > _MOST_DIGITS or text[0] not in "-+.0123456789":
        return text, ""
    return _number(text)


def _number(text: str) -> tuple[Any, str]:
    bare = text.replace("_", "")
    if _DECIMAL.fullmatch(text):
        return int(bare), ""
    if based := _based(text):
        return based
    if _SIXTIES.fullmatch(text):
        value = int(_sixties(bare))
        return value, f"{text} is read as base 60: {value}"
    if _FLOAT.fullmatch(text) and re.search(r"\d", text):
        return float(bare), ""
    if _SIXTIES_FLOAT.fullmatch(text):
        value_60 = _sixties(bare)
        return value_60, f"{text} is read as base 60: {value_60}"
    if infinite := _INFINITE.fullmatch(text):
        return float(f"{infinite[1]}inf"), ""
    if _NAN.fullmatch(text):
        return float("nan"), ""
    return text, ""


def _based(text: str) -> tuple[int, str] | None:
    found = _BASED.fullmatch(text)
    if found is None:
        return None
    sign, binary, hexadecimal, octal = found.groups()
    for digits, base, name in ((binary, 2, ""), (hexadecimal, 16, ""), (octal, 8, "octal")):
        if digits is not None and digits.strip("_"):
            value = int(digits.replace("_", ""), base) * (-1 if sign == "-" else 1)
            return value, f"{text} is read as {name}: {value}" if name else ""
    return None


def _sixties(text: str) -> float:
    sign = -1 if text.startswith("-") else 1
    total: float = 0
    for part in text.lstrip("-+").split(":"):
        total = total * 60 + (float(part) if "." in part else int(part))
    return sign * total
