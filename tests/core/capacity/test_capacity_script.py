"""The script that asks a host: run for real here, its answer read, hostile answers refused."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from relight.core.capacity.capacity_facts import CapacityFacts
from relight.core.capacity.capacity_script import SCRIPT, read_answer
from relight.core.capacity.fit import fit, weights_of
from relight.core.capacity.model_shape import read_shape

CONFIG = Path(__file__).parents[2] / "data" / "models" / "qwen3-4b.config.json"
CARD = {
    "name": "NVIDIA H200",
    "memory_total_mib": 143771.0,
    "free_mib": 143158.0,
    "bus_bits": 6144,
    "memory_mhz": 3201,
    "compute_capability": "9.0",
}


def ask(model: Path | str, **variables: str) -> dict[str, Any]:
    """Return what the script prints for a model, as the bare Python here runs it."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(model)],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def model_folder(folder: Path) -> Path:
    """Write a config and a safetensors file of three tensors with sparse data."""
    (folder / "config.json").write_text(CONFIG.read_text())
    header = {
        "__metadata__": {"format": "pt"},
        "model.embed_tokens.weight": {"dtype": "BF16", "data_offsets": [0, 1000]},
        "model.layers.0.mlp.up_proj.weight": {"dtype": "BF16", "data_offsets": [1000, 5000]},
        "model.norm.weight": {"dtype": "BF16", "data_offsets": [5000, 5100]},
    }
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    return folder


def read(answer: Any, *, empty: bool = True) -> CapacityFacts:
    """Return the facts of an answer."""
    return read_answer(json.dumps(answer), host="h", flags={}, engine_version="0.5.12", empty=empty)


def test_tensor_sizes_are_read_from_headers_alone(tmp_path: Path) -> None:
    """The real script over real files: sizes by name, no weights read, no GPU here needed."""
    answer = ask(model_folder(tmp_path))
    assert answer["model"]["tensors"] == {
        "model.embed_tokens.weight": 1000,
        "model.layers.0.mlp.up_proj.weight": 4000,
        "model.norm.weight": 100,
    }
    facts = read({**answer, "gpus": [CARD]})
    weights = weights_of(facts, read_shape(facts.model.config))
    assert (weights.loaded, weights.source) == (5100, "headers")


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    """A missing model is an error in words, not a crash on either side."""
    with pytest.raises(ValueError, match=r"cannot be read: there is no folder /.*/nowhere$"):
        read({**ask(tmp_path / "nowhere"), "gpus": [CARD]})
    with pytest.raises(ValueError, match=r"has no config.json: it is no model's folder"):
        read({**ask(tmp_path), "gpus": [CARD]})


def copy_of(cache: Path, name: str, revision: str, *, main: bool) -> Path:
    """Make a model in a hub's cache as huggingface_hub lays it; return its folder."""
    copies = cache / f"models--{name.replace('/', '--')}"
    snapshot = copies / "snapshots" / revision
    snapshot.mkdir(parents=True)
    if main:
        (copies / "refs").mkdir()
        (copies / "refs" / "main").write_text(revision)
    return model_folder(snapshot)


@pytest.mark.parametrize("main", [True, False])
@pytest.mark.parametrize(
    ("variable", "below"),
    [("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("HOME", ".cache/huggingface/hub")],
)
def test_a_hubs_name_is_found_in_the_hosts_cache(
    tmp_path: Path, variable: str, below: str, *, main: bool
) -> None:
    """Where the server itself will find it: the variables that move the cache count."""
    copy_of(tmp_path / below, "Qwen/Qwen3-4B", "abc123", main=main)
    answer = ask("Qwen/Qwen3-4B", **{"HOME": "/nowhere", variable: str(tmp_path)})
    assert answer["model"]["tensors"]["model.norm.weight"] == 100


def test_a_hubs_name_without_a_copy_is_told_with_the_way_out(tmp_path: Path) -> None:
    """It says where it was looked for, and what would be right; no errno."""
    answer = ask("Qwen/Qwen3-4B", HF_HOME=str(tmp_path))
    with pytest.raises(ValueError, match=r"Qwen/Qwen3-4B is no folder on this host") as told:
        read({**answer, "gpus": [CARD]})
    assert str(tmp_path / "hub") in str(told.value)
    assert "hf download Qwen/Qwen3-4B" in str(told.value)
    assert "Errno" not in str(told.value)


def test_free_memory_counts_only_on_gpus_that_stay_as_they_are() -> None:
    """With our own server still on the card, its memory will be free: the total decides."""
    answer = {"gpus": [CARD], "model": {"config": json.loads(CONFIG.read_text())}}
    assert read(answer).gpus[0].memory_free_gib is None
    assert read(answer, empty=False).gpus[0].memory_free_gib == pytest.approx(139.8, abs=0.1)
    assert fit(read(answer)).kv_tokens == pytest.approx(859_665, rel=0.01)


def test_bandwidth_is_the_driver_s() -> None:
    """Bus width times memory clock goes before the table."""
    answer = {"gpus": [CARD], "model": {"config": json.loads(CONFIG.read_text())}}
    gbs, source = read(answer).gpus[0].bandwidth()
    assert gbs == pytest.approx(4917, abs=1)
    assert source.startswith("driver")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[]", "not an object"),
        ('{"gpus": []}', "names no GPU"),
        ('{"gpus": [{"name": "x", "memory_total_mib": -1}], "model": {"config": {}}}', "greater"),
        ('{"gpus": [{"name": "x", "memory_total_mib": 1, "more": 2}], "model": {}}', "Extra"),
    ],
)
def test_an_answer_that_is_none_is_refused(text: str, words: str) -> None:
    """What a host answers is held to its types; each refusal says why."""
    with pytest.raises(ValueError, match=words):
        read_answer(text, host="h", flags={}, engine_version="", empty=True)
