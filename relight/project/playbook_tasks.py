"""Lists of tasks as written, into tasks and blocks; imports are put in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from relight.core.free_form import command_and_options, key_values
from relight.core.keywords import KEYWORDS, REFUSED, Place, at
from relight.core.playbook import Block, Catalog, Inherited, ModuleSpec, Node, Origin, Task
from relight.core.templating import is_template
from relight.errors import InputFaults
from relight.project import validation, yaml
from relight.project.marks import Document, Key, Trail
from relight.project.playbook_values import Found, check, condition, templates
from relight.project.wording import did_you_mean, got

BUILT_IN = ("ansible.builtin.", "ansible.legacy.", "relight.")
LANGUAGE = ("include_tasks", "import_tasks", "meta")
META = (
    "flush_handlers", "end_play", "end_host", "end_batch", "clear_facts", "clear_host_errors",
    "noop", "reset_connection", "refresh_inventory",
)  # fmt: skip
_FILE_KEYS = ("file", "apply")


def short_name(name: str) -> str:
    """Return a module's name without its collection."""
    for prefix in BUILT_IN:
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name


@dataclass
class Reader:
    """Reads the files of one playbook and keeps every fault; `root` is what paths are shown from.

    `modules` is None when nobody asked to check modules and their arguments.
    """

    root: Path
    modules: Catalog | None
    found: list[Found] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)
    open: tuple[Path, ...] = ()

    def document(self, path: Path) -> Document:
        """Return a file; raises InputFaults when it is no YAML."""
        return yaml.read(path, shown(self.root, path))

    def found_in(self, document: Document) -> Found:
        """Return where the faults of a file go."""
        found = Found(document)
        self.found.append(found)
        return found


