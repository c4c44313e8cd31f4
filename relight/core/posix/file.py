"""The script of the module `file`: folders, links, empty files, attributes, and their end."""

from __future__ import annotations

from dataclasses import dataclass

from relight.core.posix.answers import SAY
from relight.core.posix.install import expanded_home
from relight.core.posix.words import assigned


@dataclass(frozen=True)
class FilePlan:
    """What a path should be; `state` "" keeps what it is."""

    path: str
    state: str = ""
    src: str = ""
    mode: str = ""
    owner: str = ""
    group: str = ""
    recurse: bool = False
    force: bool = False
    follow: bool = True
    mtime: str = ""
    """`now`, a time for `touch -t`, or "" to keep it; `atime` likewise."""
    atime: str = ""
    check: bool = False


_ATTRIBUTES = r"""
changed=no
bad() {
  say error "$1"
  if test -e "$path"; then look "$path"; fi
  exit 0
}
numeric() { case $1 in *[!0-9]*) return 1 ;; *) return 0 ;; esac; }
uid() { if numeric "$1"; then echo "$1"; else id -u -- "$1" 2>/dev/null; fi; }
gid() { if numeric "$1"; then echo "$1"; else getent group "$1" | cut -d: -f3; fi; }
user='' team=''
if test -n "$owner"; then
  user=$(uid "$owner"); test -n "$user" || bad "chown failed: failed to look up user $owner"
fi
if test -n "$group"; then
  team=$(gid "$group"); test -n "$team" || bad "chgrp failed: failed to look up group $group"
fi
attributes() {
  test -z "$user" || test "$user" = "$(stat -c %u -- "$1")" || {
    changed=yes
    test -n "$check" || chown -h -- "$user" "$1" || bad "chown failed: $1"
  }
  test -z "$team" || test "$team" = "$(stat -c %g -- "$1")" || {
    changed=yes
    test -n "$check" || chgrp -h -- "$team" "$1" || bad "chgrp failed: $1"
  }
  if test -n "$mode" && test ! -L "$1"; then
    probe=$1
    if test -n "$check"; then
      if test -d "$1"; then probe=$(mktemp -d); else probe=$(mktemp); fi
      chmod --reference="$1" -- "$probe"
    fi
    before=$(stat -c %a -- "$probe")
    chmod -- "$mode" "$probe" 2>/dev/null || {
      say details "bad symbolic permission for mode: $mode"
      bad "mode must be in octal or symbolic form"
    }
    case $mode in *[!0-7]*) ;; *) test ! -d "$probe" || chmod -- "0$mode" "$probe" ;; esac
    after=$(stat -c %a -- "$probe")
    test "$before" = "$after" || { changed=yes; say had "$before"; say mode "$after"; }
    test "$probe" = "$1" || rm -rf -- "$probe"
  fi
}
stamps() {
  if test "$mtime$atime" = nownow; then
    changed=yes
    test -n "$check" || touch -- "$1" || bad "Error while updating modification or access time: $1"
    return
  fi
  one -m %.9Y "$mtime" "$1"
  one -a %.9X "$atime" "$1"
}
one() {
  test -n "$3" || return 0
  like=$(mktemp)
  test "$3" = now || touch -t "$3" -- "$like" 2>/dev/null || {
    rm -f -- "$like"; bad "Error while obtaining timestamp for time $3"
  }
  if test "$3" = now || test "$(stat -c "$2" -- "$like")" != "$(stat -c "$2" -- "$4")"; then
    changed=yes
    test -n "$check" || touch -c "$1" -r "$like" -- "$4"
  fi
  rm -f -- "$like"
}
now() {
  if test -L "$1"; then echo link; elif test -d "$1"; then echo directory
  elif test -e "$1"; then
    if test "$(stat -c %h -- "$1")" -gt 1; then echo hard; else echo file; fi
  else echo absent; fi
}
"""

