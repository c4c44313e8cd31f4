"""`template`: render a file with the task's variables and put it in its place."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from relight.core.language.arguments import Arguments, Mode
from relight.core.language.templating import Templar, TemplateFault
from relight.core.outcome import Outcome
from relight.core.posix.answers import read
from relight.core.posix.install import Install, script
from relight.core.posix.placed import outcome
from relight.modules import Scope


class Args(Arguments):
    """The arguments of Ansible's `template`; in a `*.sh.j2` every value is quoted for a shell."""

    src: str
    dest: str
    mode: Mode = ""
    owner: str = ""
    group: str = ""
    backup: bool = False
    force: bool = True
    validate_: str = Field("", alias="validate")
    follow: bool = False


def run(args: Args, scope: Scope) -> Outcome:
    """Render the template and install what it came to, unless it is there already."""
    from relight.core.language.text_template import is_shell, render_with  # noqa: PLC0415  start-up time

    source, where = _source(args.src, scope)
    if source is None:
        return Outcome(failed=True, msg=f"Could not find or access '{args.src}'")
    templar = scope.templar or Templar({}, scope.variables)
    try:
        text = render_with(templar, source, shell=is_shell(args.src))
    except TemplateFault as fault:
        return Outcome(failed=True, msg=f"{where}:{fault.line or 1}: {fault.what}")
    plan = Install(
        dest=args.dest, name=Path(args.src).name.removesuffix(".j2"), mode=args.mode,
        owner=args.owner, group=args.group, backup=args.backup, force=args.force,
        validate=args.validate_, check=scope.check, diff=scope.diff,
    )  # fmt: skip
    try:
        sent = script(plan)
    except ValueError as error:
        return Outcome(failed=True, msg=str(error))
    data = text.encode()
    said = read(scope.open_connection().control(sent, data=data, timeout=120).out)
    return outcome(said, data, where, check=scope.check)


def _source(name: str, scope: Scope) -> tuple[str | None, str]:
    """Return a template's text and its path: beside the playbook, in templates/, or shipped."""
    root = scope.project.root
    for folder in (Path(scope.folder) / "templates", Path(scope.folder), root / "templates"):
        path = folder / name
        if path.is_file():
            return path.read_text(encoding="utf-8"), str(path)
    try:
        return scope.project.template(name), f"templates/{name}"
    except (OSError, LookupError):
        return None, name