def shown(root: Path, path: Path) -> str:
    """Return a path as faults say it: from the root where it is inside of it."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


class Tasks:
    """Reads the lists of tasks of one file."""

    def __init__(self, reader: Reader, document: Document, found: Found, folder: Path) -> None:
        self._reader, self._document, self._found = reader, document, found
        self._folder = folder

    def nodes(
        self, items: Any, trail: Trail, outer: Inherited, *, handler: bool = False
    ) -> tuple[Node, ...]:
        """Return what a list of tasks holds."""
        if not isinstance(items, list):
            if items is not None:
                self._found.add(trail, f"a list of tasks is wanted here, got {got(items)}")
            return ()
        nodes: list[Node] = []
        for index, item in enumerate(items):
            nodes += self._node(item, (*trail, index), outer, handler=handler)
        return tuple(nodes)

    def _node(self, item: Any, trail: Trail, outer: Inherited, *, handler: bool) -> list[Node]:
        if not isinstance(item, Mapping):
            self._found.add(trail, f"a task is a mapping, got {got(item)}", "write `module: ...`")
            return []
        if "block" in item or "rescue" in item or "always" in item:
            return [self._block(item, trail, outer, handler=handler)]
        return self._task(item, trail, outer, handler=handler)

    def _block(
        self, item: Mapping[Key, Any], trail: Trail, outer: Inherited, *, handler: bool
    ) -> Block:
        for key in item:
            self._keyword(str(key), item[key], (*trail, key), "block")
        if not item.get("block") and "block" not in item:
            self._found.add(trail, "a rescue or always stands without its block", "add block:")
        inherited = outer.under(_mapping(item))
        notify = item.get("notify")
        parts = [
            self.nodes(item.get(part), (*trail, part), inherited, handler=handler)
            for part in ("block", "rescue", "always")
        ]
        if notify is not None:
            parts = [tuple(_notified(node, notify) for node in part) for part in parts]
        block, rescue, always = parts
        name = str(item.get("name") or "")
        return Block(block, rescue, always, origin=self._origin(trail), name=name)

    def _origin(self, trail: Trail) -> Origin:
        return Origin(self._document.path, *self._document.value_at(trail))

    def _task(
        self, item: Mapping[Key, Any], trail: Trail, outer: Inherited, *, handler: bool
    ) -> list[Node]:
        place: Place = "handler" if handler else "task"
        item = self._loops(item)
        modules = [str(key) for key in item if self._is_module(str(key), place)]
        for key in item:
            if str(key) not in modules:
                self._keyword(str(key), item[key], (*trail, key), place)
        action = item.get("action")
        if action is not None and not modules:
            modules, item = self._action(action, item)
        if len(modules) != 1:
            self._not_one_module(item, modules, trail, place)
            return []
        module = short_name(modules[0])
        written = item[modules[0]]
        at_module = (*trail, modules[0]) if action is None else (*trail, "action")
        keywords = {str(key): value for key, value in item.items() if str(key) != modules[0]}
        inherited = outer.under(keywords)
        if module in LANGUAGE:
            return self._language(module, written, keywords, at_module, outer, handler=handler)
        args = self._arguments(module, written, item, at_module, trail)
        origin = self._origin(trail)
        return [Task(module, args, keywords, inherited, origin, handler, outer)]

    def _loops(self, item: Mapping[Key, Any]) -> Mapping[Key, Any]:
        return item

    def _is_module(self, key: str, place: Place) -> bool:
        if key in KEYWORDS or key in REFUSED:
            return False
        if short_name(key) in LANGUAGE:
            return True
        if self._reader.modules is None:
            return True
        return short_name(key) in self._reader.modules.names()

    def _action(self, action: Any, item: Mapping[Key, Any]) -> tuple[list[str], Mapping[Key, Any]]:
        if isinstance(action, Mapping):
            name, rest = (
                str(action.get("module", "")),
                {key: value for key, value in action.items() if key != "module"},
            )
            return [name], {**item, name: rest}
        name, _, rest_text = str(action).partition(" ")
        return [name], {**item, name: rest_text}

    def _not_one_module(
        self, item: Mapping[Key, Any], modules: list[str], trail: Trail, place: Place
    ) -> None:
        unknown = [str(k) for k in item if str(k) not in KEYWORDS and str(k) not in REFUSED]
        if len(modules) > 1:
            second = (*trail, modules[1])
            what = f"a task has one module, this one has {' and '.join(modules)}"
            self._found.add(second, what, "make two tasks of it", key=True)
        elif not unknown:
            self._found.add(trail, "a task without a module", "write `module: ...`")

    def _keyword(self, key: str, value: Any, trail: Trail, place: Place) -> None:
        keyword = KEYWORDS.get(key)
        if keyword is not None and place in keyword.places:
            if key in ("with_items",):
                return
            check(self._found, keyword.kind, value, trail)
            return
        if key in REFUSED:
            self._found.add(trail, f"{key!r} is Ansible's, not relight's", REFUSED[key], key=True)
            return
        if keyword is not None:
            where = " or ".join(keyword.places)
            self._found.add(
                trail, f"{key!r} does not stand in a {place}", f"in a {where}", key=True
            )
            return
        modules = () if self._reader.modules is None else self._reader.modules.names()
        known = (*at(place), *((*modules, *LANGUAGE) if place in ("task", "handler") else ()))
        words = "keyword or module" if place in ("task", "handler") else "keyword"
        advice = did_you_mean(short_name(key), known, "known")
        self._found.add(trail, f"unknown {words} {key!r}", advice, key=True)

    def _arguments(
        self, module: str, written: Any, item: Mapping[Key, Any], trail: Trail, task: Trail
    ) -> Mapping[str, Any]:
        """Return a module's arguments as a mapping, and note what is wrong with them."""
        spec = None if self._reader.modules is None else self._reader.modules.spec(module)
        extra = item.get("args")
        args: dict[str, Any] = dict(_mapping(extra)) if isinstance(extra, Mapping) else {}
        if isinstance(written, Mapping):
            args = {**args, **_mapping(written)}
        elif written is not None and not isinstance(written, list):
            args = {**args, **self._free_form(spec, str(written), trail)}
        elif isinstance(written, list):
            if spec is not None and spec.free_form:
                args = {**args, spec.free_form: written}
            else:
                self._found.add(trail, f"{module} wants a mapping of arguments, got a list")
        if spec is not None:
            self._check_arguments(spec, args, trail, task)
        return args

    def _free_form(self, spec: ModuleSpec | None, text: str, trail: Trail) -> dict[str, Any]:
        if spec is None:
            return {"_raw": text}
        try:
            if spec.free_form is None:
                return dict(key_values(text)) if text.strip() else {}
            fields = spec.args.model_fields
            rest, options = command_and_options(text, fields)
        except ValueError as error:
            advice = "write the arguments as a mapping"
            self._found.add(trail, f"{spec.name}: {error}", advice)
            return {}
        return {**options, **({spec.free_form: rest} if rest else {})}

    def _check_arguments(
        self, spec: ModuleSpec, args: Mapping[str, Any], trail: Trail, task: Trail
    ) -> None:
        for key, value in args.items():
            where = (*trail, key) if (*trail, key) in self._document.marks else trail
            if key in spec.raw:
                condition(self._found, value, where)
            else:
                templates(self._found, value, where)
        placer = _Inside(self._document, trail)
        _, faults = validation.read(spec.args, dict(args), placer, _excused)
        self._found.faults += faults

    def _language(
        self, module: str, written: Any, keywords: dict[str, Any], trail: Trail, outer: Inherited,
        *, handler: bool,
    ) -> list[Node]:  # fmt: skip
        origin, inherited = self._origin(trail[:-1]), outer.under(keywords)
        if module == "meta":
            action = written.get("_raw") if isinstance(written, Mapping) else written
            if str(action) not in META:
                advice = did_you_mean(str(action), META, "one of")
                self._found.add(trail, f"meta knows no {got(action)}", advice)
            return [Task("meta", {"action": str(action)}, keywords, inherited, origin, handler)]
        args = dict(written) if isinstance(written, Mapping) else {"file": written}
        if not isinstance(written, Mapping) and "=" in str(written) and "file=" in str(written):
            args = dict(key_values(str(written)))
        for key in args:
            if key not in _FILE_KEYS or (key == "apply" and module == "import_tasks"):
                advice = did_you_mean(str(key), _FILE_KEYS, "one of")
                self._found.add((*trail, key), f"unknown key {key!r} in {module}", advice, key=True)
        templates(self._found, args, trail)
        if not isinstance(args.get("file"), str) or not args["file"]:
            self._found.add(
                trail, f"{module} wants the name of a file, got {got(args.get('file'))}"
            )
            return []
        if module == "import_tasks":
            return self._import(args["file"], keywords, trail, inherited, handler=handler)
        task = Task(module, args, keywords, inherited, origin, handler, outer)
        if not is_template(args["file"]):
            self._include(args["file"], trail, outer, handler=handler)
        return [task]

    def _import(
        self, file: str, keywords: Mapping[str, Any], trail: Trail, inherited: Inherited,
        *, handler: bool,
    ) -> list[Node]:  # fmt: skip
        if "loop" in keywords:
            self._found.add((*trail[:-1], "loop"), "import_tasks has no loop", "use include_tasks")
            return []
        if is_template(file):
            advice = "use include_tasks, which is read when it runs"
            self._found.add(trail, "import_tasks is read beforehand: no templates", advice)
            return []
        path = self._file(file, trail)
        if path is None:
            return []
        if path in self._reader.open:
            self._found.add(trail, f"{file} imports itself", "use include_tasks with a `when`")
            return []
        return list(read_tasks(self._reader, path, inherited, handler=handler))

    def _include(self, file: str, trail: Trail, outer: Inherited, *, handler: bool) -> None:
        path = self._file(file, trail)
        if path is not None and path not in self._reader.seen:
            read_tasks(self._reader, path, outer, handler=handler)

    def _file(self, name: str, trail: Trail) -> Path | None:
        path = find(name, self._folder, self._reader.root)
        if path is None:
            near = sorted(p.name for p in self._folder.glob("*.y*ml"))
            at_value = (*trail, "file") if (*trail, "file") in self._document.marks else trail
            advice = did_you_mean(name, near, "files here")
            self._found.add(at_value, f"there is no file {name!r}", advice)
        return path


