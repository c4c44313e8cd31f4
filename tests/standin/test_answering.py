"""Answers: SGLang's bodies and errors, right answers to canaries, plain words otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.standin.answers import known_answer, plan
from tests.standin.rig import Standin, events, free_port, keys

DATA = Path(__file__).parents[1] / "data" / "standin"
CONTEXT = 2048
Start = Callable[..., Standin]


def recorded(name: str, version: str) -> Any:
    """One recorded body."""
    return json.loads((DATA / f"{name}-{version}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["0.5.10", "0.5.23"])
def server(
    request: pytest.FixtureRequest, pyz: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standin]:
    """A server of each version, for the whole module."""
    one = Standin(
        pyz,
        tmp_path_factory.mktemp("answering") / "server.log",
        free_port(),
        *("--served-model-name", "tiny", "--context-length", str(CONTEXT), "--enable-metrics"),
        sglang_version=request.param,
        step_ms="1",
    )
    one.version = request.param  # type: ignore[attr-defined]
    yield one.ready()
    one.stop()


def version(server: Standin) -> str:
    """The version that a server acts as."""
    return str(server.version)  # type: ignore[attr-defined]


def test_bodies_have_the_recorded_keys(server: Standin) -> None:
    """Chat, completion and model list: the same keys at every depth."""
    chat = server.chat("Tell me of rivers", max_tokens=4)
    assert keys(chat) == keys(recorded("chat", version(server)))
    _, text = server.post("/v1/completions", {"prompt": "Once", "max_tokens": 4})
    assert keys(text) == keys(recorded("completions", version(server)))
    assert keys(server.get("/v1/models")[1]) == keys(recorded("v1_models", version(server)))


def test_pages_about_the_server_have_recorded_keys(server: Standin) -> None:
    """What a watcher reads of /model_info, /v1/loads and /generate is in the recording."""
    model = recorded("model_info", version(server))
    assert server.get("/model_info")[1].keys() - {"standin"} <= model.keys()
    loads, real = server.get("/v1/loads")[1], recorded("v1_loads", version(server))
    both = loads["loads"][0].keys() & real["loads"][0].keys()
    assert {"num_running_reqs", "max_total_num_tokens", "gen_throughput", "memory"} <= both
    status, made = server.post("/generate", {"text": "Once", "sampling_params": {}})
    assert status == 200
    assert made.keys() == recorded("generate", version(server)).keys()
    assert made["meta_info"]["completion_tokens"] == 128


def test_a_stream_has_the_recorded_events(server: Standin) -> None:
    """First the role, then text, then the reason, then the usage; keys as recorded."""
    lines = (DATA / f"chat_stream-{version(server)}.txt").read_text(encoding="utf-8").splitlines()
    real = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    made = server.stream("Tell me of rivers", max_tokens=8, stream_options={"include_usage": True})
    assert len(made) == len(real)
    assert [keys(event) for event in made] == [keys(event) for event in real]
    assert made[-1]["usage"]["completion_tokens"] == 8
    assert made[-2]["choices"][0]["finish_reason"] == "length"


def test_without_asking_a_stream_carries_no_usage(server: Standin) -> None:
    """The last event is the one with the reason."""
    made = server.stream("Tell me of rivers", max_tokens=2)
    assert made[-1]["choices"][0]["finish_reason"] == "length"
    assert not any(event.get("usage") for event in made)


def test_a_stream_says_what_the_whole_answer_says(server: Standin) -> None:
    """Both ways of asking give the same words."""
    whole = server.chat("Tell me of bridges", max_tokens=20)["choices"][0]["message"]["content"]
    parts = server.stream("Tell me of bridges", max_tokens=20)
    deltas = [event["choices"][0]["delta"] for event in parts]
    assert "".join(delta.get("content") or "" for delta in deltas) == whole


def test_a_prompt_that_is_too_long_is_refused_in_the_recorded_words(server: Standin) -> None:
    """HTTP 400, the recorded body with this prompt's numbers."""
    body = {"messages": [{"role": "user", "content": "word " * CONTEXT}]}
    status, error = server.post("/v1/chat/completions", body)
    real = recorded("chat_too_long", version(server))
    assert status == 400
    assert error == {**real, "message": error["message"]}
    assert error["message"].endswith(
        f"is longer than the model's context length ({CONTEXT} tokens)."
    )


def test_too_many_tokens_asked_for_are_refused(server: Standin) -> None:
    """HTTP 400 before a token is made."""
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": CONTEXT}
    status, error = server.post("/v1/chat/completions", body)
    assert status == 400
    assert error["message"].startswith("Requested token count exceeds the model's maximum context")


def test_a_body_that_does_not_validate_is_refused_in_the_recorded_shape(server: Standin) -> None:
    """The fault is named with its place, as pydantic names it."""
    real = recorded("chat_bad_json", version(server))
    status, error = server.post("/v1/chat/completions", {"messages": 3})
    assert (status, error.keys(), error["type"]) == (400, real.keys(), real["type"])
    first = real["message"].splitlines()[1]
    assert error["message"].splitlines()[:2] == ["1 validation error:", first]
    status, data = server.request("POST", "/v1/chat/completions", b"{not json")
    assert status == 400
    assert "JSON decode error" in json.loads(data)["message"]


def test_another_model_name_is_not_refused(server: Standin) -> None:
    """SGLang does not look at it, and gives it back."""
    assert server.chat("hi", model="nope", max_tokens=1)["model"] == "nope"


