"""The stand-in's arguments under the names that SGLang's own have, for tools that import them."""

from __future__ import annotations

import argparse
import os
import sys

from relight.standin.checks import Refusal, check
from relight.standin.flags import build_parser, default_of, load_flags
from relight.standin.settings import Settings, chosen_profile, settle


class ServerArgs:
    """What SGLang's class of this name shows: the parser's flags, and the checks."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser) -> None:
        """Declare every flag of the version that is played."""
        flags = load_flags(chosen_profile(os.environ).version)
        defaults = {flag.dest: default_of(flag) for flag in flags}
        own = build_parser(flags)
        for action in own._actions:  # noqa: SLF001 - argparse has no public list of its actions
            if action.dest != "help":
                action.default = defaults[action.dest]
                parser._add_action(action)  # noqa: SLF001 - nor a way to take one over

    def check_server_args(self) -> None:
        """Check, in SGLang's words: ValueError, or the end of the process with a usage error."""
        try:
            check(self._settings)
        except Refusal as refusal:
            if refusal.code == 2:
                sys.stderr.write(refusal.text)
                raise SystemExit(2) from None
            last = refusal.text.strip().splitlines()[-1]
            raise ValueError(last.split(": ", 1)[-1]) from None


def prepare_server_args(argv: list[str]) -> ServerArgs:
    """Parse, as `sglang.srt.server_args.prepare_server_args` does."""
    return ServerArgs(settle(argv, counted=False))
