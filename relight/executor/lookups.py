"""The lookups that execute nothing, and the functions that templates may call."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from relight.core.language.free_form import key_values
from relight.core.language.missing import Missing
from relight.core.language.templating import Templar, TemplateFault
from relight.core.language.text_template import render_with

Options = Mapping[str, Any]
Look = Callable[[tuple[Any, ...], Options], list[Any]]


class Lookups:
    """The lookups of one task; files are looked for from the play's folder."""

    def __init__(self, templar: Templar, folder: str) -> None:
        self._templar, self._place = templar, folder

    @property
    def _folder(self) -> Path:
        return Path(self._place)

    @functools.cached_property
    def known(self) -> Mapping[str, Look]:
        """The lookups by their names, put together at the first use: most tasks have none."""
        return {
            "env": self._each(lambda term, o: os.environ.get(str(term), o.get("default", ""))),
            "vars": self._each(self._variable),
            "file": self._each(lambda term, _: self._text(str(term), "files").rstrip()),
            "template": self._each(self._template),
            "fileglob": self._fileglob,
            "first_found": self._first_found,
            "list": lambda terms, _: list(terms),
            "items": lambda terms, _: _flat(terms),
            "dict": lambda terms, _: [
                {"key": key, "value": value} for term in terms for key, value in term.items()
            ],
            "indexed_items": lambda terms, _: [list(one) for one in enumerate(_flat(terms))],
            "nested": _nested,
            "cartesian": _nested,
            "together": lambda terms, _: [list(row) for row in itertools.zip_longest(*terms)],
            "sequence": lambda terms, _: [one for term in terms for one in _sequence(term)],
        }

    def query(self, kind: str, *terms: Any, **options: Any) -> list[Any]:
        """Return what a lookup finds, as a list; raises `TemplateFault` for one that is not."""
        name = kind.removeprefix("ansible.builtin.")
        if name not in self.known:
            known = ", ".join(sorted(self.known))
            raise TemplateFault(f"relight has no lookup {name!r}; there are {known}")
        return self.known[name](terms, options)

    def lookup(self, kind: str, *terms: Any, **options: Any) -> Any:
        """Return what a lookup finds: the one thing, or several in one text."""
        found = self.query(kind, *terms, **options)
        if options.get("wantlist"):
            return found
        if len(found) == 1:
            return found[0]
        texts = all(isinstance(value, str) for value in found)
        return ",".join(found) if texts else found

    def _each(self, one: Callable[[Any, Options], Any]) -> Look:
        return lambda terms, options: [one(term, options) for term in _flat(terms)]

    def _variable(self, name: Any, options: Options) -> Any:
        if name in self._templar:
            return self._templar.look_up(name)
        if "default" in options:
            return options["default"]
        raise TemplateFault(f"{name!r} is undefined", name=str(name), undefined=True)

    def _template(self, name: Any, _: Options) -> str:
        return render_with(self._templar, self._text(str(name), "templates"))

    def _text(self, name: str, kind: str) -> str:
        for path in (self._folder / kind / name, self._folder / name):
            try:
                return path.read_text(encoding="utf-8")
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                raise TemplateFault(f"the file {name} cannot be read: {error}") from None
        raise TemplateFault(f"there is no file {name!r} in {self._folder} or its {kind}/")

    def _fileglob(self, terms: tuple[Any, ...], _: Options) -> list[str]:
        found: list[str] = []
        for term in _flat(terms):
            within = [self._folder / "files", self._folder]
            groups = [sorted(p for p in folder.glob(str(term)) if p.is_file()) for folder in within]
            found += [str(path) for path in next(filter(None, groups), [])]
        return found

    def _first_found(self, terms: tuple[Any, ...], options: Options) -> list[str]:
        for name in _flat(terms):
            for folder in ("files", "templates", "vars", "."):
                path = self._folder / folder / str(name)
                if path.exists():
                    return [str(path)]
        if options.get("skip"):
            return []
        raise TemplateFault("first_found: none of the files is there")


def functions(templar: Templar, folder: str) -> Mapping[str, Any]:
    """Return the names that templates may call: `lookup`, `query` (`q`), `now` and `undef`."""
    lookups = Lookups(templar, folder)
    named = {"lookup": lookups.lookup, "query": lookups.query, "q": lookups.query}
    return {**named, "now": _now, "undef": lambda hint="": Missing(hint=hint or None)}


def _now(utc: bool = False, fmt: str | None = None) -> Any:  # noqa: FBT001, FBT002  Ansible's
    moment = datetime.now(UTC).replace(tzinfo=None) if utc else datetime.now()  # noqa: DTZ005
    return moment.strftime(fmt) if fmt else moment


def _flat(terms: tuple[Any, ...]) -> list[Any]:
    """Return the terms with lists opened, one level, as in Ansible."""
    return [part for term in terms for part in (term if isinstance(term, list) else [term])]


def _nested(terms: tuple[Any, ...], _: Options) -> list[Any]:
    return [list(row) for row in itertools.product(*terms)]


def _sequence(term: Any) -> list[str]:
    try:
        said = key_values(str(term))
        start, stride = int(said.get("start", "1"), 0), int(said.get("stride", "1"), 0)
        end = int(said["end"], 0) if "end" in said else start + (int(said["count"], 0) - 1) * stride
        numbers = range(start, end + (1 if stride > 0 else -1), stride)
        return [said.get("format", "%d") % number for number in numbers]
    except (ValueError, KeyError, TypeError) as error:
        raise TemplateFault(f"sequence: {error}; write start=1 end=3") from None