_BODY = r"""
was=$(now "$path")
if test -z "$state"; then
  state='file'
  test "$was" = absent || state=$was
  test "$was" != absent || test -z "$recurse" || state=directory
fi
say state "$state"
say path "$path"
say was "$was"
test -z "$recurse" || test "$state" = directory ||
  bad "recurse option requires state to be 'directory'"
case $state in
link|hard) ;;
*) test -z "$src" || bad "src option requires state to be 'link' or 'hard'" ;;
esac
real=$path
test "$was" != link || test -z "$follow" || test ! -e "$path" || real=$(readlink -f -- "$path")
case $state in
file|directory) path=$real; was=$(now "$path"); say path "$path"; say was "$was" ;;
esac
case $state in
absent)
  test "$was" = absent || {
    changed=yes
    test -n "$check" || rm -rf -- "$path" || bad "rm failed: $path"
  }
  say changed "$changed"
  test ! -e "$path" || look "$path"
  exit 0 ;;
file)
  case $was in file|hard) ;; *) bad "file ($path) is $was, cannot continue" ;; esac
  attributes "$path"; stamps "$path" ;;
directory)
  case $was in
  absent)
    changed=yes
    if test -z "$check"; then
      ahead='' rest=$path
      while test ! -e "$rest" && test ! -L "$rest"; do
        ahead="$rest
$ahead"
        rest=$(dirname -- "$rest")
      done
      old=$IFS; IFS='
'
      for one in $ahead; do
        IFS=$old
        mkdir -- "$one" 2>/dev/null || test -d "$one" ||
          bad "There was an issue creating $one as requested"
        attributes "$one"
        IFS='
'
      done
      IFS=$old
      changed=yes
    fi ;;
  directory)
    attributes "$path"; stamps "$path"
    if test -n "$recurse"; then
      list() { find "$path" -exec stat -c '%u %g %a %n' -- {} +; }
      before=$(list)
      if test -z "$check"; then
        test -z "$user" || chown -hR -- "$user" "$path"
        test -z "$team" || chgrp -hR -- "$team" "$path"
        test -z "$mode" || chmod -R -- "$mode" "$path"
        test "$before" = "$(list)" || changed=yes
      fi
    fi ;;
  *) bad "$path already exists as a $was" ;;
  esac ;;
touch)
  if test "$was" = absent; then
    changed=yes
    test -n "$check" || : 2>/dev/null > "$path" || bad "Error, could not touch target."
  fi
  test ! -e "$path" || { attributes "$real"; stamps "$real"; } ;;
link|hard)
  if test -z "$src" && test "$was" = link && test "$state" = link; then
    src=$(readlink -- "$path")
    force=yes
  fi
  test -n "$src" || test "$was$state" = hardhard || {
    test "$state" = hard || bad "src is required for creating new symlinks"
    bad "src is required for creating new hardlinks"
  }
  if test -d "$path" && test ! -L "$path" && test "$state" = link; then
    test -n "$force" || bad "refusing to convert from directory to symlink for $path"
    rmdir -- "$path" 2>/dev/null || test -n "$check" ||
      bad "the directory $path is not empty, refusing to convert it"
    was=absent
  fi
  from=$src
  case $src in /*) ;; *) test "$state" = hard || from=$(dirname -- "$path")/$src ;; esac
  if test -n "$src" && test ! -e "$from" && { test -z "$force" || test "$state" = hard; }; then
    test "$state" = hard && bad "src does not exist"
    bad "src file does not exist, use 'force=yes' if you really want to create the link: $from"
  fi
  done=
  if test "$state" = link; then
    test "$was" != link || test "$(readlink -- "$path")" != "$src" || done=yes
    case $was in
    file|hard) test -n "$force" || bad "refusing to convert from $was to symlink for $path" ;;
    esac
  else
    case $was in
    hard|directory)
      test -n "$src" || done=yes
      test "$path" -ef "$src" && done=yes
      test -n "$done$force" || bad "Cannot link, different hard link exists at destination" ;;
    file) test -n "$force" || bad "Cannot link, file exists at destination" ;;
    esac
  fi
  if test -z "$done"; then
    changed=yes
    if test -z "$check"; then
      temp=$(dirname -- "$path")/.relight.$$.link
      rm -f -- "$temp"
      if test "$state" = link; then ln -s -- "$src" "$temp"; else ln -- "$src" "$temp"; fi ||
        bad "Error while linking $path"
      mv -fT -- "$temp" "$path" || bad "Error while replacing $path"
      rm -f -- "$temp"
    fi
  fi
  real=$path
  test ! -L "$path" || test -z "$follow" || test ! -e "$path" || real=$(readlink -f -- "$path")
  say src "$src"
  if test -L "$real" || test -e "$real"; then attributes "$real"; stamps "$real"; fi ;;
esac
say changed "$changed"
if test -e "$path"; then look "$path"; fi
"""


def script(plan: FilePlan) -> str:
    """Return the script."""
    flags = {
        "recurse": plan.recurse,
        "force": plan.force,
        "follow": plan.follow,
        "check": plan.check,
    }
    texts = {
        "state": plan.state, "mode": plan.mode, "owner": plan.owner, "group": plan.group,
        "mtime": plan.mtime, "atime": plan.atime,
    }  # fmt: skip
    lines = [f"{name}={'yes' if on else ''}" for name, on in flags.items()]
    lines += [assigned(name, text) for name, text in texts.items()]
    path = plan.path.rstrip("/") or "/"
    lines += [f"path={expanded_home(path)}", f"src={expanded_home(plan.src)}"]
    return SAY + "\n".join(lines) + _ATTRIBUTES + _BODY
