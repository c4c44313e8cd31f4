"""Runs SGLang's own argument checks over several command lines, and prints a verdict for each.

0.5.10 to 0.5.15 check while parsing (ServerArgs.__post_init__) and in check_server_args(); 0.5.23
parses raw, then resolve_once() and check_server_args(). Imports SGLang once (7 to 30 s) and loads
no weights. Without a GPU, `--device cuda` is added: SGLang would else refuse to guess a device.
"""
# ruff: noqa: BLE001, PLC0415, UP006, UP035 - for Python 3.9; whatever breaks is told

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
from typing import Any, Dict, List

CANDIDATES: Dict[str, List[str]] = {}


def last_words(text: str) -> str:
    """Return the last line that says something: argparse prints its error there."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def place(error: BaseException) -> str:
    """Return file and line of the deepest frame that is SGLang's own."""
    frames = [
        one for one in traceback.extract_tb(error.__traceback__) if "/sglang/" in one.filename
    ]
    if not frames:
        return ""
    return frames[-1].filename.rpartition("/sglang/")[2] + ":" + str(frames[-1].lineno)


def judged(words: List[str]) -> Dict[str, Any]:
    """Return what SGLang says of one command line."""
    from sglang.srt.server_args import prepare_server_args  # type: ignore[import-not-found]

    said = io.StringIO()
    before = dict(os.environ)
    try:
        with contextlib.redirect_stderr(said):
            arguments = prepare_server_args(words)
            if hasattr(arguments, "resolve_once"):
                arguments.resolve_once()
            arguments.check_server_args()
    except SystemExit:
        return {"ok": False, "kind": "SystemExit", "message": last_words(said.getvalue())}
    except BaseException as error:
        return {
            "ok": False,
            "kind": type(error).__name__,
            "message": str(error)[:2000],
            "where": place(error),
        }
    finally:  # the checks set variables as they go; the next candidate must not see them
        os.environ.clear()
        os.environ.update(before)
    return {"ok": True}


def has_gpu() -> bool:
    """Return whether torch sees a GPU here."""
    try:
        import torch  # type: ignore[import-not-found]

        return bool(torch.cuda.is_available())
    except Exception:
        return False


def main() -> None:
    """Print one JSON object: whether there is a GPU, and the verdict on each candidate."""
    out = sys.stdout
    verdicts: Dict[str, Any] = {}
    with contextlib.redirect_stdout(sys.stderr):
        gpu = has_gpu()
        for name, words in CANDIDATES.items():
            device = (
                []
                if gpu or any(w.split("=")[0] == "--device" for w in words)
                else ["--device", "cuda"]
            )
            verdicts[name] = judged(list(words) + device)
    print(json.dumps({"gpu": gpu, "verdicts": verdicts}), file=out)
