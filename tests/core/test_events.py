"""Events: their schema is a promise to programs that read `--json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, TypeAdapter

from relight.core.events import Event

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_published_schema_is_that_of_the_code() -> None:
    """docs/events.schema.json is what pydantic makes of the events."""
    schema = TypeAdapter(Event).json_schema(mode="serialization")
    assert json.loads((DOCS / "events.schema.json").read_text()) == schema


def test_every_kind_of_event_is_documented() -> None:
    """docs/events.md has a row for each kind, and names each of its fields."""
    text = (DOCS / "events.md").read_text()
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    kinds: tuple[type[BaseModel], ...] = get_args(get_args(Event)[0])
    for kind in kinds:
        name = kind.model_fields["kind"].default
        assert name in rows
        fields = [info.serialization_alias or field for field, info in kind.model_fields.items()]
        missing = [field for field in fields if f"`{field}`" not in rows[name]]
        assert missing in ([], ["kind"])
