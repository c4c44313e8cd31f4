"""SGLang's command line, from the table of flags of each version: parser, values, listing."""

from __future__ import annotations

import argparse
import pkgutil
import re
from dataclasses import dataclass
from typing import Any

_ENTRY = re.compile(
    r"(?P<names>[a-z0-9_,-]+)"
    r"(?::(?P<kind>int|float|str|bool|\{[^}]*\}(?:int)?)(?P<nargs>[+*?]?)(?:=(?P<default>.*?))?)?"
    r"(?P<old>!)?$"
)
_TYPES = {"int": int, "float": float, "str": str}


@dataclass(frozen=True)
class Flag:
    """One flag: names without dashes, the attribute's own name first."""

    names: tuple[str, ...]
    kind: str  # int, float, str or bool
    choices: tuple[str, ...] | None
    nargs: str
    default: str | None
    deprecated: bool
    negatable: bool

    @property
    def dest(self) -> str:
        """The attribute of ServerArgs."""
        return self.names[0].replace("-", "_")


def _read(text: str) -> Flag:
    match = _ENTRY.match(text)
    if match is None:
        raise ValueError(f"not a flag: {text}")
    names = tuple(match["names"].split(","))
    # SGLang's attributes are named for the short spelling: tp_size, not tensor_parallel_size.
    short = next((name for name in names if "parallel" not in name and "-" in name), names[0])
    names = (short, *(name for name in names if name != short))
    kind, choices = match["kind"] or "bool", None
    if kind.startswith("{"):
        inside, _, rest = kind[1:].partition("}")
        kind, choices = rest or "str", tuple(inside.split(","))
    return Flag(
        names=names,
        kind=kind,
        choices=choices,
        nargs=match["nargs"] or "",
        default=match["default"],
        deprecated=match["old"] is not None,
        negatable=match["kind"] == "bool",
    )


def load_flags(version: str) -> tuple[Flag, ...]:
    """All flags of a version, in the order of its usage text."""
    data = pkgutil.get_data("relight.standin", f"flags/{version}.txt")
    if data is None:
        raise FileNotFoundError(f"flags/{version}.txt")
    lines = data.decode().splitlines()
    return tuple(_read(entry) for line in lines if line[:1] != "#" for entry in line.split())


def default_of(flag: Flag) -> Any:
    """The value of the attribute when the flag is not given."""
    if flag.kind == "bool":
        return False if not flag.negatable else None
    if flag.default is None:
        return None
    return _TYPES[flag.kind](flag.default)


def build_parser(flags: tuple[Flag, ...]) -> argparse.ArgumentParser:
    """SGLang's parser: abbreviations allowed, program name `sglang serve`.

    Only what was given ends up in the namespace.
    """
    parser = argparse.ArgumentParser(prog="sglang serve", argument_default=argparse.SUPPRESS)
    for flag in flags:
        options: dict[str, Any] = {"dest": flag.dest}
        if flag.kind == "bool":
            options["action"] = "store_true"
        else:
            kind = _TYPES[flag.kind]
            options["type"] = kind
            if flag.choices is not None:
                options["choices"] = [kind(choice) for choice in flag.choices]
            if flag.nargs:
                options["nargs"] = flag.nargs
        if flag.dest == "model_path":
            options["required"] = True
        parser.add_argument(*(f"--{name}" for name in flag.names), **options)
        if flag.negatable:
            parser.add_argument(
                *(f"--no-{name}" for name in flag.names), dest=flag.dest, action="store_false"
            )
    return parser


def parse(flags: tuple[Flag, ...], argv: list[str]) -> tuple[dict[str, Any], frozenset[str]]:
    """Values of every attribute, and the names of those that were given.

    Ends the process with 2 and SGLang's usage text where argparse does.
    """
    given = vars(build_parser(flags).parse_args(argv))
    values = {flag.dest: default_of(flag) for flag in flags}
    values.update(given)
    return values, frozenset(given)


def listing(flags: tuple[Flag, ...]) -> list[dict[str, Any]]:
    """The flags as plain data, names with their dashes, defaults as text."""
    return [
        {
            "name": f"--{flag.names[0]}",
            "aliases": [f"--{name}" for name in flag.names[1:]],
            "type": flag.kind,
            "choices": list(flag.choices) if flag.choices is not None else None,
            "default": flag.default,
            "deprecated": flag.deprecated,
        }
        for flag in flags
    ]
