"""A pasted launch command becomes a preset's fields; nothing of it is run."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.engines.sglang.pasted import import_command

LONG = """\
(base) root@box:~# CUDA_VISIBLE_DEVICES=0,1 HF_TOKEN=hf_s3cret nohup \\
    python3 -m sglang.launch_server \\
    --model-path /models/Qwen3.6-27B --served-model-name "qwen 3.6" --tp 2 --port=30000 \\
    --mem-fraction-static 0.88 --api-key s3cret --trust-remote-code \\
    --json-model-override-args '{"a": "it'"'"'s"}' --lora-paths a=b c=d \\
    --chunked-prefill-size -1 > server.log 2>&1 &
"""


def test_a_long_command_is_read_whole() -> None:
    """Prompt, variables, nohup, continued lines, quotes, lists, redirections and `&`."""
    pasted = import_command(LONG)
    assert pasted.model == "/models/Qwen3.6-27B"
    assert pasted.served_name == "qwen 3.6"
    assert pasted.port == 30000
    assert pasted.gpus == (0, 1)
    assert pasted.python == "python3"
    assert pasted.flags == {
        "tp-size": 2,
        "mem-fraction-static": 0.88,
        "trust-remote-code": True,
        "json-model-override-args": '{"a": "it\'s"}',
        "lora-paths": ("a=b", "c=d"),
        "chunked-prefill-size": -1,
    }


def test_secrets_are_left_out_and_named() -> None:
    """Keys and tokens are named, their values are nowhere."""
    pasted = import_command(LONG)
    assert set(pasted.secrets) == {"api-key", "HF_TOKEN"}
    assert "s3cret" not in pasted.model_dump_json()


@pytest.mark.parametrize(
    "command",
    [
        "python -m sglang.launch_server --model-path /m --tp 2",
        "sglang serve --model-path=/m --tp 2",
        "export X=1; cd /srv && exec /v/bin/python3 -m sglang.launch_server --model /m --tp-size 2",
        "A=b setsid env C=d nice -n 5 python -m sglang.launch_server --model /m --tp 2 | tee l",
        "numactl -m 0 python launch_server.py --model-path /m --tp 2 # a comment --port 1",
        "python3 -m sglang.launch_server --tensor-parallel-size 2 --model-path /m 2>err >out",
    ],
)
def test_many_spellings_mean_the_same(command: str) -> None:
    """However it was started, the model and the flags are the same."""
    pasted = import_command(command)
    assert (pasted.model, pasted.flags) == ("/m", {"tp-size": 2})
    assert pasted.port is None


def test_exported_variables_belong_to_the_launch() -> None:
    """`export` before and assignments in front both reach the server."""
    pasted = import_command("export A=1\nB='2 3' python -m sglang.launch_server --model-path /m")
    assert pasted.env == {"A": "1", "B": "2 3"}


def test_variables_of_the_shell_stay_and_are_noted() -> None:
    """Nothing is expanded or run: the text stays, with a note."""
    pasted = import_command("python -m sglang.launch_server --model-path $(rm -rf /) --tp $N")
    assert pasted.model == "$(rm -rf /)"
    assert len(pasted.notes) >= 2


@pytest.mark.parametrize("text", ["", "vllm serve x", "ls -l", "echo sglang"])
def test_other_commands_are_refused(text: str) -> None:
    """A text without a launch says what would be one."""
    with pytest.raises(ValueError, match=r"sglang\.launch_server"):
        import_command(text)


def test_open_quotes_are_told() -> None:
    """A quote that does not close is the user's mistake, told as such."""
    with pytest.raises(ValueError, match="quotes"):
        import_command("python -m sglang.launch_server --model-path 'x")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever is pasted, it is a command or a ValueError."""
    with contextlib.suppress(ValueError):
        import_command("python -m sglang.launch_server --model-path /m " + text)
