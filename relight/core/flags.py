"""Engine flags as the project writes them: a mapping in the engine's spelling without dashes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, StrictBool, StrictFloat, StrictInt, StrictStr

Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
FlagValue = Scalar | tuple[Scalar, ...]
"""`true` is a switch, `false` leaves it out, a list is a flag with several values."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


def flag_name(name: str) -> str:
    """Return the name itself; raises ValueError with the right spelling when it is not one."""
    if _NAME.fullmatch(name):
        return name
    close = re.sub(r"[^a-z0-9-]", "", name.lstrip("-").replace("_", "-").lower())
    hint = f"; write {close}" if _NAME.fullmatch(close) else ""
    raise ValueError(f"{name!r} is not a flag name: no leading dashes, lower case, - not _{hint}")


FlagName = Annotated[str, AfterValidator(flag_name)]
Flags = dict[FlagName, FlagValue]


def argv(flags: Mapping[str, FlagValue]) -> tuple[str, ...]:
    """Return the words of a command line, in the mapping's order.

    A value is always its own word, or joined by `=` where it begins with a dash: the engine's
    parser then cannot take a value for an option.
    """
    words: list[str] = []
    for name, value in flags.items():
        if value is False:
            continue
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, tuple):
            words += [f"--{name}", *(spell_value(item) for item in value)]
        elif (text := spell_value(value)).startswith("-"):
            words.append(f"--{name}={text}")
        else:
            words += [f"--{name}", text]
    return tuple(words)


def spell_value(value: Scalar) -> str:
    """Return one value as the engine reads it: `true`/`false` in lower case, numbers as written."""
    return str(value).lower() if isinstance(value, bool) else str(value)
