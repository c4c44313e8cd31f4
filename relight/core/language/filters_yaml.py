"""Filters for YAML, with the text and the values of Ansible's namesakes: PyYAML's, YAML 1.1."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

_MOST_NODES = 200_000
"""More values than that make a text of aliases on aliases, not a file that somebody wrote."""


def _to_yaml(
    value: Any, *_ignored: Any, default_flow_style: bool | None = None, **options: Any
) -> str:
    yaml, dumper = _yaml()
    return str(
        yaml.dump(
            value,
            Dumper=dumper,
            allow_unicode=True,
            default_flow_style=default_flow_style,
            **options,
        )
    )


def _to_nice_yaml(
    value: Any, indent: int = 4, *ignored: Any, default_flow_style: bool = False, **options: Any
) -> str:
    options["indent"] = indent
    return _to_yaml(value, *ignored, default_flow_style=default_flow_style, **options)


def _from_yaml(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    found = _documents(text)
    if len(found) > 1:
        raise ValueError("from_yaml: the text holds several documents; use from_yaml_all")
    return found[0] if found else None


def _from_yaml_all(text: Any) -> Any:
    return _documents(text) if isinstance(text, str) else [] if text is None else text


def _documents(text: str) -> list[Any]:
    yaml, _ = _yaml()
    try:
        return [_plain(document, [0]) for document in yaml.safe_load_all(text)]
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise ValueError(f"from_yaml: {said}") from None
    except RecursionError:
        raise ValueError("from_yaml: the text is nested too deeply") from None


def _plain(value: Any, seen: list[int]) -> Any:
    """Return the value as JSON can say it: dates as text, sets as lists."""
    seen[0] += 1
    if seen[0] > _MOST_NODES:
        raise ValueError(f"from_yaml: more than {_MOST_NODES} values")
    if isinstance(value, Mapping):
        return {key: _plain(item, seen) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item, seen) for item in value]
    return value.isoformat() if isinstance(value, dt.date) else value


def _yaml() -> tuple[Any, Any]:
    import yaml  # noqa: PLC0415  start-up time

    return yaml, getattr(yaml, "CSafeDumper", yaml.SafeDumper)


FILTERS: Mapping[str, Callable[..., Any]] = {
    "to_yaml": _to_yaml,
    "to_nice_yaml": _to_nice_yaml,
    "from_yaml": _from_yaml,
    "from_yaml_all": _from_yaml_all,
}
