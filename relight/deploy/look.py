"""One look at a host and one service: facts and state in a single round trip."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from relight.core.facts import HostFacts, read_facts
from relight.core.observed import Observed, read_status
from relight.deploy.target import Target
from relight.errors import HostError
from relight.store.service import on_host

_NO_ARCHIVE = 92
NEEDS = ("flock", "setsid", "tail", "stat", "sync", "sed", "grep")


@dataclass(frozen=True)
class Seen:
    """What a host is and how one service stands there."""

    facts: HostFacts
    observed: Observed


def look(target: Target, *, write: bool) -> Seen:
    """Return facts and state; with `write`, relight's own files are brought up to date first."""
    step = _step(target)
    result = target.connection.control(step, timeout=60)
    if result.exit == _NO_ARCHIVE and write and target.archive is not None:
        target.archive.ship(target.store)
        result = target.connection.control(step, timeout=60)
    if result.exit not in (0, _NO_ARCHIVE):
        raise HostError(target.host, f"cannot look at it: {result.err.strip()[-500:]}")
    facts, _, status = result.out.partition("\nstatus:\n")
    observed = read_status(status)
    if write and f"script={target.store.script.version}" not in status.splitlines():
        observed = target.store.status(target.service.port)
    return Seen(read_facts(facts), observed)


def _step(target: Target) -> str:
    """Return the shell text of one look; an absent archive ends it with a status of its own."""
    spec = target.spec.engine
    prelude = [
        f"needs={shlex.quote(' '.join((*NEEDS, *target.launcher.needs)))}",
        f"model_path={_model_path(target)}",
    ]
    # Quoted as a whole: what is no variable's name is an error of `export`, never a command.
    own = "".join(f"export {shlex.quote(f'{name}={value}')}; " for name, value in spec.env.items())
    script = own + target.engine.version_script(spec)
    if target.archive is not None:
        place = on_host(target.archive.place(target.spec.home))
        version = f"PYTHONPATH={place} sh -c {shlex.quote(_at_home(script))}"
        prelude.append(f"missing_archive=; [ -f {place} ] || missing_archive=yes")
        prelude.append('[ -z "$missing_archive" ] || echo engine_pending=yes')
        prelude.append(f'engine_version() {{ [ -n "$missing_archive" ] || {version}; }}')
    else:
        prelude.append("missing_archive=")
        prelude.append(f"engine_version() {{ sh -c {shlex.quote(_at_home(script))}; }}")
    host_script = f"{target.store.directory}/host.sh"
    status = target.store.command("status", target.service.port)
    return "\n".join(
        [
            *prelude,
            target.project.template("facts.sh"),
            target.project.template("gpus.sh"),
            f"relight_status=$([ ! -f {host_script} ] || {status})",
            "wait",
            'printf "\\nstatus:\\n%s\\n" "$relight_status"',
            f'[ -z "$missing_archive" ] || exit {_NO_ARCHIVE}',
        ]
    )


def _at_home(script: str) -> str:
    """Return a script whose quoted `~/` words lead to the login user's home."""
    return script.replace("'~/", '"$HOME"\'/')


def _model_path(target: Target) -> str:
    """Return the model's folder as a shell word; empty when the model is named by a hub's name."""
    model = target.preset.model
    root = target.spec.engine.model_root
    if model.startswith(("/", "~/")):
        return on_host(model)
    return on_host(f"{root}/{model}") if root else "''"
