"""What a template sees for a name that does not exist: strict when used, harmless when asked."""

from __future__ import annotations

from typing import Any, NoReturn

from jinja2 import StrictUndefined
from jinja2.exceptions import UndefinedError


class UndefinedName(UndefinedError):
    """A template used something that does not exist; `name` is the variable or attribute."""

    def __init__(self, message: str | None = None, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class Missing(StrictUndefined):
    """An undefined value; what is looked up in it is undefined too, so that `| default` works."""

    __slots__ = ()

    def _fail_with_undefined_error(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise UndefinedName(self._undefined_message, str(self._undefined_name or ""))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    __iter__ = __str__ = __len__ = _fail_with_undefined_error
    __eq__ = __ne__ = __bool__ = __hash__ = _fail_with_undefined_error
    __contains__ = __add__ = __radd__ = __sub__ = __rsub__ = _fail_with_undefined_error
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _fail_with_undefined_error
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _fail_with_undefined_error
    __pos__ = __neg__ = __call__ = __lt__ = __le__ = _fail_with_undefined_error
    __gt__ = __ge__ = __int__ = __float__ = __complex__ = _fail_with_undefined_error
    __pow__ = __rpow__ = _fail_with_undefined_error


def require(value: Any) -> Any:
    """Return the value, or raise `UndefinedName` when it is undefined."""
    if isinstance(value, Missing):
        value._fail_with_undefined_error()  # noqa: SLF001  jinja names its own hook so
    return value
