"""A preset as the text of a YAML file, for a person to go on with."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML


def preset_text(fields: Mapping[str, Any], head: Sequence[str] = ()) -> str:
    """Return YAML with the mapping's own order; `head` are comment lines at its top."""
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 4096
    text = io.StringIO()
    yaml.dump(_plain(fields), text)
    # A line break in a comment would end it, and begin YAML.
    comments = (f"# {' '.join(line.split())}\n" for line in head)
    return "".join(comments) + text.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