def test_endpoints_differ_by_version(server: Standin) -> None:
    """/ready came, /get_load went; what is not there is 404."""
    old = version(server) == "0.5.10"
    assert server.get("/get_load")[0] == (200 if old else 404)
    assert server.get("/ready")[0] == (404 if old else 200)
    assert server.get("/version") == (404, {"detail": "Not Found"})
    for path in ("/ping", "/health", "/health_generate", "/get_model_info", "/get_server_info"):
        assert server.get(path)[0] == 200


def test_server_info_tells_the_resolved_arguments(server: Standin) -> None:
    """Arguments, version and capacity are there for a watcher."""
    info = server.get("/server_info")[1]
    assert info["version"] == version(server)
    assert info["context_length"] == CONTEXT
    assert info["internal_states"][0]["memory_usage"]["token_capacity"] > 0


def test_metrics_count_what_was_made(server: Standin) -> None:
    """Prometheus's text with SGLang's names; tokens add up."""

    def tokens() -> float:
        text = server.request("GET", "/metrics")[1].decode()
        line = next(
            line for line in text.splitlines() if line.startswith("sglang:generation_tokens_total{")
        )
        return float(line.rsplit(" ", 1)[1])

    before = tokens()
    server.chat("Tell me of rivers", max_tokens=7)
    assert tokens() == before + 7


def test_a_stop_word_ends_the_answer_before_it(server: Standin) -> None:
    """finish_reason is stop, and the word is not shown."""
    words = server.chat("Tell me of rivers", max_tokens=40)["choices"][0]["message"]["content"]
    stop = words.split()[10]
    cut = server.chat("Tell me of rivers", max_tokens=40, stop=stop)["choices"][0]
    assert cut["finish_reason"] == "stop"
    assert cut["matched_stop"] == stop
    assert cut["message"]["content"] == words.split(stop)[0]


def test_a_reasoning_parser_puts_thought_apart(start: Start) -> None:
    """Thought comes first and counts; too few tokens leave no answer; it can be turned off."""
    server = start("--reasoning-parser", "qwen3", step_ms="1").ready()
    answer = server.chat("Reply with the single word: pear", max_tokens=64)
    message = answer["choices"][0]["message"]
    assert message["content"] == "pear"
    assert message["reasoning_content"]
    assert 0 < answer["usage"]["reasoning_tokens"] < answer["usage"]["completion_tokens"]
    short = server.chat("Reply with the single word: pear", max_tokens=3)["choices"][0]
    assert (short["finish_reason"], short["message"]["content"]) == ("length", None)
    off = {"enable_thinking": False}
    plain = server.chat("Reply with the single word: pear", chat_template_kwargs=off)
    assert plain["choices"][0]["message"]["reasoning_content"] is None


def test_an_api_key_is_asked_for_where_sglang_asks(start: Start) -> None:
    """Health and metrics are open; models, infos and generation are not."""
    server = start("--api-key", "k", "--enable-metrics").ready()
    for path in ("/health", "/health_generate", "/metrics"):
        assert server.get(path)[0] == 200
    for path in ("/v1/models", "/server_info", "/model_info"):
        assert server.get(path) == (401, {"error": "Unauthorized"})
        assert server.get(path, key="k")[0] == 200
    assert server.post("/v1/chat/completions", {"messages": []})[0] == 401


def test_a_client_that_goes_away_stops_its_request(start: Start) -> None:
    """The request is gone from the scheduler, and a drain does not wait for it."""
    server = start(step_ms="20").ready()
    with server.open_stream("Tell me of rivers", max_tokens=2000) as response:
        next(events(response))
    server.process.terminate()
    assert server.ended() == -9


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is 2+2?", "4"),
        ("Compute 17 * 3. Only the number.", "51"),
        ("Reply with the single word: banana", "banana"),
        ("Please repeat the word zebra.", "zebra"),
        ('Answer with exactly: "ready"', "ready"),
        ("What is the capital of France?", "Paris"),
    ],
)
def test_a_canary_is_answered(question: str, answer: str) -> None:
    """Questions with one right answer get it, and then the answer stops by itself."""
    assert known_answer(question) == answer
    made = plan(question, 64, ignore_eos=False, thinks=False, chat=True)
    assert "".join(made.fixed or ()) == answer
    assert made.reason == "stop"


@given(st.text(min_size=1), st.integers(1, 200))
def test_an_answer_follows_from_its_prompt(prompt: str, limit: int) -> None:
    """The same prompt gives the same plan, never longer than asked for."""
    made = plan(prompt, limit, ignore_eos=False, thinks=False, chat=True)
    assert made == plan(prompt, limit, ignore_eos=False, thinks=False, chat=True)
    assert 0 < made.length <= limit


@given(st.text(min_size=1), st.integers(1, 200))
def test_ignoring_the_end_gives_all_tokens(prompt: str, limit: int) -> None:
    """With ignore_eos every token asked for comes."""
    made = plan(prompt, limit, ignore_eos=True, thinks=False, chat=True)
    assert (made.length, made.reason) == (limit, "length")


def test_different_prompts_get_different_words() -> None:
    """Words differ by prompt."""

    def words(prompt: str) -> list[str]:
        tokens = plan(prompt, 20, ignore_eos=True, thinks=False, chat=True).tokens()
        return [next(tokens) for _ in range(20)]

    assert words("Tell me of rivers") != words("Tell me of bridges")
