"""The stand-in's command line: serve, check arguments, tell the version, list the flags."""

from __future__ import annotations

import json
import os
import sys
import time

from relight.standin.checks import Refusal, check, check_spawn
from relight.standin.config_file import BadConfig
from relight.standin.flags import listing, load_flags
from relight.standin.journal import Journal
from relight.standin.scenarios import SCENARIOS
from relight.standin.scenarios.choice import UnknownScenario
from relight.standin.settings import BadEnvironment, Settings, chosen_profile, settle
from relight.standin.wording import BANNER, import_warnings, server_args_line

# Seconds of a start of 15 s.
_ARGS_AT, _REFUSED_AT = 1.5, 1.0
_REFUSED, _DIED = 2, 1


def main(argv: list[str] | None = None) -> int:
    """Run as the arguments say; the exit code."""
    began = time.monotonic()
    arguments = sys.argv[1:] if argv is None else argv
    mode = arguments[0] if arguments else ""
    try:
        profile = chosen_profile(os.environ)
        if mode in ("--print-version", "--version-info"):
            print(profile.version)
            return 0
        if mode == "--print-flags":
            print(json.dumps(listing(load_flags(profile.version))))
            return 0
        if mode == "--print-scenarios":
            print(json.dumps({one.name: [one.taxonomy, one.summary] for one in SCENARIOS.values()}))
            return 0
        if mode == "--check-args":
            return _check(settle(arguments[1:], counted=False))
        return _start(settle(arguments), began)
    except BadConfig as fault:
        print(f"ValueError: {fault}", file=sys.stderr)
        return _DIED
    except (BadEnvironment, UnknownScenario) as fault:
        print(f"relight stand-in engine: {fault}", file=sys.stderr)
        return _REFUSED


def _check(settings: Settings) -> int:
    try:
        check(settings)
    except Refusal as refusal:
        sys.stderr.write(refusal.text)
        return refusal.code
    return 0


def _start(settings: Settings, began: float) -> int:
    # Imported here: --check-args, --print-flags and --print-version need no server.
    from relight.standin.lifecycle import Lifecycle  # noqa: PLC0415

    quiet = str(settings.values["log_level"]) not in ("info", "debug")
    journal = Journal(quiet=quiet)
    journal.bare(BANNER.format(version=settings.profile.version))
    journal.bare(import_warnings(settings.profile))
    try:
        _wait(settings, began, _REFUSED_AT)
        check(settings)
        _wait(settings, began, _ARGS_AT)
        journal.info(server_args_line(settings.profile, settings.values))
        check_spawn(settings)
    except Refusal as refusal:
        for line in refusal.log:
            journal.info(line)
        journal.bare(refusal.text)
        return refusal.code
    return Lifecycle(settings, journal, began).run()


def _wait(settings: Settings, began: float, moment: float) -> None:
    time.sleep(max(0.0, began + settings.real(moment) - time.monotonic()))
