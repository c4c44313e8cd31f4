"""The engine's own checks, by elimination: the script for the host, and what its answer means."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from relight.core.build import CheckVerdict
from relight.engines.sglang.onhost import text_of

# A refusal for want of a GPU's kind says nothing where the process saw no GPU.
_KIND = re.compile(
    r"only supported on|are supported on|[Cc]ompute capability|Blackwell|Hopper|\bSM ?\d|\bsm_?\d|"
    r"accelerator|No CUDA"
)


def flags_script() -> str:
    """Return a Python script that prints the installed build's flags as JSON."""
    text = text_of("source_files", "source_values", "declared_flags", "flags_script")
    return text + "\nmain()\n"


def checks_script(candidates: Mapping[str, Sequence[str]]) -> str:
    """Return a Python script that prints SGLang's verdict on each command line (flags only).

    The words travel inside the script, so that none shows in the host's process list.
    """
    given = json.dumps({name: list(words) for name, words in candidates.items()})
    return f"{text_of('checks_script')}\nCANDIDATES = json.loads({given!r})\nmain()\n"


def read_checks(text: str) -> tuple[CheckVerdict, ...]:
    """Return the verdicts that the checks script printed.

    Raises ValueError when the text is no such answer: it comes from a host and is not trusted.
    """
    try:
        answer = json.loads(text.strip().splitlines()[-1])
        gpu, verdicts = bool(answer["gpu"]), dict(answer["verdicts"])
    except (json.JSONDecodeError, IndexError, KeyError, TypeError, ValueError, RecursionError):
        raise ValueError("the host did not answer with verdicts") from None
    return tuple(_verdict(str(name), verdict, gpu=gpu) for name, verdict in verdicts.items())


def _verdict(name: str, verdict: object, *, gpu: bool) -> CheckVerdict:
    if not isinstance(verdict, dict):
        raise ValueError("the host did not answer with verdicts")
    ok = verdict.get("ok") is True
    message = str(verdict.get("message", ""))
    return CheckVerdict(
        name=name,
        ok=ok,
        kind=str(verdict.get("kind", "")),
        message=message,
        where=str(verdict.get("where", "")),
        uncertain=not ok and not gpu and _KIND.search(message) is not None,
    )
