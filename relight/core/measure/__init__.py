"""What a benchmark measured, and the verdict on it."""
