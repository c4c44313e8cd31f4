"""The prompts that relight ships, in its own words, and their hash."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files

from relight.core.model import Frozen

SEED = "seed"


class Prompt(Frozen):
    """One prompt: its name, its kind (code, prose, json, translation, reasoning, long), its text.

    `temperature` and `max_tokens` are what this prompt asks for; None leaves it to the tool.
    """

    name: str
    kind: str
    text: str
    temperature: float | None = None
    max_tokens: int | None = None


def shipped() -> tuple[Prompt, ...]:
    """Return all shipped prompts, in their fixed order; long texts come from files of their own."""
    folder = files(__name__)
    found: list[Prompt] = []
    for line in (folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        attached = entry.pop("text_file", None)
        if attached:
            body = (folder / attached).read_text(encoding="utf-8")
            entry["text"] = f"{entry['text']}\n\n{body}"
        found.append(Prompt(**entry))
    return tuple(found)


def digest(prompts: tuple[Prompt, ...]) -> str:
    """Return the hash that says whether two runs asked the same, order included."""
    text = json.dumps([prompt.model_dump() for prompt in prompts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
