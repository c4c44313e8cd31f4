"""Mutated playbooks: a few here, ten thousand by the script beside."""

from __future__ import annotations

from tests.executor.fuzz_playbooks import fuzz


def test_a_mutated_playbook_never_ends_in_a_traceback() -> None:
    """Whatever is broken comes back as faults, with the right line nearly always."""
    score = fuzz(200, 11)
    assert score.tried == 200
    assert score.refused > 100
    assert score.right >= 0.95 * score.placed, score.wrong
