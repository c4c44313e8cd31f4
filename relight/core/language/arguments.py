"""The base of the arguments of modules that have a namesake in Ansible."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict

from relight.core.model import Frozen


class Arguments(Frozen):
    """Arguments as lenient as Ansible's: a number is taken for text where text is wanted."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


def _octal(value: Any) -> Any:
    """Return a mode as text: `0644` in YAML is the number 420."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:04o}"
    return value


Mode = Annotated[str, BeforeValidator(_octal)]
"""The mode of a file: octal (`"0644"`) or symbolic (`u=rw,g=r`)."""
