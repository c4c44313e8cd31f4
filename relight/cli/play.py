"""`play`: run any playbook, with Ansible's options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from relight.cli.run import Options, load_project, say_with
from relight.connections import connect
from relight.core.events import Event, Text
from relight.errors import EXIT_OK, UsageError
from relight.executor import listing, load, run
from relight.project import Project


@dataclass(frozen=True)
class Playing:
    """What ansible-playbook's options say of one run."""

    playbook: str
    limit: str = ""
    tags: tuple[str, ...] = ()
    skip_tags: tuple[str, ...] = ()
    check: bool = False
    diff: bool = False
    list_tasks: bool = False
    list_hosts: bool = False
    forks: int = 32


def play_file(options: Options, playing: Playing) -> int:
    """Run a playbook by its path, or by the name of one that is shipped; return the exit code."""

    def act(say: Callable[[Event], None]) -> int:
        file = options.root / Path(playing.playbook).expanduser()
        beside = (file.parent,) if playing.playbook and file.is_file() else ()
        project = load_project(options, beside)
        extra = project.extra_variables()
        book = load(project, _path(project, options.root, playing.playbook), extra)
        limit = playing.limit or None
        tags = words(playing.tags) or ("all",)
        if playing.list_tasks or playing.list_hosts:
            text = listing(
                book,
                project,
                hosts=playing.list_hosts,
                task_names=playing.list_tasks,
                limit=limit,
                tags=tags,
                skip_tags=words(playing.skip_tags),
                extra_vars=extra,
            )
            say(Text(text=text))
            return EXIT_OK
        return run(
            book,
            project,
            limit=limit,
            tags=tags,
            skip_tags=words(playing.skip_tags),
            extra_vars=extra,
            check=playing.check,
            diff=playing.diff,
            report=say,
            connect=connect,
            forks=playing.forks,
        ).exit_code

    return say_with(options, act)


def words(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags of repeated options, each of which may hold several between commas."""
    tags = (tag.strip() for text in options for tag in text.split(","))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _path(project: Project, root: Path, name: str) -> Path:
    if not name:
        raise UsageError("play needs --playbook FILE")
    path = root / Path(name).expanduser()
    if path.is_file():
        return path
    return project.playbook(name if name.endswith((".yml", ".yaml")) else f"{name}.yml")
