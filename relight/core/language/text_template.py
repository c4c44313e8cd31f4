"""Rendering of template files: as Ansible's `template` does, or quoted for a POSIX shell."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from jinja2 import FunctionLoader, TemplateNotFound, TemplateSyntaxError, meta

from relight.core.language.filters_text import Raw, quote
from relight.core.language.jinja_native import native_environment, spelt
from relight.core.language.layers import LayeredContext, LayeredTemplate
from relight.core.language.lazy import OMIT, plain
from relight.core.language.missing import UndefinedName
from relight.core.language.shell_words import ShellText, Word
from relight.core.language.templating import Templar, TemplateFault, ended, line_of, pieces


def _text(value: Any) -> str:
    if value is None or value is OMIT:
        return ""
    return value if type(value) is str else spelt(value)


def _shell_word(value: Any) -> str:
    if isinstance(value, Raw):
        return str.__str__(value)
    value = plain(value)
    if isinstance(value, dict):
        raise ValueError("a mapping is no word of a shell: pick a value, or use | to_json")
    if isinstance(value, list):
        return Word(" ".join(_shell_word(item) for item in value))
    if isinstance(value, bool):
        return Word("true" if value else "false")
    return Word(quote(value))


@dataclass(frozen=True)
class Syntax:
    """How a template file is written: Jinja's own options of these names, with Ansible's values."""

    block_start_string: str = "{%"
    block_end_string: str = "%}"
    variable_start_string: str = "{{"
    variable_end_string: str = "}}"
    comment_start_string: str = "{#"
    comment_end_string: str = "#}"
    trim_blocks: bool = True
    lstrip_blocks: bool = False
    newline_sequence: str = "\n"


PLAIN: Final = Syntax()
Load = Callable[[str], str | None]
_HEADER = "#jinja2:"
"""What the first line of a template begins with that sets options for itself."""


def headed(source: str, syntax: Syntax) -> tuple[str, Syntax]:
    """Return a template without its `#jinja2:` line, and the syntax with what that line sets.

    Raises `TemplateFault` for what is no option.
    """
    if not source.startswith(_HEADER):
        return source, syntax
    line, _, rest = source.partition("\n")
    changes: dict[str, Any] = {}
    for pair in line.removeprefix(_HEADER).split(","):
        name, colon, value = (part.strip() for part in pair.partition(":"))
        if not colon or name not in {field.name for field in fields(Syntax)}:
            raise TemplateFault(f"#jinja2: sets no {pair.strip()!r}", line=1)
        try:
            changes[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            raise TemplateFault(f"#jinja2: {value!r} is no value of Python", line=1) from None
    return rest, replace(syntax, **changes)


@functools.lru_cache(maxsize=32)
def _environment(syntax: Syntax, *, shell: bool) -> Any:
    return native_environment(finalize=_shell_word if shell else _text, **asdict(syntax))


@functools.lru_cache(maxsize=256)
def _compiled(source: str, syntax: Syntax, *, shell: bool) -> Any:
    return _environment(syntax, shell=shell).from_string(source)


def _including(source: str, syntax: Syntax, load: Load, *, shell: bool) -> Any:
    """Return a template with what it includes; that depends on its place, so nothing is kept."""
    environment = _environment(syntax, shell=shell).overlay(loader=FunctionLoader(load))
    environment.template_class, environment.context_class = LayeredTemplate, LayeredContext
    return environment.from_string(source)


def _includes(source: str, syntax: Syntax) -> bool:
    begin = re.escape(syntax.block_start_string)
    return re.search(rf"{begin}[-+]?\s*(include|import|from|extends)\b", source) is not None


def is_shell(name: str) -> bool:
    """Return whether a template of this name is quoted for a shell (`*.sh.j2`)."""
    return name.endswith((".sh.j2", ".sh"))


def undeclared(source: str) -> frozenset[str]:
    """Return the names that a template file uses and does not set; raises `TemplateFault`."""
    environment = _environment(PLAIN, shell=False)
    try:
        return frozenset(meta.find_undeclared_variables(environment.parse(source)))
    except TemplateSyntaxError as error:
        raise TemplateFault(error.message or "is no template", line=error.lineno) from None


def render_text(
    source: str,
    variables: Mapping[str, Any],
    literals: Mapping[str, Any] = {},
    *,
    shell: bool = False,
) -> str:
    """Return the text of a template file; raises `TemplateFault` with the line in the file.

    With `shell`, what `{{ }}` prints is one shell word (a list: a word each), unless it went
    through `| raw`; a `{{ }}` inside quotes, a comment or a here-document is refused, because
    quoting does not protect there.
    """
    return render_with(Templar(variables, literals), source, shell=shell)


def render_with(
    templar: Templar, source: str, *, shell: bool = False, syntax: Syntax = PLAIN,
    load: Load = lambda _: None,
) -> str:  # fmt: skip
    """Return the text of a template file, with a templar's variables.

    `load` returns the text of a template that this one includes, by its name.
    """
    template = None
    source, syntax = headed(source, syntax)
    try:
        if _includes(source, syntax):
            template = _including(source, syntax, load, shell=shell)
        else:
            template = _compiled(source, syntax, shell=shell)
        text = ShellText()
        parts: list[str] = []
        for piece in pieces(template, templar):
            part = piece if isinstance(piece, str) else _text(piece)
            if shell:
                text.add(part)
            parts.append(str.__str__(part))
        return str(ended(source, "".join(parts), syntax.newline_sequence))
    except TemplateFault:
        raise
    except TemplateNotFound as error:
        raise TemplateFault(f"there is no template {error.message!r} to include") from None
    except TemplateSyntaxError as error:
        raise TemplateFault(error.message or "is no template", line=error.lineno) from None
    except UndefinedName as error:
        raise TemplateFault(
            str(error), name=error.name, line=line_of(error, template), undefined=True
        ) from None
    except RecursionError:
        raise TemplateFault("the variables refer to each other in a loop") from None
    except Exception as error:  # noqa: BLE001  a filter may raise anything for a bad value
        raise TemplateFault(
            str(error) or type(error).__name__, line=line_of(error, template)
        ) from None
