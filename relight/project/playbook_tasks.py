"""Lists of tasks as written, into tasks and blocks; imports are put in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from relight.core.language.free_form import key_values
from relight.core.language.keywords import KEYWORDS, REFUSED, Place
from relight.core.language.playbook import Block, Inherited, ModuleSpec, Node, Origin, Task
from relight.core.language.templating import is_template
from relight.errors import InputFaults
from relight.project.marks import Document, Key, Trail
from relight.project.playbook_arguments import Spot, read_arguments
from relight.project.playbook_files import Reader
from relight.project.playbook_keywords import LANGUAGE, keyword, short_name
from relight.project.playbook_search import find_tasks
from relight.project.playbook_uses import Source, Use, definitions, of_conditions, of_task
from relight.project.playbook_uses import Spot as UseSpot
from relight.project.playbook_values import Found, templates
from relight.project.wording import did_you_mean, got

META = (
    "flush_handlers", "end_play", "end_host", "end_batch", "clear_facts", "clear_host_errors",
    "noop", "reset_connection", "refresh_inventory",
)  # fmt: skip
_FILE_KEYS = ("file", "apply")


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
            keyword(self._found, self._names(), str(key), item[key], (*trail, key), "block")
        if not item.get("block") and "block" not in item:
            self._found.add(trail, "a rescue or always stands without its block", "add block:")
        inherited = outer.under(_mapping(item))
        self._reader.written += definitions(self._document, (*trail, "vars"), item.get("vars"))
        if not handler:
            self._reader.uses += of_conditions(self._use(trail, outer, inherited), _mapping(item))
        notify = item.get("notify")
        parts = [
            self.nodes(item.get(part), (*trail, part), inherited, handler=handler)
            if part != "block" or not item.get("rescue")
            else self._guarded(item.get(part), (*trail, part), inherited, handler=handler)
            for part in ("block", "rescue", "always")
        ]
        if notify is not None:
            parts = [tuple(_notified(node, notify) for node in part) for part in parts]
        block, rescue, always = parts
        name = str(item.get("name") or "")
        return Block(block, rescue, always, origin=self._origin(trail), name=name)

    def _guarded(
        self, items: Any, trail: Trail, inherited: Inherited, *, handler: bool
    ) -> tuple[Node, ...]:
        reader = replace(self._reader, guarded=True)
        tasks = Tasks(reader, self._document, self._found, self._folder)
        return tasks.nodes(items, trail, inherited, handler=handler)

    def _use(self, trail: Trail, outer: Inherited, inherited: Inherited) -> UseSpot:
        return UseSpot(self._document, trail, outer, inherited, self._reader.guarded)

    def _sent(self, spec: ModuleSpec, args: Mapping[str, Any], trail: Trail) -> None:
        """Note the file of this machine that a task sends, where its name is literal."""
        name = args.get("src")
        if not spec.sends or not isinstance(name, str) or is_template(name):
            return
        # An absolute path may be made by the run itself.
        if not (args.get("remote_src") or Path(name).is_absolute() or name.startswith("~")):
            inside = (*trail, "src")
            at_name = inside if inside in self._document.marks else trail
            source = Source(self._document, at_name, name, spec.sends, str(self._folder))
            self._reader.sources.append(source)

    def _origin(self, trail: Trail) -> Origin:
        return Origin(self._document.path, *self._document.value_at(trail))

    def _task(
        self, item: Mapping[Key, Any], trail: Trail, outer: Inherited, *, handler: bool
    ) -> list[Node]:
        place: Place = "handler" if handler else "task"
        modules = [str(key) for key in item if self._is_module(str(key))]
        for key in item:
            if str(key) not in modules:
                keyword(self._found, self._names(), str(key), item[key], (*trail, key), place)
        action = item.get("action")
        if action is not None and not modules:
            modules, item = self._action(action, item)
        if len(modules) != 1:
            self._not_one_module(item, modules, trail)
            return []
        module = short_name(modules[0])
        written = item[modules[0]]
        at_module = (*trail, modules[0]) if action is None else (*trail, "action")
        keywords = {str(key): value for key, value in item.items() if str(key) != modules[0]}
        inherited = outer.under(keywords)
        spot = self._use(trail, outer, inherited)
        self._reader.written += definitions(self._document, (*trail, "vars"), item.get("vars"))
        if module in LANGUAGE:
            if not handler:
                self._reader.uses += of_conditions(spot, keywords)
            return self._language(module, written, keywords, at_module, outer, handler=handler)
        args = read_arguments(
            self._reader.modules,
            module,
            written,
            item.get("args"),
            Spot(self._document, self._found, at_module),
        )
        if "notify" in item:
            self._reader.notifies.append(Use(self._document, (*trail, "notify"), item["notify"]))
        if not handler and self._reader.modules is not None:
            spec = self._reader.modules.spec(module)
            self._reader.uses += of_task(spot, keywords, args, at_module, spec.raw)
            if spot.sure:
                self._sent(spec, args, at_module)
        origin = self._origin(trail)
        return [Task(module, args, keywords, inherited, origin, handler, outer, str(self._folder))]

    def _names(self) -> tuple[str, ...]:
        return () if self._reader.modules is None else self._reader.modules.names()

    def _is_module(self, key: str) -> bool:
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

    def _not_one_module(self, item: Mapping[Key, Any], modules: list[str], trail: Trail) -> None:
        unknown = [str(k) for k in item if str(k) not in KEYWORDS and str(k) not in REFUSED]
        if len(modules) > 1:
            second = (*trail, modules[1])
            what = f"a task has one module, this one has {' and '.join(modules)}"
            self._found.add(second, what, "make two tasks of it", key=True)
        elif not unknown:
            self._found.add(trail, "a task without a module", "write `module: ...`")

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
        task = Task(module, args, keywords, inherited, origin, handler, outer, str(self._folder))
        if not is_template(args["file"]):
            inherited = self._applied(args.get("apply"), keywords, trail, inherited)
            self._include(args["file"], trail, inherited, handler=handler)
        return [task]

    def _applied(
        self, apply: Any, keywords: Mapping[str, Any], trail: Trail, inherited: Inherited
    ) -> Inherited:
        """Return what an included file inherits; a loop, which may be empty, spares it."""
        if isinstance(apply, Mapping):
            at_vars = (*trail, "apply", "vars")
            self._reader.written += definitions(self._document, at_vars, apply.get("vars"))
            inherited = inherited.under(_mapping(apply))
        if "loop" in keywords:
            inherited = replace(inherited, when=(*inherited.when, True))
        return inherited

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
            self._reader.included += read_tasks(self._reader, path, outer, handler=handler)

    def _file(self, name: str, trail: Trail) -> Path | None:
        path = find_tasks(name, self._folder, self._reader.root)
        if path is None:
            near = sorted(p.name for p in self._folder.glob("*.y*ml"))
            at_value = (*trail, "file") if (*trail, "file") in self._document.marks else trail
            advice = did_you_mean(name, near, "files here")
            self._found.add(at_value, f"there is no file {name!r}", advice)
        return path


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
