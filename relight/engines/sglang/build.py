"""The installed build of SGLang: its flag set, and the checks of flags against it. Pure."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping

from relight.core.build import Build, BuildFlag, FlagFault
from relight.core.flags import Flags, FlagValue, Scalar, spell_value
from relight.engines.sglang.names import ALIASES, SECRETS
from relight.engines.sglang.renames import HINTS, former_names, modern_name

_SHOWN = 12


def read_build(text: str) -> Build:
    """Return the flag set that the flags script printed.

    Raises ValueError when the text is no such answer: it comes from a host and is not trusted.
    """
    try:
        answer = json.loads(text.strip().splitlines()[-1])
    except (json.JSONDecodeError, IndexError, RecursionError):
        raise ValueError("the host did not answer with a flag set") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("flags"), list):
        raise ValueError("the host's answer holds no flags")
    flags = []
    for flag in answer["flags"]:
        names = tuple(str(name).lstrip("-") for name in flag.get("names", ()))
        known = {key: flag[key] for key in BuildFlag.model_fields if key in flag}
        flags.append(BuildFlag.model_validate({**known, "names": names}))
    rest = {key: str(answer[key]) for key in ("version", "python", "how", "note") if key in answer}
    return Build.model_validate({**rest, "flags": flags})


def check_flags(flags: Flags, build: Build) -> tuple[FlagFault, ...]:
    """Return everything that the build's parser would refuse or warn of, in the flags' order."""
    table = {name: flag for flag in build.flags for name in flag.names}
    faults: list[FlagFault] = []
    for name, value in flags.items():
        flag = table.get(name)
        if flag is None:
            faults.append(_absent(name, value, table, build.version))
        else:
            faults += _deprecated(name, flag)
            faults += _values(name, value, flag)
    return tuple(faults)


def respelled(flags: Mapping[str, FlagValue], build: Build) -> Flags:
    """Return flags in the build's own names; those that it has under no name stay as they are."""
    table = {name: flag for flag in build.flags for name in flag.names}
    result: Flags = {}
    for name, value in flags.items():
        other = None if name in table else _renamed(name, value, table)
        result.update({name: value} if other is None else other)
    return result


def _absent(name: str, value: FlagValue, table: Mapping[str, BuildFlag], version: str) -> FlagFault:
    """Say what is wrong with a flag that the build does not have."""
    other = _renamed(name, value, table)
    if other is not None:
        written = " ".join(f"--{new} {_spelt(new, to)}".rstrip() for new, to in other.items())
        return FlagFault(
            flag=name,
            kind="renamed",
            message=f"SGLang {version} has no --{name}; write {written}",
            drop=(name,),
            set=other,
        )
    if name in HINTS:
        return FlagFault(
            flag=name,
            kind="unknown",
            message=f"SGLang {version} has no --{name}. {HINTS[name]}",
            drop=(name,),
        )
    longer = sorted(one for one in table if one.startswith(name))
    if longer:
        own = {table[one].names[0] for one in longer}
        alias = ALIASES.get(name)
        if len(own) == 1 or alias in table:
            full = alias if alias in table else longer[0]
            return FlagFault(
                flag=name,
                kind="abbreviated",
                message=f"--{name} is short for --{full}: write it in full, since another version "
                "may have a second flag that begins so",
                drop=(name,),
                set={str(full): value},
            )
        return FlagFault(
            flag=name,
            kind="ambiguous",
            message=f"--{name} could be {_list(longer)}: write the whole name",
        )
    close = difflib.get_close_matches(name, table, 3, 0.7)
    hint = f"; did you mean {_list(close)}?" if close else ""
    return FlagFault(
        flag=name, kind="unknown", message=f"SGLang {version} has no --{name}{hint}", drop=(name,)
    )


def _renamed(name: str, value: FlagValue, table: Mapping[str, BuildFlag]) -> Flags | None:
    """Return what to write instead, in whichever direction the build lies."""
    newer = modern_name(name)
    seen = {name}
    while newer is not None and newer[0] not in seen:
        new, fixed = newer
        if new in table:
            return {new: value if fixed is None else fixed}
        seen.add(new)
        newer = modern_name(new)
    for rename in former_names(name):
        if rename.old not in table:
            continue
        if rename.value is None:
            return {rename.old: value}
        if rename.value == value:
            return {rename.old: True}
    return None


def _deprecated(name: str, flag: BuildFlag) -> Iterator[FlagFault]:
    if flag.deprecated:
        instead = f": write {flag.instead}" if flag.instead else ""
        message = f"--{name} is deprecated{instead}"
        yield FlagFault(flag=name, kind="deprecated", message=message, warning=True)


def _values(name: str, value: FlagValue, flag: BuildFlag) -> Iterator[FlagFault]:
    """Yield what is wrong with the value of a flag that the build has."""
    if value is False:
        return
    if flag.switch:
        if value is not True:
            yield _typed(name, f"--{name} is a switch: write true, or leave it out")
        return
    if value is True:
        # `?` and `*` allow a flag without its value.
        if flag.nargs not in {"?", "*"}:
            one_of = f": one of {_list(flag.choices)}" if flag.choices else ""
            yield _typed(name, f"--{name} needs a value{one_of}")
        return
    items = value if isinstance(value, tuple) else (value,)
    if isinstance(value, tuple) and flag.nargs is None:
        yield _typed(name, f"--{name} takes one value, not a list")
        return
    for item in items:
        yield from _item(name, item, flag)


def _item(name: str, item: Scalar, flag: BuildFlag) -> Iterator[FlagFault]:
    text = spell_value(item)
    shown = "the value" if name in SECRETS else repr(text)
    if flag.type in {"int", "float"} and not _number(text, whole=flag.type == "int"):
        kind = "a whole number" if flag.type == "int" else "a number"
        yield _typed(name, f"--{name} takes {kind}, not {shown}")
        return
    if flag.choices is None or flag.type not in {"int", "float", "str", None}:
        return
    choices = [str(choice) for choice in flag.choices if choice is not None]
    if text not in choices:
        close = difflib.get_close_matches(text, choices, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        yield FlagFault(
            flag=name,
            kind="choice",
            message=f"--{name} takes one of {_list(choices)}, not {shown}{hint}",
            set={name: close[0]} if close else {},
        )


def _typed(name: str, message: str) -> FlagFault:
    return FlagFault(flag=name, kind="type", message=message)


def _number(text: str, *, whole: bool) -> bool:
    try:
        int(text) if whole else float(text)
    except ValueError:
        return False
    return True


def _spelt(name: str, value: FlagValue) -> str:
    if value is True or name in SECRETS:
        return ""
    if isinstance(value, tuple):
        return " ".join(spell_value(item) for item in value)
    return spell_value(value)


def _list(items: object) -> str:
    words = [str(item) for item in items] if isinstance(items, list | tuple) else [str(items)]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more
