"""Rendering of template files: as Ansible's `template` does, or quoted for a POSIX shell."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from jinja2 import TemplateSyntaxError, meta

from relight.core.language.filters_text import Raw, quote
from relight.core.language.jinja_native import native_environment
from relight.core.language.lazy import OMIT, plain
from relight.core.language.missing import UndefinedName
from relight.core.language.shell_words import ShellText, Word
from relight.core.language.templating import Templar, TemplateFault, line_of, pieces


def _text(value: Any) -> str:
    if value is None or value is OMIT:
        return ""
    return value if type(value) is str else str(plain(value))


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


@functools.cache
def _environment(*, shell: bool) -> Any:
    return native_environment(
        finalize=_shell_word if shell else _text, trim_blocks=True, keep_trailing_newline=True
    )


@functools.lru_cache(maxsize=256)
def _compiled(source: str, *, shell: bool) -> Any:
    return _environment(shell=shell).from_string(source)


def is_shell(name: str) -> bool:
    """Return whether a template of this name is quoted for a shell (`*.sh.j2`)."""
    return name.endswith((".sh.j2", ".sh"))


def undeclared(source: str) -> frozenset[str]:
    """Return the names that a template file uses and does not set; raises `TemplateFault`."""
    environment = _environment(shell=False)
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


def render_with(templar: Templar, source: str, *, shell: bool = False) -> str:
    """Return the text of a template file, with a templar's variables."""
    template = None
    try:
        template = _compiled(source, shell=shell)
        text = ShellText()
        parts: list[str] = []
        for piece in pieces(template, templar):
            part = piece if isinstance(piece, str) else _text(piece)
            if shell:
                text.add(part)
            parts.append(str.__str__(part))
        return "".join(parts)
    except TemplateFault:
        raise
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
