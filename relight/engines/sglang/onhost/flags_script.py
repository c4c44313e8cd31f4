"""Prints the flags of the installed SGLang as JSON, read from its source; else from its parser."""
# ruff: noqa: T201, PTH123, BLE001, PLC0415, UP006, UP035 - a script for Python 3.9; whatever breaks is told

from __future__ import annotations

import importlib.util
import json
import re
import sys
from typing import Any, Dict, List

from relight.engines.sglang.onhost.declared_flags import Flag, declared
from relight.engines.sglang.onhost.source_files import Library


def folder() -> str:
    """Return the folder that holds the package, without importing it."""
    spec = importlib.util.find_spec("sglang")
    places = list(spec.submodule_search_locations or []) if spec else []
    if not places:
        sys.exit("sglang is not installed for " + sys.executable)
    return places[0].rpartition("/")[0] or "."


def version_of(root: str) -> str:
    """Return the installed version: from the metadata, else from the package's version file."""
    from importlib import metadata

    try:
        return metadata.version("sglang")
    except metadata.PackageNotFoundError:
        pass
    for name in ("_version.py", "version.py"):
        try:
            with open(root + "/sglang/" + name, encoding="utf-8") as file:
                found = re.search(r"version\w* *= *['\"](\d[^'\"]*)", file.read())
        except OSError:
            continue
        if found:
            return found.group(1)
    return "unknown"


def parsed() -> List[Flag]:
    """Return the flags of the real parser: slow, and it imports everything."""
    import argparse

    from sglang.srt.server_args import ServerArgs  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(add_help=False)
    ServerArgs.add_cli_args(parser)
    return [
        {
            "names": list(action.option_strings),
            "dest": action.dest,
            "type": getattr(action.type, "__name__", None),
            "choices": None if action.choices is None else [str(one) for one in action.choices],
            "default": action.default if isinstance(action.default, (str, int, float)) else None,
            "nargs": action.nargs,
            "required": action.required,
            "deprecated": type(action).__name__.startswith("Deprecated"),
            "instead": getattr(action, "new_flag", None),
        }
        for action in parser._actions  # noqa: SLF001 - argparse has no public list of its actions
    ]


def main() -> None:
    """Print one JSON object: version, python, how the flags were read, the flags."""
    root = folder()
    found: Dict[str, Any] = {"version": version_of(root), "python": sys.version.split()[0]}
    try:
        found["flags"] = declared(Library(root, "sglang"))
        found["how"] = "source"
    except Exception as error:
        found["note"] = "the source could not be read: " + repr(error)
        found["flags"] = parsed()
        found["how"] = "parser"
    print(json.dumps(found))
