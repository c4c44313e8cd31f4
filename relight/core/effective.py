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


def differences(before: Effective | None, now: Effective) -> tuple[tuple[str, str, str, str], ...]:
    """Return what is otherwise in effect, as rows under COLUMNS.

    What was asked for otherwise and comes to the same is no row, unless it was not got. Without a
    former release: what was asked for and not got.
    """
    if before is None:
        lost = now.explanation.lost
        return tuple((f"--{one.flag}", "-", _lost(one), _why(one)) for one in lost)
    former, latter = dict(_told(before.explanation)), dict(_told(now.explanation))
    rows = []
    for flag in dict.fromkeys((*latter, *former)):
        old = former.get(flag) or _untold(flag, before)
        new = latter.get(flag) or _untold(flag, now)
        if old.value == new.value and (old.shown == new.shown or not new.lost):
            continue
        why = new.why or (old.why and f"no longer: {old.why}")
        rows.append((f"--{flag}", old.shown, new.shown, why))
    return tuple(rows)


class _Told(Frozen):
    """One flag's effect: its value, and how it is shown."""

    value: str
    shown: str
    why: str = ""
    lost: bool = False


def _told(groups: Explanation) -> Iterator[tuple[str, _Told]]:
    for one in groups.changed:
        value = _value(one.resolved)
        yield one.flag, _Told(value=value, shown=f"{value} (not asked)", why=_why(one))
    for one in groups.kept:
        value = _value(one.requested if one.resolved is None else one.resolved)
        yield one.flag, _Told(value=value, shown=value)
    for one in groups.lost:
        value = "not in effect" if one.resolved is None else _value(one.resolved)
        yield one.flag, _Told(value=value, shown=_lost(one), why=_why(one), lost=True)


def _untold(flag: str, release: Effective) -> _Told:
    """Return what a release says of a flag that was neither asked for nor explained."""
    field = flag.replace("-", "_")
    if field not in release.info:
        return _Told(value="default", shown="default")
    value = _value(_printable(release.info[field]))
    return _Told(value=value, shown=f"{value} (not asked)")


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
