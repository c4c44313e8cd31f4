"""Rendering of values: Jinja with Ansible's native types, lazily rendered variables, sandboxed."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import Template, TemplateSyntaxError, nodes
from jinja2.parser import Parser

from relight.core.language.jinja_native import native_concat, native_environment
from relight.core.language.lazy import OMIT, LazyDict, LazyList, plain
from relight.core.language.literal import Literal
from relight.core.language.missing import Missing, UndefinedName
from relight.errors import RelightError

Path = tuple[str | int, ...]
_MARK = re.compile(r"\{[{%#]")


class TemplateFault(RelightError):
    """A template that does not render.

    `what` is wrong; `name` is the name that does not exist, if that is it (`undefined`); `path`
    leads to the string inside the value that was rendered; `line` counts from 1 inside that
    string, 0 when unknown.
    """

    def __init__(
        self, what: str, *, name: str = "", path: Path = (), line: int = 0, undefined: bool = False
    ) -> None:
        super().__init__(what)
        self.what, self.name, self.path, self.line = what, name, path, line
        self.undefined = undefined

    def under(self, *keys: str | int) -> TemplateFault:
        """Return the same fault, seen from further outside."""
        return TemplateFault(
            self.what,
            name=self.name,
            path=(*keys, *self.path),
            line=self.line,
            undefined=self.undefined,
        )


@functools.cache
def value_environment() -> Any:
    """Return the environment that renders values; made once, never changed afterwards."""
    return native_environment()


@functools.lru_cache(maxsize=4096)
def _compiled(source: str) -> Template:
    template: Template = value_environment().from_string(_backslashes(source))
    return template


def _backslashes(source: str) -> str:
    r"""Return a template in which a backslash in a text inside of `{{ }}` stands for itself.

    So it is in Ansible's values, but not in its conditions and template files: `'\1'` is enough.
    """
    if "\\" not in source:
        return source
    parts, inside = [], False
    for _, kind, text in value_environment().lex(source):
        inside = kind == "variable_begin" or (inside and kind != "variable_end")
        parts.append(text.replace("\\", "\\\\") if inside and kind == "string" else text)
    return "".join(parts)


@functools.lru_cache(maxsize=4096)
def _compiled_expression(source: str) -> Template:
    environment = value_environment()
    parser = Parser(environment, source, state="variable")
    expression = parser.parse_expression()
    if not parser.stream.eos:
        token = parser.stream.current
        raise TemplateSyntaxError(f"{token.value!r} is left over", token.lineno)
    tree = nodes.Template([nodes.Output([expression], lineno=1)], lineno=1)
    template: Template = environment.from_string(tree)
    return template


def is_template(value: Any) -> bool:
    """Return whether a value is a string that Jinja has something to do in."""
    return (
        isinstance(value, str)
        and not isinstance(value, Literal)
        and _MARK.search(value) is not None
    )


def check_syntax(source: str, *, expression: bool = False) -> None:
    """Raise `TemplateFault` when a string (or a bare expression) is not valid Jinja."""
    try:
        (_compiled_expression if expression else _compiled)(source)
    except TemplateSyntaxError as error:
        raise TemplateFault(error.message or "is no template", line=error.lineno) from None
    except RecursionError:
        raise TemplateFault("is nested too deeply") from None


class _Names(Mapping[str, Any]):
    """The names that a template may look up: literals, then variables, then Jinja's own."""

    def __init__(self, templar: Templar, names: Mapping[str, Any]) -> None:
        self._templar, self._globals = templar, names

    def __getitem__(self, name: str) -> Any:
        if name in self._templar:
            return self._templar.look_up(name)
        return self._globals[name]

    def __contains__(self, name: object) -> bool:
        return name in self._templar or name in self._globals

    def __iter__(self) -> Iterator[str]:
        return iter({*self._globals, *self._templar.names()})

    def __len__(self) -> int:
        return len({*self._globals, *self._templar.names()})


