"""How bench_serving is found on a host and called: scripts as text, every word quoted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from relight.core.measure.bench_record import SEED

BACKEND = "sglang"
"""The tool's own endpoint of SGLang (/generate): the one mode whose ITL counts real tokens."""
FIND = """
import importlib.util, json, os, sys
spec = importlib.util.find_spec("sglang")
root = os.path.dirname(spec.origin) if spec and spec.origin else ""
places = (("sglang.benchmark.serving", "benchmark/serving.py"),
          ("sglang.bench_serving", "bench_serving.py"))
found = [name for name, path in places if root and os.path.isfile(os.path.join(root, path))]
try:
    from importlib.metadata import version
    number = version("sglang")
except Exception:
    number = ""
model = sys.argv[1]
chat = not os.path.isdir(model) or os.path.isfile(os.path.join(model, "chat_template.jinja"))
try:
    with open(os.path.join(model, "tokenizer_config.json"), encoding="utf-8") as stream:
        chat = chat or bool(json.load(stream).get("chat_template"))
except (OSError, ValueError, AttributeError):
    pass
print(json.dumps({"python": sys.executable, "module": (found or [""])[0], "version": number,
                  "chat_template": chat}))
"""
"""Python for the engine's interpreter: which module has the tool (0.5.23 moved it), which version,
and whether the tokenizer has a chat template. It imports nothing of SGLang."""
WARM_UPS = 2
"""Requests before the run, each with its first prompt."""
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "NO_PROXY": "*",
    "no_proxy": "*",
}
"""The tool needs the server and nothing else: no hub, and no proxy on the way to loopback."""


@dataclass(frozen=True)
class FoundTool:
    """The tool as it was found on the host, and the private folder that its run uses there."""

    python: str
    module: str
    version: str
    chat_template: bool
    folder: str


@dataclass(frozen=True)
class Load:
    """One pass: its name, its prompts by name and text, requests at once, tokens an answer."""

    name: str
    names: tuple[str, ...]
    texts: tuple[str, ...]
    concurrency: int
    tokens: int


@dataclass(frozen=True)
class Call:
    """What all passes share: the tool, the server, the environment and the time limit."""

    tool: FoundTool
    base_url: str
    model_path: str
    tokenizer: str
    environment: Mapping[str, str]
    limit_s: float


def exports(environment: Mapping[str, str]) -> str:
    """Return shell text that sets an environment; a name that is none is left out."""
    return "".join(
        f"export {name}={shlex.quote(value)}; "
        for name, value in environment.items()
        if name.isidentifier() and name.isascii()
    )


def script(call: Call, load: Load, *, flush: bool) -> str:
    """Return the shell script of one pass; secrets of the environment are in it, never in argv."""
    environment = {**call.environment, **OFFLINE, "PYTHONUNBUFFERED": "1"}
    base = f"{call.tool.folder}/{load.name}"
    words = (
        *("timeout", "-k", "10", str(int(call.limit_s))),
        *(call.tool.python, "-m", call.tool.module),
        *("--backend", BACKEND, f"--base-url={call.base_url}"),
        *(f"--model={call.model_path}", f"--tokenizer={call.tokenizer}"),
        *("--dataset-name", "custom", "--dataset-path", f"{base}.prompts.jsonl"),
        *("--sharegpt-output-len", str(load.tokens), "--num-prompts", str(len(load.names))),
        *("--max-concurrency", str(load.concurrency), "--seed", str(SEED)),
        *("--warmup-requests", str(WARM_UPS), "--output-details", "--output-file", f"{base}.jsonl"),
        *(("--flush-cache",) if flush else ()),
        *(("--apply-chat-template",) if call.tool.chat_template else ()),
    )
    return f"{exports(environment)}\nexec {shlex.join(words)} 2>&1 </dev/null\n"
