"""All rules for failures of SGLang, a file per family; and the lines that look like one only."""

from __future__ import annotations

import re

from relight.engines.sglang.rule import Rule
from relight.engines.sglang.rules import (
    arguments,
    devices,
    environment,
    memory,
    models,
    serving,
)

RULES: tuple[Rule, ...] = (
    *arguments.RULES,
    *environment.RULES,
    *models.RULES,
    *memory.RULES,
    *devices.RULES,
    *serving.RULES,
)

BENIGN = re.compile(
    r"Ignore import error|Ignoring \w+ import error|Fail to set RLIMIT|NCCL INFO|libnccl-net|"
    r"is disabled because|UserWarning|SyntaxWarning|FutureWarning|DeprecationWarning|"
    r"is deprecated|no scaling factors|py-?spy|[Cc]oredump|server_args=|usage: |"
    r"^\s*(?:Possible solutions|Possible suggestions)|^\s*\d\. (?:set|disable|add|use|try)|"
    r"^\s*\[-?-|falling back|fall back to|fallback to|^INFO: +\S+:\d+ - |skipping download|"
    r"Retrying|retrying in|will be ignored|^\s*warnings\.warn|nanobind|leaked (?:semaphore|shared_memory)|"
    r"Entering DeepGEMM JIT|Disabling|Automatically|"
    r"Fail to load tokenizer config|kill_process_tree called|Auto-detected|^WARNING.*pynvml"
)
"""Lines that a healthy server prints too, whatever words are in them."""

# Nearly every rule's words hold one of these; a line without any needs no closer look.
_WORDS = (
    "error",
    "fail",
    "exception",
    "not ",
    "unable",
    "cannot",
    "invalid",
    "unsupported",
    "fatal",
    "kill",
    "timed out",
    "no ",
    "out of",
    "requires",
    "memory",
    "already",
    "missing",
    "n't",
)
_MORE = tuple(
    dict.fromkeys(
        needle
        for rule in RULES
        for needle in rule.needles
        if not any(word in needle for word in _WORDS)
    )
)


def worth_a_look(low: str) -> bool:
    """Return whether any rule could match a line, given in lower case."""
    return any(word in low for word in _WORDS) or any(word in low for word in _MORE)