class Templar:
    """Renders values with one host's variables.

    `variables` are as written, rendered when they are looked up. `literals` win over them and are
    never rendered: what came from a host, from `register` or from `set_fact`. What a template
    came to is never rendered again.
    """

    def __init__(self, variables: Mapping[str, Any], literals: Mapping[str, Any] = {}) -> None:
        self._variables, self._literals = variables, literals
        self._rendered: dict[str, Any] = {}
        self._open: list[str] = []

    def __contains__(self, name: object) -> bool:
        return name in self._literals or name in self._variables or name == "omit"

    def names(self) -> set[str]:
        """Return the names that have a value."""
        return {"omit", *self._literals, *self._variables}

    def beside(self, literals: Mapping[str, Any]) -> Templar:
        """Return a templar with some more values, which win and are never rendered."""
        return Templar(self._variables, {**self._literals, **literals})

    def look_up(self, name: str) -> Any:
        """Return a variable, rendered; undefined where its own template uses an unknown name."""
        if name in self._literals:
            return self._literals[name]
        if name == "omit":
            return OMIT
        if name not in self._rendered:
            if name in self._open:
                loop = " -> ".join([*self._open[self._open.index(name) :], name])
                raise TemplateFault(f"the variables refer to each other in a loop: {loop}")
            self._open.append(name)
            try:
                self._rendered[name] = self._value(self._variables[name])
            finally:
                self._open.pop()
        return self._rendered[name]

    def render(self, value: Any) -> Any:
        """Return the value with every template in it rendered; raises `TemplateFault`.

        Entries and items that come to `omit` are left out; a value that is `omit` itself comes
        back as `OMIT`.
        """
        if isinstance(value, Mapping):
            rendered = {key: self._inside(key, item) for key, item in value.items()}
            return {key: item for key, item in rendered.items() if item is not OMIT}
        if isinstance(value, list | tuple):
            items = [self._inside(index, item) for index, item in enumerate(value)]
            return [item for item in items if item is not OMIT]
        return self._string(value) if is_template(value) else value

    def expression(self, source: str) -> Any:
        """Return what a bare expression comes to; raises `TemplateFault`."""
        return self._guard(lambda: _compiled_expression(source))

    def condition(self, expression: Any) -> bool:
        """Return whether a condition holds: an expression, a boolean, or a list of them (and).

        As in Ansible 2.19 anything but true and false is a fault; nothing at all holds.
        """
        if expression is None or isinstance(expression, bool):
            return expression is not False
        if isinstance(expression, list | tuple):
            for index, part in enumerate(expression):
                try:
                    if not self.condition(part):
                        return False
                except TemplateFault as fault:
                    raise fault.under(index) from None
            return True
        value = expression
        if isinstance(expression, str):
            value = self._string(expression) if is_template(expression) else expression
            if isinstance(value, str) and value is expression:
                value = self.expression(value)
        if not isinstance(value, bool):
            raise TemplateFault(
                f"the condition came to {value!r} ({type(value).__name__}), not to true or false"
            )
        return value

    def _inside(self, key: Any, item: Any) -> Any:
        try:
            return self.render(item)
        except TemplateFault as fault:
            raise fault.under(key) from None

    def _string(self, source: str) -> Any:
        return ended(source, self._guard(lambda: _compiled(source)))

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            if not is_template(value):
                return value
            try:
                return ended(value, self._raw(_compiled, value))
            except TemplateFault as fault:
                if not fault.undefined:
                    raise
                return Missing(hint=fault.what, name=fault.name)
        if isinstance(value, dict):
            return LazyDict(value, self._value)
        if isinstance(value, list | tuple):
            return LazyList(list(value), self._value)
        return value

    def _guard(self, template: Any) -> Any:
        result = self._raw(lambda _: template(), "")
        if result is OMIT:
            return OMIT
        try:
            return plain(result)
        except UndefinedName as error:
            raise TemplateFault(str(error), name=error.name, undefined=True) from None
        except RecursionError:
            raise TemplateFault("the variables refer to each other in a loop") from None

    def _raw(self, compiled: Any, source: str) -> Any:
        template: Any = None
        try:
            template = compiled(source)
            return native_concat(pieces(template, self))
        except (TemplateFault, KeyboardInterrupt):
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
            what = str(error) or type(error).__name__
            raise TemplateFault(what, line=line_of(error, template)) from None


def ended(source: str, result: Any, newline: str = "\n") -> Any:
    """Return text with as many newlines at its end as its template has: Jinja drops one."""
    if not source.endswith("\n") or not isinstance(result, str):
        return result
    lost = len(source) - len(source.rstrip("\n")) - (len(result) - len(result.rstrip("\n")))
    return result + newline * lost if lost > 0 else result


def pieces(template: Any, templar: Templar) -> Iterator[Any]:
    """Return what a compiled template yields, piece by piece, with a templar's names."""
    environment = template.environment
    context = environment.context_class(
        environment, _Names(templar, template.globals), template.name, template.blocks
    )
    iterator: Iterator[Any] = template.root_render_func(context)
    return iterator


def line_of(error: BaseException, template: Any) -> int:
    """Return the line of a template's source in which an error arose; 0 when unknown."""
    line, trace = 0, error.__traceback__
    while trace is not None and template is not None:
        if trace.tb_frame.f_code.co_filename == (template.filename or "<template>"):
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line
