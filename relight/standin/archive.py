"""The stand-in as one file that a bare python3 on a host can run, also under SGLang's own names.

Put on PYTHONPATH it is what an installed SGLang is to a deploy tool: `python3 -m
sglang.launch_server`, and a version in the package's metadata. Run as a file it is the command.
"""

from __future__ import annotations

import importlib.resources
import io
import zipfile
from collections.abc import Iterator
from importlib.resources.abc import Traversable

from relight.standin.profiles import DEFAULT_VERSION, PROFILES

_EPOCH = (1980, 1, 1, 0, 0, 0)
_ENTRY = '''"""The stand-in engine's entry."""
from relight.standin.command import main
raise SystemExit(main())
'''

_SERVER = '''"""Starts the stand-in engine under the name by which SGLang is started."""
import os
os.environ.setdefault("RELIGHT_STANDIN_SGLANG_VERSION", "{version}")
from relight.standin.command import main
if __name__ == "__main__":
    raise SystemExit(main())
'''
_ARGUMENTS = '''"""The stand-in's arguments where SGLang has its own."""
import os
os.environ.setdefault("RELIGHT_STANDIN_SGLANG_VERSION", "{version}")
from relight.standin.server_args import ServerArgs, prepare_server_args
'''
_METADATA = """Metadata-Version: 2.1
Name: sglang
Version: {version}
Summary: relight's stand-in for SGLang {version}: a rehearsal, not an engine
"""


def _sources(folder: Traversable, below: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry, f"{below}/{entry.name}")
        elif entry.name.endswith((".py", ".txt")):
            yield f"{below}/{entry.name}", entry.read_bytes()


def build(version: str = DEFAULT_VERSION) -> bytes:
    """The zip file's bytes for one version of SGLang.

    The same sources give the same bytes, wherever relight is installed. Raises ValueError for a
    version that the stand-in has no profile of.
    """
    if version not in PROFILES:
        raise ValueError(f"the stand-in plays SGLang {', '.join(PROFILES)}, not {version}")
    files = dict(_sources(importlib.resources.files("relight.standin"), "relight/standin"))
    del files["relight/standin/archive.py"]
    files["relight/__init__.py"] = b""
    files["__main__.py"] = _ENTRY.encode()
    files["sglang/__init__.py"] = f'__version__ = "{version}"\n'.encode()
    files["sglang/launch_server.py"] = _SERVER.format(version=version).encode()
    files["sglang/srt/__init__.py"] = b""
    files["sglang/srt/server_args.py"] = _ARGUMENTS.format(version=version).encode()
    files[f"sglang-{version}.dist-info/METADATA"] = _METADATA.format(version=version).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, data)
    return b"#!/usr/bin/env python3\n" + packed.getvalue()
