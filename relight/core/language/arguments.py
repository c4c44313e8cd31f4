"""The base of the arguments of modules that have a namesake in Ansible."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, ValidationInfo, field_validator

from relight.core.model import Frozen


class Arguments(Frozen):
    """Arguments as lenient as Ansible's: numbers and booleans do where text is wanted."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    @field_validator("*", mode="before")
    @classmethod
    def _as_text(cls, value: Any, info: ValidationInfo) -> Any:
        wanted = cls.model_fields[info.field_name or ""].annotation
        if wanted in (str, _MAYBE_TEXT) and isinstance(value, bool):
            return str(value)
        if wanted in (_TEXTS, _MAYBE_TEXTS) and isinstance(value, list | tuple):
            return [str(item) if isinstance(item, bool) else item for item in value]
        return value


_MAYBE_TEXT = str | None
_TEXTS = tuple[str, ...]
_MAYBE_TEXTS = tuple[str, ...] | None


def _octal(value: Any) -> Any:
    """Return a mode as text: `0644` in YAML is the number 420."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:04o}"
    return value


Mode = Annotated[str, BeforeValidator(_octal)]
"""The mode of a file: octal (`"0644"`) or symbolic (`u=rw,g=r`)."""
