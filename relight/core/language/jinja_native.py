"""A sandboxed Jinja environment that keeps the types of what its templates come to."""

from __future__ import annotations

import functools
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any

from jinja2 import nodes
from jinja2.nativetypes import NativeCodeGenerator
from jinja2.sandbox import ImmutableSandboxedEnvironment

from relight.core.language.filters import FILTERS
from relight.core.language.jinja_tests import TESTS
from relight.core.language.lazy import plain
from relight.core.language.missing import Missing, require


class _KeepTypes(NativeCodeGenerator):
    """Emits every expression by itself, so that `{{ 5 }}` yields 5 and not the text 5."""

    def _output_child_to_const(self, node: nodes.Expr, frame: Any, finalize: Any) -> Any:
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)


def native_concat(pieces: Iterable[Any]) -> Any:
    """Return a single piece as it is, several as text; None vanishes, as in Ansible."""
    parts = [require(piece) for piece in pieces if piece is not None]
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    return "".join([part if type(part) is str else spelt(part) for part in parts])


def spelt(value: Any) -> str:
    """Return a value as it reads inside of a text; a range stays one, as in Ansible."""
    return str(value) if isinstance(value, range) else str(plain(value))


_ONE_BY_ONE = (Iterator, ItemsView, KeysView, ValuesView, range)


def _listed(value: Any) -> Any:
    """Return what comes one by one as a list, as in Ansible: it has a length and can be added."""
    return list(value) if isinstance(value, _ONE_BY_ONE) else value


def _listing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def filtered(*args: Any, **options: Any) -> Any:
        return _listed(function(*args, **options))

    return filtered


class NativeSandbox(ImmutableSandboxedEnvironment):
    """Jinja for values: sandboxed, strict, with native types."""

    code_generator_class = _KeepTypes
    concat = staticmethod(native_concat)

    def call(self, *args: Any, **options: Any) -> Any:
        """Call a function or method of a template; what it returns one by one comes as a list."""
        result = super().call(*args, **options)
        return result if isinstance(result, range) else _listed(result)


def native_environment(finalize: Callable[[Any], Any] | None = None, **options: Any) -> Any:
    """Return a new environment with relight's filters and tests; `options` are Jinja's own."""
    environment = NativeSandbox(undefined=Missing, finalize=finalize, **options)
    own = {name: _listing(function) for name, function in environment.filters.items()}
    environment.filters.update({**own, **FILTERS})
    environment.tests.update(TESTS)
    environment.globals.pop("lipsum", None)
    return environment
