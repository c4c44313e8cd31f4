"""What a playbook is once it was read: plays, blocks and tasks, each with what it inherits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pydantic import BaseModel

from relight.core.language.keywords import APPENDED, INHERITED

Values = Mapping[str, Any]


@dataclass(frozen=True)
class ModuleSpec:
    """What is known of a module without running it.

    `free_form` is the argument that a bare string fills; `raw` names arguments that the module
    renders by itself; `check_mode` is False when it is skipped under `--check`; `brief` is True
    when what it runs on a host is ended at once when the operator says stop; `sends` is the folder
    in which its `src`, a file of this machine, is looked for.
    """

    name: str
    args: type[BaseModel]
    free_form: str | None = None
    raw: tuple[str, ...] = ()
    check_mode: bool = True
    brief: bool = False
    sends: str = ""


class Catalog(Protocol):
    """The modules that exist, by their short names."""

    def names(self) -> tuple[str, ...]:
        """Return all names."""

    def spec(self, name: str) -> ModuleSpec:
        """Return what is known of one module."""


@dataclass(frozen=True)
class Origin:
    """Where something was written."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Inherited:
    """What a task has from the play, the blocks and the import around it, and from itself.

    `when`, `environment` and `variables` go from the outermost to the innermost; `options` are
    the innermost value of every other inherited keyword. `include` holds the variables of
    `include_tasks`, which win over facts, and `fixed` its loop's, which are never rendered again.
    """

    when: tuple[Any, ...] = ()
    tags: tuple[str, ...] = ()
    variables: tuple[Values, ...] = ()
    environment: tuple[Any, ...] = ()
    include: tuple[Values, ...] = ()
    fixed: tuple[Values, ...] = ()
    options: Values = field(default_factory=dict)

    def under(self, keywords: Values) -> Inherited:
        """Return what is inherited one level further in."""
        found = {name: keywords[name] for name in INHERITED if name in keywords}
        own = {name: _listed(keywords.get(name)) for name in APPENDED}
        variables = keywords.get("vars")
        return replace(
            self,
            when=self.when + tuple(own["when"]),
            tags=self.tags + tuple(tag for tag in split_tags(keywords.get("tags"))),
            variables=self.variables + ((variables,) if variables else ()),
            environment=self.environment + tuple(own["environment"]),
            options={**self.options, **found},
        )


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def split_tags(value: Any) -> list[str]:
    """Return tags as Ansible reads them: a list, or text with commas."""
    words = [str(part) for part in _listed(value)]
    return [tag.strip() for word in words for tag in word.split(",") if tag.strip()]


@dataclass(frozen=True)
class Task:
    """One task: a module, its arguments as written, and its own keywords as written."""

    module: str
    args: Values
    keywords: Values
    inherited: Inherited
    origin: Origin
    handler: bool = False
    outside: Inherited = field(default_factory=Inherited)
    """What was inherited around the task, without its own keywords: an include passes it on."""
    folder: str = ""
    """The folder of the file that the task stands in."""

    @property
    def name(self) -> str:
        """Return the name as written, else the module's."""
        return str(self.keywords.get("name") or self.module)

    @property
    def listens(self) -> tuple[str, ...]:
        """Return the topics that a handler listens to."""
        return tuple(str(topic) for topic in _listed(self.keywords.get("listen")))

    def option(self, name: str, default: Any = None) -> Any:
        """Return a keyword of the task or of what is around it, as written."""
        value = self.keywords.get(name)
        return self.inherited.options.get(name, default) if value is None else value


@dataclass(frozen=True)
class Block:
    """Tasks that belong together, what to do when one fails, and what to do in any case."""

    block: tuple[Node, ...]
    rescue: tuple[Node, ...]
    always: tuple[Node, ...]
    origin: Origin
    name: str = ""


Node = Task | Block


@dataclass(frozen=True)
class VarsFile:
    """An entry of `vars_files`: the first of `names` that exists; `values` once it is read."""

    names: tuple[str, ...]
    values: Values | None = None


@dataclass(frozen=True)
class Play:
    """One play: where it runs, and what."""

    name: str
    hosts: str
    keywords: Values
    variables: Values
    vars_files: tuple[VarsFile, ...]
    pre_tasks: tuple[Node, ...]
    tasks: tuple[Node, ...]
    post_tasks: tuple[Node, ...]
    handlers: tuple[Task, ...]
    origin: Origin
    folder: str
    """The folder of the file that the play stands in, as an absolute path."""

    def option(self, name: str, default: Any = None) -> Any:
        """Return a keyword of the play, as written."""
        value = self.keywords.get(name)
        return default if value is None else value


@dataclass(frozen=True)
class Playbook:
    """A file of plays, checked."""

    path: str
    plays: tuple[Play, ...]


def wanted(tags: tuple[str, ...], only: Collection[str], skip: Collection[str]) -> bool:
    """Return whether a task with these tags runs under `--tags` and `--skip-tags`."""
    own = frozenset(tags)
    named = own or frozenset({"untagged"})
    run = (
        "always" in own
        or ("all" in only and "never" not in own)
        or bool(named.intersection(only))
        or ("tagged" in only and bool(own) and "never" not in own)
    )
    if not run or not skip:
        return run
    if "all" in skip:
        return "always" in own and "always" not in skip
    return not (named.intersection(skip) or ("tagged" in skip and own))
