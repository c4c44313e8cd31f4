"""How SGLang is launched, and how its installed version is asked for."""

from __future__ import annotations

import shlex

from relight.core.engine import EngineSpec, ServerRequest
from relight.core.flags import Flags, argv

# Metadata first; a source tree on the path has none, but its version file. Nothing of SGLang is
# imported: its package alone takes seconds to load.
_VERSION = """\
import importlib.metadata as m, importlib.util as u, re, sys
try:
    print(m.version("sglang")); sys.exit()
except m.PackageNotFoundError:
    pass
spec = u.find_spec("sglang")
for folder in (spec.submodule_search_locations or []) if spec else []:
    for name in ("_version.py", "version.py"):
        try:
            text = open(folder + "/" + name).read()
        except OSError:
            continue
        found = re.search(r"version\\w* *= *['\\"]([0-9][^'\\"]*)", text)
        if found:
            print(found.group(1)); sys.exit()
sys.exit("sglang is not installed for " + sys.executable)
"""


def command(request: ServerRequest) -> tuple[str, ...]:
    """Return the words of a launch, the program first.

    `--host` is left to the flags: SGLang's own default is 127.0.0.1 in 0.5.10 to 0.5.23.
    """
    spec = request.spec
    program = spec.command or (spec.python or "python3", "-m", "sglang.launch_server")
    return (*program, *arguments(request))


def arguments(request: ServerRequest) -> tuple[str, ...]:
    """Return the words of a launch that its parser reads: everything but the program."""
    spec = request.spec
    bound: Flags = {
        "model-path": located(spec, request.model),
        "served-model-name": request.served_name,
        "port": request.port,
    }
    return (*argv(bound), *argv(request.flags))


def located(spec: EngineSpec, model: str) -> str:
    """Return the model as the host names it: a relative one lies under `model_root`."""
    if spec.model_root is None or model.startswith(("/", "~")) or "://" in model:
        return model
    return f"{spec.model_root.rstrip('/')}/{model}"


def version_script(spec: EngineSpec) -> str:
    """Return a shell script that prints the installed version, or says why there is none.

    A `command` names no Python: its first word is one, or a script whose first line names one.
    """
    ask = shlex.quote(_VERSION)
    if spec.python is not None:
        return f"exec {shlex.quote(spec.python)} -c {ask}\n"
    return python_of(spec) + f'exec "$py" -c {ask}\n'


def python_of(spec: EngineSpec) -> str:
    """Return shell lines that leave the engine's Python in `$py`, or end with a message."""
    if spec.python is not None:
        return f"py={shlex.quote(spec.python)}\n"
    word = shlex.quote((spec.command or ("",))[0])
    return (
        f"program=$(command -v -- {word}) || "
        f"{{ printf '%s: not found\\n' {word} >&2; exit 127; }}\n"
        "case ${program##*/} in python*) py=$program ;; *)\n"
        '  IFS= read -r line < "$program" || line=\n'
        '  case $line in "#!"*python*) py=${line#"#!"}; py=${py# }; py=${py%% *} ;; *)\n'
        "    printf '%s names no Python\\n' \"$program\" >&2; exit 126 ;; esac ;; esac\n"
        "case $py in */env) py=python3 ;; esac\n"
    )
