"""Containers of a variable whose templates are rendered one by one, when they are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from relight.core.language.missing import require

Render = Callable[[Any], Any]


class Omit:
    """The value of `omit`: an argument or an entry that comes to it is left out."""

    def __repr__(self) -> str:
        return "<<omit>>"


OMIT: Final = Omit()


class LazyDict(dict[Any, Any]):
    """A mapping with templates in its values.

    A dict indeed, so that filters, `+` and JSON take it for one; each way to read a value
    renders it first. A value that is omitted is not there.
    """

    __slots__ = ("_raw", "_render")

    def __init__(self, raw: Mapping[Any, Any], render: Render) -> None:
        super().__init__(raw)
        self._render = render
        self._raw = set(raw)

    def _one(self, key: Any) -> None:
        if key in self._raw:
            self._raw.discard(key)
            try:
                value = self._render(super().__getitem__(key))
            except Exception:
                self._raw.add(key)
                raise
            if value is OMIT:
                super().__delitem__(key)
            else:
                super().__setitem__(key, value)

    def _all(self) -> LazyDict:
        for key in tuple(self._raw):
            self._one(key)
        return self

    def __getitem__(self, key: Any) -> Any:
        self._one(key)
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a value, rendered."""
        self._one(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[Any]:
        return super(LazyDict, self._all()).__iter__()

    def items(self) -> Any:
        """Return the items, all rendered."""
        return super(LazyDict, self._all()).items()

    def values(self) -> Any:
        """Return the values, all rendered."""
        return super(LazyDict, self._all()).values()

    def copy(self) -> dict[Any, Any]:
        """Return a plain copy, all rendered."""
        return dict(self.items())

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __eq__(self, other: object) -> bool:
        return super(LazyDict, self._all()).__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return repr(plain(self))


class LazyList(list[Any]):
    """A list with templates in its items: the first look renders all of them."""

    __slots__ = ("_render",)

    def __init__(self, raw: list[Any], render: Render) -> None:
        super().__init__(raw)
        self._render: Render | None = render

    def _all(self) -> LazyList:
        render, self._render = self._render, None
        if render is not None:
            try:
                rendered = [render(item) for item in super().__iter__()]
            except Exception:
                self._render = render
                raise
            super().__setitem__(slice(None), [item for item in rendered if item is not OMIT])
        return self

    def __getitem__(self, index: Any) -> Any:
        return super(LazyList, self._all()).__getitem__(index)

    def __iter__(self) -> Iterator[Any]:
        return super(LazyList, self._all()).__iter__()

    def __reversed__(self) -> Iterator[Any]:
        return super(LazyList, self._all()).__reversed__()

    def __len__(self) -> int:
        return super(LazyList, self._all()).__len__()

    def __contains__(self, item: object) -> bool:
        return super(LazyList, self._all()).__contains__(item)

    def __add__(self, other: Any) -> Any:
        return list(self) + list(other)

    def __radd__(self, other: Any) -> Any:
        return list(other) + list(self)

    def __mul__(self, times: Any) -> Any:
        return list(self) * times

    def __eq__(self, other: object) -> bool:
        return super(LazyList, self._all()).__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def index(self, *args: Any) -> int:
        """Return where an item stands."""
        return super(LazyList, self._all()).index(*args)

    def count(self, item: Any) -> int:
        """Return how often an item stands here."""
        return super(LazyList, self._all()).count(item)

    def copy(self) -> list[Any]:
        """Return a plain copy, all rendered."""
        return list(self)

    def __repr__(self) -> str:
        return repr(plain(self))


def plain(value: Any) -> Any:
    """Return the value with plain containers and strings; raises `UndefinedName`."""
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items() if item is not OMIT}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value if item is not OMIT]
    if isinstance(value, range | Iterator):
        return [plain(item) for item in value]
    return require(value)
