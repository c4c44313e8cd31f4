"""The sh text that a connection sends: its opening line, steps, commands, the end of a session."""

from __future__ import annotations

import base64
import re
import secrets
import shlex

from relight.errors import HostError

# `read` takes single bytes, so whatever follows that line on stdin is still there for the command.
_READER = 'relight_n="\n"; IFS= read -r relight_line; eval "$relight_line"'
OPEN = f"exec /bin/sh -c '{_READER}'"
"""What the login shell, whichever it is, is asked to run: read one line and run it."""

MOST_CARRIED = 15 << 10
"""Bytes of text that `carrying` may be given; it makes eight of one at most, and Linux limits one
argument to 128 KiB."""

_READABLE = re.compile(rb"[\n\x20-\x7e]*")
_SPELT = {'"': '\\"', "$": "\\$", "`": "\\`", "\n": "${relight_n}", "'": "'\"'\"'"}
_SPELT_BACKSLASH = "'\"\\\\\\\\\"'"
"""How a character stands between double quotes in single ones: outside of these for the two that
some login shell reads there, and a newline by its name. In text without a backslash of its own,
and in this order, no mark is taken for one that another's spelling put there."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def mark() -> str:
    """Return a word that no output contains by chance: 32 hexadecimal digits, ever fresh."""
    return secrets.token_hex(16)


def payload(host: str, text: str) -> bytes:
    """Return sh text as bytes; raises HostError for what no shell can be told (NUL, surrogates)."""
    try:
        encoded = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise HostError(host, "a command holds a byte that a shell cannot read", "remove it")
    return encoded


def become(user: str) -> str:
    """Return the line that turns the reading shell into one of `user`, through sudo if need be."""
    return (
        f'if test "$(id -un)" = {_word(user)}; '
        'then IFS= read -r relight_line; eval "$relight_line"; '
        f"else exec sudo -n -H -u {_word(user)} -- /bin/sh -c {_word(_READER)}; fi\n"
    )


def carrying(text: bytes) -> str:
    """Return an opening like OPEN that has its text with it, which saves a round trip.

    sshd takes no input before the command runs. The text stands in an argv for a while: secrets
    go through stdin, as data or as environment. Undoing octal costs the host a process, and is
    for the text that has other characters than printable ones.
    """
    if _READABLE.fullmatch(text):
        parts = text.decode("ascii").rstrip("\n").split("\\")
        for mark, spelt in _SPELT.items():
            parts = [part.replace(mark, spelt) for part in parts]
        shown = _SPELT_BACKSLASH.join(parts)
    else:
        octal = "".join(f"\\0{byte:03o}" for byte in text)
        shown = f'$(printf %b "{octal}")'
    return f'exec /bin/sh -c \'relight_n="\n"; eval "{shown}"\''


def resident(begin: str) -> str:
    """Return the opening line of a shell that stays and reads steps."""
    return f"{_hello(begin)}; exec /bin/sh\n"


def resident_after(begin: str, first: str) -> str:
    """Return the text, for `carrying`, of a shell that does its first step and then stays."""
    return f"{_hello(begin)}\n{first}exec /bin/sh\n"


def step(script: str, data: bytes, bound: str) -> str:
    """Return one step for a resident shell: both streams come framed by the word `bound`.

    The script runs in a subshell, so that `exit`, `cd` and a syntax error end with it.
    """
    run = f"( eval {shlex.quote(script)} )"
    if data:
        # printf is a builtin and base64 is plain text: no argv shows the data, no byte is lost.
        text = base64.b64encode(data).decode()
        run = f"printf %s {text} 2>/dev/null | base64 -d 2>/dev/null | {run}"
    else:
        run = f"{run} </dev/null"
    return (
        f"printf %s {bound}; printf %s {bound} >&2; {run}; "
        f"printf '%s %s\\n' {bound} \"$?\"; printf '%s\\n' {bound} >&2\n"
    )


def command(host: str, text: str, begin: str, environment: dict[str, str], *, fed: bool) -> str:
    """Return the opening line of a command with a channel of its own.

    A command that is `fed` owns stdin. Any other gets /dev/null, and a guard watches stdin in its
    place: when the connection ends, however it ends, the guard kills the command's process group.
    Raises HostError for a name that is no variable of the environment.
    """
    parts = [_hello(begin)]
    for name, value in environment.items():
        if not _NAME.fullmatch(name):
            raise HostError(host, f"{name!r} cannot name an environment variable")
        parts.append(f"export {name}={_word(value)}")
    if fed:
        parts.append(f"eval {_word(text)}")
    else:
        # A background list reads /dev/null unless its stdin is another descriptor.
        parts.append("exec 3<&0 </dev/null")
        parts.append(
            "{ while read -r relight_z; do :; done; kill -s KILL 0; } <&3 >/dev/null 2>&1 & "
            f"exec 3<&-; ( eval {_word(text)} ); relight_s=$?"
        )
        parts.append("{ kill -s KILL $!; wait $!; } 2>/dev/null; exit $relight_s")
    return "; ".join(parts) + "\n"


def end_session(session: int) -> str:
    """Return the script that kills every process of a session and waits until all are gone.

    Processes that were detached with setsid have left the session, and live on.
    """
    return f"""
relight_round=0
while test $relight_round -lt 100; do
    relight_found=
    for relight_stat in /proc/[0-9]*/stat; do
        {{ read -r relight_text <"$relight_stat"; }} 2>/dev/null || continue
        set -- ${{relight_text##*) }}
        test "$4" = {session} || continue
        test "$1" = Z && continue
        relight_pid=${{relight_stat#/proc/}}
        kill -s KILL "${{relight_pid%/stat}}" 2>/dev/null
        relight_found=yes
    done
    test -z "$relight_found" && exit 0
    sleep 0.05
    relight_round=$((relight_round + 1))
done
exit 1
"""


def _hello(begin: str) -> str:
    # The sixth field of stat is the session, which sudo may have made anew.
    return (
        "unset relight_line; read -r relight_a relight_a relight_a relight_a relight_a relight_s "
        f"relight_a </proc/$$/stat; printf '%s %s\\n' {begin} \"$relight_s\"; "
        f"printf %s {begin} >&2"
    )


def _word(text: str) -> str:
    """Return text as one word on one line; `$relight_n` holds a newline in the reading shell."""
    parts = ("'" + part.replace("'", "'\\''") + "'" for part in text.split("\n"))
    return '"$relight_n"'.join(parts)
