"""The benchmark's engine: SGLang's names and outside, nothing behind them."""

__version__ = "0.5.10"
