"""Turns a launch command that somebody pasted into a preset's fields. Nothing of it is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from relight.core.build import PastedCommand
from relight.core.flags import FlagValue, Scalar
from relight.engines.sglang.arguments import is_secret
from relight.engines.sglang.names import canonical

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE", re.IGNORECASE)
_PROMPT = re.compile(r"^\s*(?:\([\w.-]+\)\s*)?(?:[\w.-]+@[\w.-]+[:\s][^$#\n]*)?[$#]\s+(?=\S)")
_NUMBER = re.compile(r"-?(?:\d+|\d*\.\d+|\d+\.\d*)(?:[eE][+-]?\d+)?")
_OPERATORS = frozenset({";", "&", "&&", "||", "|", "|&", "\n"})
_REDIRECTION = re.compile(r"&?[<>]+[&|]?")
# Programs that only run another one; with how many of their words are options' values.
_BEFORE = frozenset(
    {
        "nohup",
        "setsid",
        "env",
        "exec",
        "sudo",
        "time",
        "stdbuf",
        "nice",
        "ionice",
        "command",
        "numactl",
        "taskset",
        "timeout",
        "uv",
        "run",
        "poetry",
        "accelerate",
    }
)
_BOUND = {"model-path": "model", "served-model-name": "served_name", "port": "port"}


def import_command(text: str) -> PastedCommand:
    """Return the fields of the first SGLang launch in a pasted text.

    Understands quotes, continued lines, prompts, assignments and `export`, `nohup`, `setsid`,
    `env`, redirections, pipes and `&`. Raises ValueError when there is no such launch, or when the
    quotes do not close. Secrets' values are left out; variables of the shell stay as they are
    written and are noted.
    """
    statements = _statements(text)
    env: dict[str, str] = {}
    for statement in statements:
        words, assigned = _assignments(statement)
        launch = _launch(words)
        if launch is None:
            env.update(assigned if not words or words[0] == "export" else {})
            continue
        program, rest = launch
        return _fields(program, rest, {**env, **assigned})
    raise ValueError(
        "no launch of SGLang in this text: it holds neither `python -m sglang.launch_server` nor "
        "`sglang serve`"
    )


def _statements(text: str) -> list[list[str]]:
    joined = re.sub(r"\\[ \t]*\r?\n", " ", text)
    lines = [_PROMPT.sub("", line) for line in joined.splitlines()]
    lexer = shlex.shlex(" \n ".join(lines), posix=True, punctuation_chars=";&|<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        words = list(lexer)
    except ValueError as error:
        raise ValueError(f"the quotes of the command do not close: {error}") from None
    found: list[list[str]] = [[]]
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word in _OPERATORS or set(word) == {"\n"}:
            found.append([])
        elif _REDIRECTION.fullmatch(word):
            # `2>&1` comes as `2`, `>&`, `1`: the descriptor before it is no argument.
            if found[-1] and found[-1][-1] in {"1", "2"} and index:
                found[-1].pop()
            skip = True
        else:
            found[-1].append(word)
    return [statement for statement in found if statement]


def _assignments(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Split off variables before a command, also behind `env`, `nohup` and the like."""
    env: dict[str, str] = {}
    rest = list(words)
    kept: list[str] = []
    while rest:
        assigned = _ASSIGNED.fullmatch(rest[0])
        if assigned is not None:
            env[assigned.group(1)] = assigned.group(2)
        elif rest[0] in _BEFORE or rest[0] == "export":
            kept.append(rest[0])
        elif (
            kept and kept[0] != "export" and (rest[0].startswith("-") or _NUMBER.fullmatch(rest[0]))
        ):
            pass  # an option of the program that runs the other one
        else:
            break
        rest.pop(0)
    return [*(word for word in kept if word == "export"), *rest], env


def _launch(words: Sequence[str]) -> tuple[str | None, list[str]] | None:
    """Return the Python (or None) and the flags of a launch, or None if it is none."""
    for index, word in enumerate(words):
        name = word.rsplit("/", 1)[-1]
        if word == "sglang.launch_server" and index and words[index - 1] == "-m":
            return (words[index - 2] if index > 1 else None), list(words[index + 1 :])
        if name == "sglang" and words[index + 1 : index + 2] == ["serve"]:
            return None, list(words[index + 2 :])
        if name in {"launch_server.py", "sglang.launch_server"}:
            return (words[index - 1] if index else None), list(words[index + 1 :])
    return None


def _fields(program: str | None, words: Sequence[str], env: dict[str, str]) -> PastedCommand:
    notes: list[str] = []
    flags = _flags(words, notes)
    bound = {key: flags.pop(flag, None) for flag, key in _BOUND.items()}
    secrets = [name for name in flags if is_secret(name)]
    secrets += [name for name in env if _SECRET.search(name)]
    for name in secrets:
        flags.pop(name, None)
        env.pop(name, None)
    visible = env.pop("CUDA_VISIBLE_DEVICES", "")
    gpus: tuple[int, ...] = ()
    if re.fullmatch(r"\d+(?:,\d+)*", visible):
        gpus = tuple(int(one) for one in visible.split(","))
    elif visible:
        notes.append(f"CUDA_VISIBLE_DEVICES={visible} names no numbers: choose the GPUs yourself")
    for name, value in [*flags.items(), *bound.items(), *env.items()]:
        if "$" in str(value) or "`" in str(value):
            notes.append(f"{name}: {value!r} has a variable of the shell, kept as it is written")
    port = bound["port"]
    model, served = bound["model"], bound["served_name"]
    return PastedCommand(
        engine="sglang",
        model=_words(model),
        served_name=_words(served),
        port=port if isinstance(port, int) and not isinstance(port, bool) else None,
        flags=flags,
        env=env,
        secrets=tuple(secrets),
        gpus=gpus,
        python=program,
        notes=tuple(notes),
    )


def _words(value: FlagValue | None) -> str | None:
    if value is None or value is True:
        return None
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _flags(words: Sequence[str], notes: list[str]) -> dict[str, FlagValue]:
    flags: dict[str, FlagValue] = {}
    name: str | None = None
    values: list[Scalar] = []

    def finish() -> None:
        if name is not None:
            flags[name] = tuple(values) if len(values) > 1 else values[0] if values else True

    for word in words:
        if word.startswith("--") and len(word) > 2:
            finish()
            written, equals, value = word[2:].partition("=")
            name = canonical(written)
            if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
                notes.append(f"--{written} is not a flag name; left out")
                name = None
            values = [_value(value)] if equals else []
        elif name is None:
            notes.append(f"{word!r} belongs to no flag; left out")
        else:
            values.append(_value(word))
    finish()
    return flags


def _value(word: str) -> Scalar:
    """Return a number where it is written as one would write it, else the text."""
    if re.fullmatch(r"-?(?:0|[1-9]\d*)", word):
        return int(word)
    if _NUMBER.fullmatch(word) and "." in word and repr(float(word)) == word:
        return float(word)
    return word
