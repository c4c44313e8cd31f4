"""The stand-in as one file: a zipapp that a bare python3 on a host can run."""

from __future__ import annotations

import importlib.resources
import io
import zipfile
from collections.abc import Iterator
from importlib.resources.abc import Traversable

_EPOCH = (1980, 1, 1, 0, 0, 0)
_ENTRY = '''"""The stand-in engine's entry."""
from relight.standin.command import main
raise SystemExit(main())
'''


def _sources(folder: Traversable, below: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry, f"{below}/{entry.name}")
        elif entry.name.endswith((".py", ".txt")):
            yield f"{below}/{entry.name}", entry.read_bytes()


def build() -> bytes:
    """The zipapp's bytes: the same sources give the same bytes, wherever relight is installed."""
    files = dict(_sources(importlib.resources.files("relight.standin"), "relight/standin"))
    del files["relight/standin/archive.py"]
    files["relight/__init__.py"] = b""
    files["__main__.py"] = _ENTRY.encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, data)
    return b"#!/usr/bin/env python3\n" + packed.getvalue()
