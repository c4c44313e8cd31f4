"""The script that waits on a host for a port or a path: it looks there, in one round trip."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from relight.core.posix.answers import SAY
from relight.core.posix.install import expanded_home


@dataclass(frozen=True)
class Wait:
    """What is waited for: a port of a host, or a path; `here` or gone; seconds."""

    timeout: float
    pause: float = 1.0
    port: int | None = None
    host: str = "127.0.0.1"
    path: str = ""
    here: bool = True
    drained: bool = False


_BODY = r"""
local_port() {
  hex=$(printf ':%04X' "$port")
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r _ own _ state _; do
    case $own in *"$hex") ;; *) continue ;; esac
    case $state in
    0A) test -n "$drained" || { echo yes; break; } ;;
    01|02|03|08) test -z "$drained" || { echo yes; break; } ;;
    esac
  done
}
there() {
  if test -n "$path"; then test -e "$path" || test -L "$path"; return; fi
  case $host in
  127.*|localhost|::1|0.0.0.0) test -n "$(local_port)" ;;
  *)
    if command -v nc >/dev/null; then nc -z -w 5 "$host" "$port" >/dev/null 2>&1
    elif command -v bash >/dev/null; then
      timeout 5 bash -c ': 2>/dev/null > "/dev/tcp/$1/$2"' bash "$host" "$port" 2>/dev/null
    else bad "the host has neither nc nor bash to try a port of another host"
    fi ;;
  esac
}
begun=$(date +%s)
while :; do
  if there; then test -z "$here" || { say met yes; break; }
  else test -n "$here" || { say met yes; break; }
  fi
  test $(( $(date +%s) - begun )) -lt "$limit" || { say met no; break; }
  sleep "$pause"
done
say elapsed $(( $(date +%s) - begun ))
if test -n "$path" && test -e "$path"; then look "$path"; fi
"""


def script(wait: Wait) -> str:
    """Return the script."""
    lines = [
        f"port={'' if wait.port is None else wait.port}", f"host={shlex.quote(wait.host)}",
        f"here={'yes' if wait.here else ''}", f"drained={'yes' if wait.drained else ''}",
        f"limit={int(wait.timeout)}", f"pause={wait.pause:g}", f"path={expanded_home(wait.path)}",
    ]  # fmt: skip
    return SAY + "\n".join(lines) + _BODY
