"""Frozen models and pure decisions, a file per concept."""
