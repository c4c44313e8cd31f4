"""The arguments of the benchmark's engine, checked as SGLang checks its own: by its parser."""

from __future__ import annotations

import argparse
import sys


class ServerArgs:
    """What was given; `add_cli_args` declares it."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser) -> None:
        """Declare every flag."""
        parser.add_argument("--model-path", type=str, required=True)
        parser.add_argument("--served-model-name", type=str)
        parser.add_argument("--host", type=str, default="127.0.0.1")
        parser.add_argument("--port", type=int, default=30000)
        parser.add_argument("--device", type=str)
        parser.add_argument("--context-length", type=int)
        parser.add_argument("--max-running-requests", type=int)

    def check_server_args(self) -> None:
        """Raise ValueError for flags that do not go together."""
        if self.given.max_running_requests is not None and self.given.max_running_requests < 1:
            raise ValueError("max_running_requests must be at least 1")


def prepare_server_args(argv: list[str]) -> ServerArgs:
    """Return the arguments of a command line; ends with a usage error for a wrong one."""
    parser = argparse.ArgumentParser("sglang")
    ServerArgs.add_cli_args(parser)
    return ServerArgs(parser.parse_args(argv))


if __name__ == "__main__":
    prepare_server_args(sys.argv[1:]).check_server_args()
