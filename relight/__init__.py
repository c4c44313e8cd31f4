"""relight deploys LLM inference servers to GPU hosts over SSH, and brings back what worked."""

__version__ = "0.1.0"
