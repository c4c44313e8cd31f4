"""The script of the module `stat`, and what it says under Ansible's names."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Mapping
from typing import Any

from relight.core.posix.answers import SAY
from relight.core.posix.install import expanded_home

_BODY = r"""
if test ! -e "$path" && { test -n "$follow" || test ! -L "$path"; }; then say exists no; exit 0; fi
link='' r=no w=no x=no
test -z "$follow" || link=-L
test ! -r "$path" || r=yes
test ! -w "$path" || w=yes
test ! -x "$path" || x=yes
found=$(stat $link -c '%f %u %g %s %i %d %h %.9X %.9Y %.9Z %b %o %t %T %U %G' -- "$path")
printf 'exists yes\nstat %s\naccess %s\n' "$found" "$r $w $x"
if test -L "$path" && test -z "$follow"; then
  say link "$(readlink -- "$path")"
  say source "$(readlink -f -- "$path")"
fi
if test -n "$sum" && test -f "$path" && { test -n "$follow" || test ! -L "$path"; }; then
  say checksum "$("${sum}sum" -- "$path" 2>/dev/null | sed 's/^\\//' | cut -d' ' -f1)"
fi
if test -n "$mime" && command -v file >/dev/null; then
  say mime "$(file -b --mime-type --mime-encoding -- "$path")"
fi
if test -n "$flags" && command -v lsattr >/dev/null; then
  say flags "$(lsattr -vd -- "$path" 2>/dev/null | tr -s ' ' | sed 's/^ //' | cut -d' ' -f1,2)"
fi
"""

_FLAGS = {
    "A": "noatime", "a": "append", "c": "compressed", "C": "nocow", "d": "nodump",
    "D": "dirsync", "e": "extents", "E": "encrypted", "h": "blocksize", "i": "immutable",
    "I": "indexed", "j": "journalled", "N": "inline", "s": "zero", "S": "synchronous",
    "t": "notail", "T": "blockroot", "u": "undelete", "X": "compressedraw", "Z": "compresseddirty",
}  # fmt: skip


def script(path: str, *, follow: bool, checksum: str, mime: bool, flags: bool) -> str:
    """Return the script; `checksum` names the algorithm, or nothing."""
    lines = [
        f"path={expanded_home(path)}", f"follow={'yes' if follow else ''}",
        f"sum={shlex.quote(checksum)}", f"mime={'yes' if mime else ''}",
        f"flags={'yes' if flags else ''}",
    ]  # fmt: skip
    return SAY + "\n".join(lines) + _BODY


def values(said: Mapping[str, str], path: str, *, mime: bool, flags: bool) -> dict[str, Any]:
    """Return what Ansible calls `stat`."""
    if said.get("exists") != "yes":
        return {"exists": False}
    parts = said["stat"].split(" ", 15)
    raw = int(parts[0], 16)
    readable, writeable, executable = (word == "yes" for word in said["access"].split())
    found: dict[str, Any] = {
        "exists": True, "path": path, "mode": f"{stat.S_IMODE(raw):04o}", **_kinds(raw),
        "uid": int(parts[1]), "gid": int(parts[2]), "size": int(parts[3]),
        "inode": int(parts[4]), "dev": int(parts[5]), "nlink": int(parts[6]),
        "atime": float(parts[7]), "mtime": float(parts[8]), "ctime": float(parts[9]),
        **_bits(raw), "blocks": int(parts[10]), "block_size": int(parts[11]),
        "device_type": (int(parts[12], 16) << 8) | int(parts[13], 16),
        "readable": readable, "writeable": writeable, "executable": executable,
        "pw_name": parts[14], "gr_name": parts[15],
    }  # fmt: skip
    if "link" in said:
        found |= {"lnk_target": said["link"], "lnk_source": said["source"]}
    if "checksum" in said:
        found["checksum"] = said["checksum"]
    if mime:
        kind, charset, encoding = said.get("mime", "").partition("; charset=")
        known = (kind, encoding) if charset else ("unknown", "unknown")
        found |= dict(zip(("mimetype", "charset"), known, strict=True))
    if flags:
        found |= _attributes(said.get("flags", ""))
    return found


def _kinds(raw: int) -> dict[str, bool]:
    return {
        "isdir": stat.S_ISDIR(raw), "ischr": stat.S_ISCHR(raw), "isblk": stat.S_ISBLK(raw),
        "isreg": stat.S_ISREG(raw), "isfifo": stat.S_ISFIFO(raw), "islnk": stat.S_ISLNK(raw),
        "issock": stat.S_ISSOCK(raw),
    }  # fmt: skip


def _bits(raw: int) -> dict[str, bool]:
    names = ("wusr", "rusr", "xusr", "wgrp", "rgrp", "xgrp", "woth", "roth", "xoth")
    masks = (0o200, 0o400, 0o100, 0o020, 0o040, 0o010, 0o002, 0o004, 0o001)
    bits = {name: bool(raw & mask) for name, mask in zip(names, masks, strict=True)}
    return {**bits, "isuid": bool(raw & stat.S_ISUID), "isgid": bool(raw & stat.S_ISGID)}


def _attributes(said: str) -> dict[str, Any]:
    version, _, flags = said.partition(" ")
    flags = flags.replace("-", "").strip()
    found = {"version": version} if version else {}
    return {**found, "attributes": [_FLAGS[f] for f in flags if f in _FLAGS], "attr_flags": flags}
