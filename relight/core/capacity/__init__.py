"""How much fits and how fast it can be: from model files, flags and cards."""
