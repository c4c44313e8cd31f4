"""The long texts of SGLang: tracebacks, usage errors, warnings of a start, the banner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relight.standin.flags import build_parser, load_flags
from relight.standin.profiles import Profile

_SITE = "/opt/sglang/venv/lib/python3.11/site-packages/sglang"
BANNER = (
    "relight stand-in engine: not SGLang. It acts as SGLang {version} for rehearsals and tests; "
    "its answers are made up."
)


def _frames(frames: tuple[tuple[str, str], ...]) -> str:
    lines: list[str] = []
    for position, (file, code) in enumerate(frames):
        number = 100 + 17 * position + sum(map(ord, file)) % 900
        name = code.split("(")[0].split(".")[-1].split(" ")[-1].strip("_'\"") or "run"
        lines.append(f'  File "{_SITE}/srt/{file}", line {number}, in {name}')
        lines.append(f"    {code}")
    return "\n".join(lines)


def refusal_traceback(profile: Profile, frames: tuple[tuple[str, str], ...], error: str) -> str:
    """A traceback of the main process, as python prints it for launch_server."""
    if profile.args_as_dict:
        entry = (
            f'  File "{_SITE}/launch_server.py", line 84, in <module>\n'
            "    run_server(server_args)\n"
            f'  File "{_SITE}/launch_server.py", line 29, in run_server\n'
            "    server_args.resolve_once()"
        )
    else:
        entry = (
            f'  File "{_SITE}/launch_server.py", line 59, in <module>\n'
            "    server_args = prepare_server_args(sys.argv[1:])\n"
            "                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            f'  File "{_SITE}/srt/server_args.py", line 6539, in prepare_server_args\n'
            "    return ServerArgs.from_cli_args(raw_args)\n"
            "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"
        )
    return (
        "Traceback (most recent call last):\n"
        '  File "<frozen runpy>", line 198, in _run_module_as_main\n'
        '  File "<frozen runpy>", line 88, in _run_code\n'
        f"{entry}\n{_frames(frames)}\n{error}\n"
    )


def scheduler_traceback(frames: tuple[tuple[str, str], ...], error: str, *, start: bool) -> str:
    """The message of a scheduler that raised, with SGLang's outer frames."""
    outer = (
        f'  File "{_SITE}/srt/managers/scheduler.py", line 3600, in run_scheduler_process\n'
        "    scheduler = Scheduler(\n"
        "                ^^^^^^^^^^\n"
        f'  File "{_SITE}/srt/managers/scheduler.py", line 385, in __init__\n'
        "    self.init_model_worker()"
        if start
        else f'  File "{_SITE}/srt/managers/scheduler.py", line 3613, in run_scheduler_process\n'
        "    scheduler.run_event_loop()"
    )
    return (
        "Scheduler hit an exception: Traceback (most recent call last):\n"
        f"{outer}\n{_frames(frames)}\n{error}\n"
    )


def usage_error(profile: Profile, error: str) -> str:
    """The usage text and argparse's last line."""
    usage = build_parser(load_flags(profile.version)).format_usage()
    return f"{usage}sglang serve: error: {error}\n"


def import_warnings(profile: Profile) -> str:
    """What a start prints before its first line with a time."""
    line = 71 if profile.args_as_dict else 51
    return (
        f"{_SITE}/launch_server.py:{line}: UserWarning: 'python -m sglang.launch_server' is still "
        "supported, but 'sglang serve' is the recommended entrypoint.\n"
        "  Example: sglang serve --model-path <model> [options]\n"
        "  warnings.warn(\n"
    )


def server_args_line(profile: Profile, values: Mapping[str, Any]) -> str:
    """The one long line with every argument; 0.5.10 shows even the API key, 0.5.23 does not."""
    hidden = ("api_key", "admin_api_key") if profile.args_as_dict else ()
    shown = {
        name: "<redacted>" if name in hidden and value is not None else _shown(name, value)
        for name, value in values.items()
    }
    if profile.args_as_dict:
        return f"server_args={shown!r}"
    return f"server_args=ServerArgs({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


def _shown(name: str, value: Any) -> Any:
    if name == "speculative_algorithm" and value == "NEXTN":
        return "EAGLE"
    return value


def plain_traceback(frames: tuple[tuple[str, str], ...], error: str) -> str:
    """A traceback with only these frames."""
    shown = _frames(frames)
    return "Traceback (most recent call last):\n" + (f"{shown}\n" if shown else "") + f"{error}\n"
