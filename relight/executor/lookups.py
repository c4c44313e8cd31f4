"""The few lookups that read and execute nothing: `env`, `file`, `vars` and `items`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relight.core.language.templating import Templar, TemplateFault


def _variable(templar: Templar, name: str, options: Mapping[str, Any]) -> Any:
    if name in templar:
        return templar.look_up(name)
    if "default" in options:
        return options["default"]
    raise TemplateFault(f"{name!r} is undefined", name=name, undefined=True)


def lookups(templar: Templar, folder: str) -> Mapping[str, Any]:
    """Return the names `lookup` and `query` for templates."""

    def one(kind: str, term: Any, options: Mapping[str, Any]) -> Any:
        match kind:
            case "env":
                return os.environ.get(str(term), options.get("default", ""))
            case "file":
                return _file(str(term), folder)
            case "vars":
                return _variable(templar, str(term), options)
            case "items":
                return term
        raise TemplateFault(f"relight has no lookup {kind!r}; there are env, file, vars and items")

    def query(kind: str, *terms: Any, **options: Any) -> list[Any]:
        name = kind.removeprefix("ansible.builtin.")
        found = [one(name, term, options) for term in terms]
        if name != "items":
            return found
        # as in Ansible, which flattens one level
        return [part for each in found for part in (each if isinstance(each, list) else [each])]

    def lookup(kind: str, *terms: Any, **options: Any) -> Any:
        found = query(kind, *terms, **options)
        if len(found) == 1:
            return found[0]
        return ",".join(str(value) for value in found)

    return {"lookup": lookup, "query": query, "q": query}


def _file(name: str, folder: str) -> str:
    for path in (Path(folder) / "files" / name, Path(folder) / name):
        try:
            return path.read_text(encoding="utf-8").rstrip()
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise TemplateFault(f"the file {name} cannot be read: {error}") from None
    raise TemplateFault(f"there is no file {name!r} in {folder} or its files/")
