"""Where SGLang keeps its arguments."""
