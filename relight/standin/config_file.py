"""`--config FILE`: flags from a file, put before those of the command line, as SGLang does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_OPTION = "--config"


class BadConfig(ValueError):
    """A config file that SGLang refuses, in its words."""


def merged(argv: list[str]) -> list[str]:
    """Return the command line with the file's flags first; raises BadConfig, OSError.

    SGLang reads YAML (server_args_config_parser.py, 0.5.10 and 0.5.23); only the JSON part of YAML
    is read here, since the stand-in has nothing but Python's own library.
    """
    if _OPTION not in argv:
        return argv
    if argv.count(_OPTION) > 1:
        raise BadConfig("Multiple config files specified! Only one allowed.")
    index = argv.index(_OPTION)
    if index == len(argv) - 1:
        raise BadConfig("No config file specified after --config flag!")
    path = Path(argv[index + 1])
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise BadConfig(f"Config file must be YAML format, got: {path.suffix}")
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise BadConfig("Config file must contain a dictionary at root level")
    words = [word for name, value in content.items() for word in _words(name, value)]
    return [*words, *argv[:index], *argv[index + 2 :]]


def _words(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}"] if value else []
    if isinstance(value, list):
        return [f"--{name}", *map(str, value)] if value else []
    return [f"--{name}", str(value)]
