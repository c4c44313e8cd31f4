"""Folders that take minutes to make and are made once: beside the checkout, whole or not at all."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path


def cache() -> Path:
    """Return the folder that outlives a checkout: RELIGHT_CACHE, else ~/.cache/relight."""
    return Path(os.environ.get("RELIGHT_CACHE") or Path.home() / ".cache" / "relight").absolute()


def key(*parts: str | bytes) -> str:
    """Return 12 hexadecimal digits that change when any part, or the number of parts, changes."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:12]


def contents(folder: Path, pattern: str = "*") -> Iterable[bytes]:
    """Yield name and bytes of every file under `folder` in a fixed order, as parts for `key`."""
    for path in sorted(folder.rglob(pattern)):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix().encode()
            yield path.read_bytes()


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold an exclusive lock on the file `lock`; it is free again when its holder dies."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def made_once(place: Path, build: Callable[[Path], None]) -> Path:
    """Return `place`, built by `build(folder)` in a folder beside it and renamed when complete.

    Of two callers one builds while the other waits. A place that exists is complete; what a killed
    builder left is removed by the next one. Whatever `build` raises is raised.
    """
    if place.exists():
        return place
    with alone(place.with_name(place.name + ".lock")):
        if place.exists():
            return place
        for left in place.parent.glob(f"{place.name}.building-*"):
            shutil.rmtree(left)
        aside = Path(tempfile.mkdtemp(prefix=f"{place.name}.building-", dir=place.parent))
        aside.chmod(0o755)
        try:
            build(aside)
            aside.rename(place)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
    return place