def find(name: str, folder: Path, root: Path) -> Path | None:
    """Return a file of tasks: beside the file that names it, under its tasks/, or in playbooks/."""
    for base in (folder, folder / "tasks", root / "playbooks", root):
        path = (base / name).absolute()
        if path.is_file():
            return path
    return None


def read_tasks(
    reader: Reader, path: Path, inherited: Inherited, *, handler: bool = False
) -> tuple[Node, ...]:
    """Return the tasks of a file; its faults go to the reader."""
    reader.seen.add(path)
    try:
        document = reader.document(path)
    except InputFaults as faults:
        reader.found.append(_broken(faults))
        return ()
    found = reader.found_in(document)
    inner = replace(reader, open=(*reader.open, path))
    tasks = Tasks(inner, document, found, path.parent)
    return tasks.nodes(document.data, (), inherited, handler=handler)


def _broken(faults: InputFaults) -> Found:
    found = Found(Document("", None, {}))
    found.faults += faults.faults
    return found


@dataclass(frozen=True)
class _Inside:
    """Places inside of a module's arguments; what stands in one string has the string's place."""

    document: Document
    trail: Trail

    def fault(self, trail: Any, what: str, right: str = "", *, key: bool = False) -> Any:
        return self.document.fault((*self.trail, *trail), what, right, key=key)


def _excused(value: Any) -> bool:
    return is_template(value)


def _mapping(value: Mapping[Key, Any]) -> dict[str, Any]:
    return {str(key): item for key, item in value.items()}


def _notified(node: Node, notify: Any) -> Node:
    if isinstance(node, Block):
        block, rescue, always = (
            tuple(_notified(inner, notify) for inner in part)
            for part in (node.block, node.rescue, node.always)
        )
        return replace(node, block=block, rescue=rescue, always=always)
    if "notify" in node.keywords:
        return node
    return replace(node, keywords={**node.keywords, "notify": notify})


Load = Callable[[Path], Document]
