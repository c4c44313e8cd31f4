"""Benchmark tools by name: one module each."""
