"""Draft settings as a mapping, and whether two runs drafted alike."""

from __future__ import annotations

from relight.core.flags import Flags


def draft_settings(flags: Flags) -> dict[str, str]:
    """Return every flag that moves tokens per round, as text; empty without speculation."""
    return {
        name: str(value) for name, value in sorted(flags.items()) if name.startswith("speculative-")
    }
