"""All rules for failures of SGLang, a file per family; and the lines that look like one only."""

from __future__ import annotations

import re
from functools import lru_cache

from relight.engines.sglang.rule import Rule
from relight.engines.sglang.rules import (
    access,
    arguments,
    distributed,
    environment,
    graphs,
    host,
    kernels,
    memory,
    models,
    serving,
)

RULES: tuple[Rule, ...] = (
    *arguments.RULES,
    *environment.RULES,
    *kernels.RULES,
    *access.RULES,
    *models.RULES,
    *memory.RULES,
    *distributed.RULES,
    *host.RULES,
    *graphs.RULES,
    *serving.RULES,
)

BENIGN = re.compile(
    r"Ignore import error|Ignoring \w+ import error|Fail to set RLIMIT|NCCL INFO|libnccl-net|"
    r"is disabled because|UserWarning|SyntaxWarning|FutureWarning|DeprecationWarning|"
    r"is deprecated|no scaling factors|py-?spy|[Cc]oredump|server_args=|usage: |"
    r"^\s*(?:Possible solutions|Possible suggestions)|^\s*\d\. (?:set|disable|add|use|try)|"
    r"^\s*\[-?-|falling back|fall back to|fallback to|^INFO: +\S+:\d+ - |skipping download|"
    r"Retrying|retrying in|will be ignored|^\s*warnings\.warn|nanobind|leaked (?:semaphore|"
    r"shared_memory)|"
    r"Entering DeepGEMM JIT|Disabling|Automatically|"
    r"Fail to load tokenizer config|kill_process_tree called|Auto-detected|^WARNING.*pynvml"
)
"""Lines that a healthy server prints too, whatever words are in them."""

# Every rule's words hold one of these; a line without any needs no closer look.
_ONE_WORD = (
    "error fail exception fatal kill illegal assert crash abort fault corrupt removed "
    "denied refused reset closed dead exit lost busy missing mismatch exceed invalid cannot "
    "unable undefined unsupport unrecogni ambiguous unbalanced compatib exclusive gated "
    "authoriz memory fraction leak retract nan capture graph draft eagle reduce driver "
    "version capability backend flash compiler ptxas nvcc cicc nvrtc cuda_home common_ops "
    "glib cxxabi _status_ fp8e mxfp4 nvfp4 header magic hicache hierarchical ipc xid ecc "
    "orphan zombie eaddrinuse emfile shm thread nccl gloo tcpstore barrier signal sigsegv "
    "ninja python.h gpu-name encoder model_info batch_ create_weights constrained guidance "
    "outlines grammar fetching require divisible please context_length permission timeout "
    "unexpected persistent downloading assistant negative nvls multicast peer worker "
    "libcuda cudnn misaligned bad_alloc torch._ remap fallen trtllm cc1plus tokenizer rope "
    "incomplete "
)
_PHRASES = (
    "not ",
    "n't",
    "no ",
    "out of",
    "must ",
    "only ",
    "timed out",
    "too ",
    "already",
    "to load",
    "lower your",
    "smaller number",
    "longer than",
    "a token",
    "% self.",
    "% tp",
    "% ep",
    "% world",
    "% tensor",
    "size of",
    "ptx ",
    "sm75",
    "at the same",
    "together",
    "needs ",
    "should be",
    "has no",
    "config file",
    "--config flag",
    "length is",
    "is larger",
    "free disk",
    "connection ",
    "name res",
    "ifname",
    "client socket",
    "broken pipe",
    "c10d",
    "gpus ",
    "gpu is",
    "core dumped",
)
WORDS: tuple[str, ...] = (*_ONE_WORD.split(), *_PHRASES)


def worth_a_look(low: str) -> bool:
    """Return whether any rule could match a line, given in lower case."""
    return any(word in low for word in WORDS)


_LONG = 600


def matching(text: str) -> tuple[tuple[Rule, re.Match[str]], ...]:
    """Return the rules whose words are in a line, wherever it stands, with what they found."""
    return _remembered(text) if len(text) <= _LONG else _matching(text)


def _matching(text: str) -> tuple[tuple[Rule, re.Match[str]], ...]:
    low = text.lower()
    if not worth_a_look(low):
        return ()
    quiet = BENIGN.search(text) is not None
    found = []
    for rule in RULES:
        if quiet and not rule.loud:
            continue
        match = rule.match(text, low)
        if match is not None:
            found.append((rule, match))
    return tuple(found)


# A log repeats itself: the same line, from every rank and for every request, is looked at once.
_remembered = lru_cache(maxsize=2048)(_matching)
