"""The script of a pass: every word quoted, secrets out of argv."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from relight.core.measure.bench_call import Call, FoundTool, Load, exports, script

LOAD = Load("alone", ("seed",), ("text",), 1, 160)


def call(folder: str, **changes: str) -> Call:
    """Return a call whose python prints its words, one a line."""
    tool = FoundTool("/usr/bin/printf", "m", "0.5.10", chat_template=True, folder=folder)
    made = Call(tool, "http://127.0.0.1:30000", "/models/m", "/models/m", {}, 5)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_words_are_those_of_the_tool() -> None:
    """Closed loop, own prompts, details, cache flushed, chat template, offline."""
    text = script(call("/tmp/x"), LOAD, flush=True)
    for words in (
        "timeout -k 10 5 /usr/bin/printf -m m --backend sglang",
        "--dataset-name custom --dataset-path /tmp/x/alone.prompts.jsonl",
        "--sharegpt-output-len 160 --num-prompts 1 --max-concurrency 1 --seed 1",
        "--warmup-requests 2 --output-details --output-file /tmp/x/alone.jsonl",
        "--flush-cache --apply-chat-template",
    ):
        assert words in text


def test_nothing_but_the_server_is_asked() -> None:
    """No hub and no proxy, whatever the engine's own environment says."""
    environment = {"HF_HUB_OFFLINE": "0", "http_proxy": "http://proxy", "NO_PROXY": "corp"}
    text = script(replace(call("/tmp/x"), environment=environment), LOAD, flush=True)
    assert "export http_proxy=http://proxy;" in text
    for words in ("HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1", "NO_PROXY='*'", "no_proxy='*'"):
        assert f"export {words};" in text
    assert "corp" not in text


def test_a_tokenizer_of_its_own_is_taken() -> None:
    """`tokenizer-path` of the release counts the tokens, not the model's folder."""
    text = script(replace(call("/tmp/x"), tokenizer="/models/t"), LOAD, flush=True)
    assert "--model=/models/m --tokenizer=/models/t" in text


def test_the_cache_is_kept_where_others_are_served() -> None:
    """Without flush the flag is not there."""
    assert "--flush-cache" not in script(call("/tmp/x"), LOAD, flush=False)


@pytest.mark.parametrize(
    "attack", ["$(touch CANARY)", "`touch CANARY`", "'; touch CANARY; '", "-x"]
)
def test_nothing_in_a_name_is_executed(tmp_path: Path, attack: str) -> None:
    """Paths, addresses and environment values with shell in them stay words."""
    made = replace(
        call(str(tmp_path)),
        base_url=attack,
        model_path=attack,
        tokenizer=attack,
        environment={"A": attack},
    )
    text = script(made, LOAD, flush=True).replace("CANARY", str(tmp_path / "canary"))
    subprocess.run(["sh", "-c", text], cwd=tmp_path, capture_output=True, timeout=10, check=False)
    assert not (tmp_path / "canary").exists()


def test_a_secret_is_exported_and_never_an_argument() -> None:
    """The key stands before exec, not behind it."""
    made = replace(call("/tmp/x"), environment={"OPENAI_API_KEY": "s3cr3t"})
    before, _, after = script(made, LOAD, flush=True).partition("\nexec ")
    assert "s3cr3t" in before
    assert "s3cr3t" not in after


def test_a_name_that_is_none_is_left_out() -> None:
    """An environment name with shell in it is never exported."""
    assert exports({"A B; touch x": "1", "GOOD": "2"}) == "export GOOD=2; "
