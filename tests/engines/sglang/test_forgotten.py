"""What SGLang's own checks let pass, and what fails minutes later."""

from __future__ import annotations

import pytest

from relight.core.flags import Flags
from relight.engines.sglang.forgotten import forgotten

CONFIG = {"text_config": {"num_attention_heads": 32, "num_key_value_heads": 8}}


@pytest.mark.parametrize(
    ("flags", "flag"),
    [
        ({"tp": 3}, "tp-size"),
        ({"mem-fraction-static": 1.5}, "mem-fraction-static"),
        ({"mem-fraction-static": 0}, "mem-fraction-static"),
        ({"max-running-requests": 0}, "max-running-requests"),
        ({"nnodes": 2}, "nnodes"),
        ({"nnodes": 2, "dist-init-addr": "a:1", "node-rank": 2}, "node-rank"),
        ({"speculative-algorithm": "EAGLE3"}, "speculative-algorithm"),
        ({"speculative-draft-model-path": "/d"}, "speculative-draft-model-path"),
        ({"tp-size": 8, "ep-size": 3}, "ep-size"),
        ({"tp-size": 4, "dp-size": 3, "enable-dp-attention": True}, "dp-size"),
        ({"tp-size": 16}, "tp-size"),
        ({"chunked-prefill-size": 0}, "chunked-prefill-size"),
    ],
)
def test_each_forgotten_check_is_made(flags: Flags, flag: str) -> None:
    """Heads, fractions, nodes, drafts and sizes are checked before anything is stopped."""
    faults = forgotten(flags, CONFIG, gpus=8)
    assert flag in {fault.flag for fault in faults}
    assert all(fault.kind == "forgotten" for fault in faults)


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"tensor-parallel-size": 4, "mem-fraction-static": 0.88, "chunked-prefill-size": -1},
        {"speculative-algorithm": "NEXTN"},
        {"speculative-algorithm": "EAGLE", "speculative-draft-model-path": "/d"},
        {"nnodes": 2, "dist-init-addr": "a:1", "tp-size": 16, "node-rank": 1},
        {"mem-fraction-static": "not a number"},
    ],
)
def test_what_is_right_or_unknown_passes(flags: Flags) -> None:
    """Good flags pass, and what is no number is the parser's business."""
    assert forgotten(flags, CONFIG, gpus=8) == ()


def test_a_model_with_draft_layers_needs_no_draft() -> None:
    """EAGLE on a model with MTP layers is right."""
    assert forgotten({"speculative-algorithm": "EAGLE"}, {"num_nextn_predict_layers": 1}) == ()
