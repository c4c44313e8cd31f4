"""Templates that include others: their names are looked up one by one, never all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import Template
from jinja2.runtime import Context
from jinja2.utils import missing


class Layers(Mapping[str, Any]):
    """Mappings over each other, the first one wins; nothing is looked up before it is asked for.

    A variable of a playbook is rendered when it is looked up, and may not be fit to be.
    """

    def __init__(self, *layers: Mapping[str, Any]) -> None:
        self._layers = layers

    def __getitem__(self, name: str) -> Any:
        for layer in self._layers:
            if name in layer:
                return layer[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(name in layer for layer in self._layers)

    def __iter__(self) -> Iterator[str]:
        return iter({name for layer in self._layers for name in layer})

    def __len__(self) -> int:
        return len({name for layer in self._layers for name in layer})


class LayeredContext(Context):
    """Jinja's context, which hands its names on to an included template as layers."""

    def get_all(self) -> Any:
        """Return all names, the template's own over those around it."""
        return Layers(self.vars, self.parent)


class LayeredTemplate(Template):
    """Jinja's template, whose context is made of layers."""

    def new_context(
        self,
        vars: Any = None,  # noqa: A002  jinja's argument
        shared: bool = False,  # noqa: ARG002, FBT001, FBT002  jinja's argument
        locals: Any = None,  # noqa: A002  jinja's argument
    ) -> Context:
        """Return the context of an included template."""
        own = {name: value for name, value in (locals or {}).items() if value is not missing}
        layers: Any = Layers(own, vars or {}, self.globals)
        return self.environment.context_class(
            self.environment, layers, self.name, self.blocks, globals=self.globals
        )
