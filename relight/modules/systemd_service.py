"""`systemd_service`: a unit of the host's systemd, running or not, enabled or not."""

from __future__ import annotations

import shlex
from typing import Any, Literal

from pydantic import model_validator

from relight.connections import Result
from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.modules import Scope

_RUNNING = ("active", "activating", "reloading")
_VERBS = {"started": "start", "stopped": "stop", "restarted": "restart", "reloaded": "reload"}
_ON = ("enabled", "enabled-runtime", "alias", "static", "indirect", "generated", "linked")


class Args(Arguments):
    """The arguments of Ansible's `systemd_service`."""

    name: str | None = None
    state: Literal["started", "stopped", "restarted", "reloaded"] | None = None
    enabled: bool | None = None
    masked: bool | None = None
    daemon_reload: bool = False
    daemon_reexec: bool = False
    scope: Literal["system", "user", "global"] = "system"
    no_block: bool = False
    force: bool = False

    @model_validator(mode="before")
    @classmethod
    def _aliases(cls, data: Any) -> Any:
        names = {"service": "name", "unit": "name"}
        if not isinstance(data, dict):
            return data
        return {names.get(key, key): value for key, value in data.items()}

    @model_validator(mode="after")
    def _named(self) -> Args:
        asked = (self.state, self.enabled, self.masked)
        if self.name is None and any(value is not None for value in asked):
            raise ValueError("state, enabled and masked need the name of a unit")
        if self.name is None and not (self.daemon_reload or self.daemon_reexec):
            raise ValueError("say the name of a unit, or daemon_reload")
        return self


def run(args: Args, scope: Scope) -> Outcome:
    """Make the unit what it should be; nothing is done that is so already."""
    return _Unit(args, scope).run()


class _Refused(Exception):
    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.msg)
        self.outcome = outcome


class _Unit:
    """One unit of one host."""

    def __init__(self, args: Args, scope: Scope) -> None:
        self.args, self.scope = args, scope
        self.changed = False
        self.systemctl = "systemctl" if args.scope == "system" else f"systemctl --{args.scope}"
        if args.scope == "user":
            runtime = 'XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"'
            self.systemctl = f"{runtime} {self.systemctl}"

    def run(self) -> Outcome:
        """Do what is asked, in Ansible's order."""
        try:
            if self.args.daemon_reload and not self.scope.check:
                self._do("daemon-reload")
            if self.args.daemon_reexec and not self.scope.check:
                self._do("daemon-reexec")
            values = self._unit(self.args.name) if self.args.name else {"status": {}}
        except _Refused as refused:
            return refused.outcome
        return Outcome(changed=self.changed, values={"name": self.args.name, **values})

    def _unit(self, name: str) -> dict[str, Any]:
        status = self._status(name)
        exists = status.get("LoadState") != "not-found"
        values: dict[str, Any] = {"status": status}
        if self.args.masked is not None:
            if self.args.masked != (status.get("LoadState") == "masked"):
                self._change("mask" if self.args.masked else "unmask", name)
            exists = True
        if not exists and (self.args.state or self.args.enabled is not None):
            message = f"Could not find the requested service {name}: host"
            raise _Refused(Outcome(failed=True, msg=message))
        if self.args.enabled is not None:
            on = status.get("UnitFileState", "") in _ON
            if on != self.args.enabled:
                self._change("enable" if self.args.enabled else "disable", name)
            values["enabled"] = self.args.enabled
        if self.args.state is not None:
            self._run_state(name, self.args.state, status.get("ActiveState", ""))
            values["state"] = "started" if self.args.state != "stopped" else "stopped"
        return values

    def _run_state(self, name: str, state: str, active: str) -> None:
        if (state == "started" and active in _RUNNING) or (
            state == "stopped" and active not in (*_RUNNING, "deactivating")
        ):
            return
        verb = _VERBS[state]
        self._change("start" if state == "reloaded" and active not in _RUNNING else verb, name)

    def _status(self, name: str) -> dict[str, Any]:
        result = self._call(f"show {shlex.quote(name)}")
        if result.exit != 0:
            raise _Refused(_failed(result, ""))
        lines = (line.partition("=") for line in result.out.splitlines())
        return {key: value for key, equals, value in lines if equals}

    def _change(self, verb: str, name: str) -> None:
        self.changed = True
        if not self.scope.check:
            self._do(verb, name)

    def _do(self, verb: str, name: str = "") -> None:
        options = " --no-block" if self.args.no_block and name else ""
        options += " --force" if self.args.force and name else ""
        result = self._call(f"{verb}{options} {shlex.quote(name) if name else ''}")
        if result.exit != 0:
            what = f"Unable to {verb} service {name}: " if name else ""
            raise _Refused(_failed(result, what))

    def _call(self, words: str) -> Result:
        return self.scope.open_connection().run(f"{self.systemctl} {words}", timeout=300)


def _failed(result: Result, what: str) -> Outcome:
    return Outcome(failed=True, msg=f"{what}{result.err}")
