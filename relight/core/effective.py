"""What a release came to on its host, kept beside it, and what differs in effect between two."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue, ValidationError

from relight.core.build import Explained, Explanation
from relight.core.model import Frozen

COLUMNS = ("flag", "before", "now", "why")
_LONGEST = 400


class Effective(Frozen):
    """Requested against effective of one launch; `at` is UTC, `info` holds no secret.

    `info` is what the engine plug-in allows to be kept of the server's description of itself.
    """

    release: str
    launch: int
    at: str
    explanation: Explanation
    info: dict[str, JsonValue] = {}


def read_effective(text: str) -> Effective | None:
    """Return what a host kept, or None when there is nothing or it cannot be read."""
    try:
        kept = Effective.model_validate_json(text)
    except ValidationError:
        return None
    groups = kept.explanation
    plain = Explanation(
        kept=tuple(map(_plain, groups.kept)),
        lost=tuple(map(_plain, groups.lost)),
        changed=tuple(map(_plain, groups.changed)),
    )
    return kept.model_copy(update={"explanation": plain})


def differences(
    before: Explanation | None, now: Explanation
) -> tuple[tuple[str, str, str, str], ...]:
    """Return what is otherwise in effect, as rows under COLUMNS.

    Without a former release: what was asked for and not got.
    """
    if before is None:
        return tuple((f"--{one.flag}", "-", _lost(one), _why(one)) for one in now.lost)
    former, latter = dict(_told(before)), dict(_told(now))
    rows = []
    for flag in dict.fromkeys((*latter, *former)):
        old, new = (told.get(flag, ("default", "")) for told in (former, latter))
        if old[0] != new[0]:
            rows.append(
                (f"--{flag}", old[0], new[0], new[1] or (old[1] and f"no longer: {old[1]}"))
            )
    return tuple(rows)


def _told(groups: Explanation) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each flag with its effect and the reason, in words that two starts share."""
    for one in groups.changed:
        yield one.flag, (f"{_value(one.resolved)} (not asked)", _why(one))
    for one in groups.kept:
        shown = one.requested if one.resolved is None else one.resolved
        yield one.flag, (_value(shown), "")
    for one in groups.lost:
        yield one.flag, (_lost(one), _why(one))


def _lost(one: Explained) -> str:
    got = "not in effect" if one.resolved is None else f"{_value(one.resolved)} effective"
    return f"{_value(one.requested)} asked, {got}"


def _why(one: Explained) -> str:
    return one.why or one.rule


def _value(value: JsonValue) -> str:
    if value is True:
        return "on"
    if value is False:
        return "off"
    if isinstance(value, list):
        return " ".join(map(_value, value))
    return "none" if value is None else str(value)


def _plain(one: Explained) -> Explained:
    """Return what a host kept without anything that a terminal would obey."""
    texts = {name: _printable(getattr(one, name)) for name in ("flag", "rule", "why")}
    values = {name: _printable(getattr(one, name)) for name in ("requested", "resolved")}
    return one.model_copy(update=texts | values)


def _printable(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return "".join(char for char in value[:_LONGEST] if char.isprintable())
    return [_printable(item) for item in value] if isinstance(value, list) else value
