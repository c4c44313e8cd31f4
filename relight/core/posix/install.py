"""The script that puts one file in its place: with mode and owner, only when it differs."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from relight.core.posix.answers import SAY
from relight.core.posix.words import expanded


@dataclass(frozen=True)
class Install:
    """Where a file goes, and how.

    `name` is its name when `dest` is a folder; `remote` is its source on the host, in place of the
    script's stdin; an empty `mode` keeps what is there.
    """

    dest: str
    name: str = ""
    mode: str = ""
    owner: str = ""
    group: str = ""
    backup: bool = False
    force: bool = True
    validate: str = ""
    remote: str = ""
    follow: bool = False
    """Whether a link at `dest` stays, and what it leads to is written."""
    folders: str = ""
    """The mode of folders that are made on the way; empty leaves it to the umask."""
    check: bool = False
    diff: bool = False


_BODY = r"""
made() {
  test ! -d "$1" || return 0
  made "$(dirname -- "$1")"
  mkdir -- "$1" && { test -z "$folders" || chmod -- "$folders" "$1"; }
}
case $dest in */) test -d "$dest" || test -n "$check" || made "$dest" ;; esac
if test -d "$dest"; then
  test -n "$name" || bad "can not use content with a dir as dest"
  dest=${dest%/}/$name
fi
test -z "$follow" || test ! -e "$dest" || dest=$(readlink -f -- "$dest")
say dest "$dest"
folder=$(dirname -- "$dest")
if test -n "$check" && test ! -d "$folder"; then
  say changed yes; say content yes; say unseen yes; exit 0
fi
test -d "$folder" || bad "Destination directory $folder does not exist"
existed=
test -e "$dest" && existed=yes
if test -n "$existed" && test -z "$force"; then
  say changed no; say kept yes; look "$dest"; exit 0
fi
if test -n "$remote"; then
  test -e "$remote" || bad "Source $remote not found"
  test -d "$remote" && bad "the source $remote is a folder: relight copies files only"
fi
if test -n "$check"; then temp=$(mktemp); else temp=$(mktemp -- "$folder/.relight.XXXXXX"); fi
test -n "$temp" || bad "Destination $folder not writable"
trap 'rm -f -- "$temp"' EXIT
if test -n "$remote"; then cat -- "$remote"; else cat; fi > "$temp" || bad "could not write $temp"
same=
test -n "$existed" && test ! -L "$dest" && cmp -s -- "$temp" "$dest" && same=yes
if test -n "$existed"; then
  chown --reference="$dest" -- "$temp" 2>/dev/null
  chmod --reference="$dest" -- "$temp"
else
  chmod -- "$(printf '%o' $((0666 & ~$(umask))))" "$temp"
fi
test -z "$owner" || chown -- "$owner" "$temp" 2>/dev/null || bad "chown failed: $owner"
test -z "$group" || chgrp -- "$group" "$temp" 2>/dev/null || bad "chgrp failed: $group"
test -z "$mode" || chmod -- "$mode" "$temp" || bad "mode must be in octal or symbolic form"
want=$(stat -c '%u %g %a' -- "$temp")
have=
test -z "$existed" || have=$(stat -L -c '%u %g %a' -- "$dest")
say mode "${want##* }"
test -z "$have" || say had "${have##* }"
say checksum "$(sha1sum < "$temp" | cut -d' ' -f1)"
say md5sum "$(md5sum < "$temp" | cut -d' ' -f1)"
if test -n "$diff" && test -n "$existed" && test -z "$same"; then
  say before "$(head -c 104448 -- "$dest" | base64 | tr -d '\n')"
fi
if test -n "$same" && test "$want" = "$have"; then
  say changed no; look "$dest"; exit 0
fi
say changed yes
if test -z "$same"; then
  say content yes
  @VALIDATE@
fi
if test -n "$check"; then test -z "$existed" || look "$dest"; exit 0; fi
if test -z "$same"; then
  if test -n "$backup" && test -n "$existed"; then
    copy="$dest.$$.$(date +%Y-%m-%d@%H:%M:%S)~"
    cp -p -- "$dest" "$copy" && say backup_file "$copy"
  fi
  mv -f -- "$temp" "$dest" || bad "could not write $dest"
else
  chown -- "$(stat -c '%u:%g' -- "$temp")" "$dest" 2>/dev/null
  chmod --reference="$temp" -- "$dest"
fi
look "$dest"
"""

_VALIDATE = """\
checked=$(@WORDS@ 2>&1) || {
  say output "$(printf %s "$checked" | base64 | tr -d '\\n')"; bad "failed to validate"
}"""


def script(plan: Install) -> str:
    """Return the script; the content is its stdin. Raises ValueError for a bad `validate`."""
    texts = {
        "name": plan.name, "mode": plan.mode, "owner": plan.owner, "group": plan.group,
        "folders": plan.folders,
    }  # fmt: skip
    flags = {
        "backup": plan.backup,
        "force": plan.force,
        "follow": plan.follow,
        "check": plan.check,
        "diff": plan.diff,
    }
    lines = [f"{name}={shlex.quote(text)}" for name, text in texts.items()]
    lines += [f"{name}={'yes' if on else ''}" for name, on in flags.items()]
    lines += [f"dest={expanded_home(plan.dest)}", f"remote={expanded_home(plan.remote)}"]
    return SAY + "\n".join(lines) + _BODY.replace("@VALIDATE@", _validate(plan.validate))


def expanded_home(path: str) -> str:
    """Return a path for sh in which a leading `~` acts and nothing else does."""
    if path.startswith("~"):
        head, slash, rest = path.partition("/")
        if head == "~" or head[1:].isalnum():
            return expanded(head) + (shlex.quote(slash + rest) if slash else "")
    return shlex.quote(path)


def _validate(command: str) -> str:
    if not command:
        return ":"
    if "%s" not in command:
        raise ValueError(f"validate must contain %s: {command}")
    words = [
        '"$temp"'.join(shlex.quote(part) if part else "" for part in word.split("%s"))
        if "%s" in word
        else shlex.quote(word)
        for word in shlex.split(command)
    ]
    return _VALIDATE.replace("@WORDS@", " ".join(words))
