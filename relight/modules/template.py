"""`template`: render a file with the task's variables and put it in its place."""

from __future__ import annotations

import platform
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from relight.core.language.arguments import Arguments, Mode
from relight.core.language.templating import Templar, TemplateFault
from relight.core.outcome import Outcome
from relight.core.posix.answers import told
from relight.core.posix.install import Install, script
from relight.core.posix.placed import outcome
from relight.modules import Scope

SENDS = "templates"


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
    block_start_string: str = "{%"
    block_end_string: str = "%}"
    variable_start_string: str = "{{"
    variable_end_string: str = "}}"
    comment_start_string: str = "{#"
    comment_end_string: str = "#}"
    trim_blocks: bool = True
    lstrip_blocks: bool = False
    newline_sequence: Literal["\n", "\r", "\r\n", "\\n", "\\r", "\\r\\n"] = "\n"
    output_encoding: str = "utf-8"


def run(args: Args, scope: Scope) -> Outcome:
    """Render the template and install what it came to, unless it is there already."""
    from relight.core.language.text_template import Syntax, is_shell, render_with  # noqa: PLC0415  start-up time

    source, where = _source(args.src, scope)
    if source is None:
        return Outcome(failed=True, msg=f"Could not find or access '{args.src}'")
    templar = (scope.templar or Templar({}, scope.variables)).beside(_own(args, scope, where))
    named = args.model_dump(include={field.name for field in fields(Syntax)})
    newline = args.newline_sequence.replace("\\n", "\n").replace("\\r", "\r")
    syntax = Syntax(**{**named, "newline_sequence": newline})
    try:
        text = render_with(
            templar,
            source,
            shell=is_shell(args.src),
            syntax=syntax,
            load=lambda name: _included(name, where, scope),
        )
        data = text.encode(args.output_encoding)
    except TemplateFault as fault:
        return Outcome(failed=True, msg=f"{where}:{fault.line or 1}: {fault.what}")
    except (LookupError, UnicodeEncodeError) as error:
        return Outcome(failed=True, msg=f"output_encoding: {error}")
    plan = Install(
        dest=args.dest, name=Path(args.src).name, mode=args.mode,
        owner=args.owner, group=args.group, backup=args.backup, force=args.force,
        validate=args.validate_, follow=args.follow, check=scope.check, diff=scope.diff,
    )  # fmt: skip
    try:
        sent = script(plan)
    except ValueError as error:
        return Outcome(failed=True, msg=str(error))
    said = told(scope.open_connection().control(sent, data=data, timeout=120))
    return outcome(said, data, where, check=scope.check, diff=scope.diff)


def _own(args: Args, scope: Scope, path: str) -> dict[str, Any]:
    """Return the variables that only a template has, as in Ansible."""
    asked = "ansible_managed" in scope.variables
    managed = {} if asked else {"ansible_managed": "Ansible managed"}
    found = Path(path)
    changed = found.stat().st_mtime if found.is_file() else 0
    return {
        **managed,
        "template_host": platform.node(),
        "template_path": path,
        "template_fullpath": str(found.absolute()),
        "template_destpath": args.dest,
        "template_mtime": datetime.fromtimestamp(changed).astimezone().isoformat(),
        "template_run_date": datetime.now().astimezone().isoformat(),
    }


def _included(name: str, path: str, scope: Scope) -> str | None:
    """Return a template that another one includes: beside that, or where sources lie."""
    beside = Path(path).parent / name
    found = beside if beside.is_file() else scope.source(name, "templates")
    return found.read_text(encoding="utf-8") if found is not None and found.is_file() else None


def _source(name: str, scope: Scope) -> tuple[str | None, str]:
    """Return a template's text and its path: beside the playbook, in templates/, or shipped."""
    path = scope.source(name, "templates")
    if path is not None and path.is_file():
        return path.read_text(encoding="utf-8"), str(path)
    try:
        return scope.project.template(name), f"templates/{name}"
    except (OSError, LookupError):
        return None, name
