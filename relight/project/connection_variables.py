"""Ansible's connection variables: which relight reads, which change nothing, which it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from relight.core.address import Address
from relight.errors import Fault, HostError
from relight.project.marks import Key
from relight.project.rendering import Rendered, unrendered
from relight.project.validation import read
from relight.project.variables import Variable
from relight.project.wording import closest, got

_PREFIX = "ansible_"
# Of several names of one thing the later one here wins, as in Ansible's ssh plugin (`vars`).
FIELDS = {
    "ansible_connection": "connection",
    "ansible_host": "host",
    "ansible_ssh_host": "host",
    "ansible_port": "port",
    "ansible_ssh_port": "port",
    "ansible_user": "user",
    "ansible_ssh_user": "user",
    "ansible_private_key_file": "private_key_file",
    "ansible_ssh_private_key_file": "private_key_file",
    "ansible_become": "become",
    "ansible_become_user": "become_user",
    "ansible_host_key_checking": "host_key_checking",
    "ansible_ssh_host_key_checking": "host_key_checking",
    "ansible_timeout": "timeout",
    "ansible_ssh_timeout": "timeout",
}
_SSH_CONFIG = "put it into ~/.ssh/config under the host's name: relight reads that, ProxyJump too"
_KEY = "use a key (ansible_ssh_private_key_file) or an agent: relight never handles passwords"
_SUDO = "let the user use sudo without a password, or log in as the user that is wanted"
_REFUSED = (
    (re.compile(r"ansible_(ssh|scp|sftp)_(common_|extra_)?args"), _SSH_CONFIG),
    (
        re.compile(r"ansible_ssh_(executable|proxy\w*|control\w*)|ansible_control_path\w*"),
        _SSH_CONFIG,
    ),
    (
        re.compile(r"ansible_(ssh_)?pass(word)?|ansible_ssh_password_mechanism|ansible_sshpass\w*"),
        _KEY,
    ),
    (re.compile(r"ansible_(ssh_)?private_key(_passphrase)?"), _KEY),
    (re.compile(r"ansible_(become|sudo|su)_?(pass|password)"), _SUDO),
    (re.compile(r"ansible_(become|sudo|su)_\w+|ansible_sudo|ansible_su"), _SUDO),
    (re.compile(r"ansible_(winrm|psrp|docker|podman|paramiko|httpapi|network|netconf)_\w+"), ""),
)
_HARMLESS = re.compile(
    r"ansible_(python_interpreter|.*_interpreter|managed|group_priority|remote_tmp|async_dir"
    r"|(ssh_)?pipelining|(ssh_)?retries|ssh_reconnection_retries|ssh_transfer_method|ssh_use_tty"
    r"|check_mode|diff_mode|verbosity|facts|local|forks|play_\w+|version|search_path|run_tags"
    r"|skip_tags|config_file|inventory_sources|dependent_role_names|limit|role_\w+|parent_\w+"
    r"|shell_type|shell_executable|become_method)"
)
_ONLY = {
    "ansible_shell_type": ("sh",),
    "ansible_shell_executable": ("/bin/sh", "sh"),
    "ansible_become_method": ("sudo", "ansible.builtin.sudo"),
}
_CONNECTIONS = {
    "smart": "ssh",
    "ansible.builtin.ssh": "ssh",
    "paramiko": "ssh",
    "paramiko_ssh": "ssh",
    "ansible.builtin.local": "local",
}
_LOGIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]*\$?")
_FORMS = {
    "host": re.compile(r"[A-Za-z0-9_:.\[][A-Za-z0-9_.:%\[\]-]*"),
    "user": _LOGIN,
    "become_user": _LOGIN,
    "private_key_file": re.compile(r"[^\x00-\x1f-][^\x00-\x1f]*"),
}


class _Place:
    """Faults of an Address's fields, at the variables that said them."""

    def __init__(self, said: dict[str, Variable], host: Variable) -> None:
        self._said, self._host = said, host

    def fault(self, trail: Any, what: str, right: str = "", *, key: bool = False) -> Fault:
        field, *inside = tuple[Key, ...](trail) or ("",)
        variable = self._said.get(str(field), self._host)
        return variable.place.fault(inside, what, right, key=key)


def address(host: Variable, rendered: Rendered) -> tuple[Address | None, tuple[Fault, ...]]:
    """Return how a host is reached, or all that is wrong with it; `host` is where it stands."""
    faults: list[Fault] = []
    said: dict[str, Variable] = {}
    values: dict[str, Any] = {"name": host.value}
    names = {"name": "the host"}
    for name, variable in rendered.variables.items():
        refusal = _refusal(name, variable) if name.startswith(_PREFIX) else None
        if refusal is not None:
            faults.append(refusal)
    for name, field in FIELDS.items():
        if name not in rendered.variables:
            continue
        variable = rendered.variables[name]
        value, wrong = rendered.value(variable.value, variable.place)
        faults += wrong
        said[field], names[field] = variable, name
        values.pop(field, None)
        if value not in (None, ""):
            known = isinstance(value, str) and field == "connection"
            values[field] = _CONNECTIONS.get(value, value) if known else value
    result, wrong = read(Address, values, _Place(said, host), unrendered, names)
    faults += wrong
    faults += _hostile(values, said, names)
    return (None if faults else result), tuple(faults)


def changed(found: Address, changes: Mapping[str, Any]) -> Address:
    """Return an address with some fields changed; raises HostError for a value that is none."""
    values = {**found.model_dump(), **changes}
    connection = values["connection"]
    values["connection"] = _CONNECTIONS.get(str(connection), connection)
    try:
        result = Address.model_validate(values)
    except ValidationError as error:
        wrong = "; ".join(f"{part['loc'][0]}: {part['msg'].lower()}" for part in error.errors())
        raise HostError(found.name, f"cannot be reached so: {wrong}") from None
    for field, allowed in _FORMS.items():
        text = values.get(field)
        if isinstance(text, str) and not allowed.fullmatch(text):
            right = "no leading dash, blank or special character"
            raise HostError(found.name, f"{field} cannot be {got(text)}", right)
    return result


def _refusal(name: str, variable: Variable) -> Fault | None:
    if name in _ONLY and variable.value not in _ONLY[name]:
        right = f"relight knows {_ONLY[name][0]} only"
        return variable.fault(f"{name} is {got(variable.value, name)}", right)
    if name in FIELDS or _HARMLESS.fullmatch(name):
        return None
    for pattern, right in _REFUSED:
        if pattern.fullmatch(name):
            return variable.place.fault((), f"{name} is not honoured by relight", right, key=True)
    meant = closest(name.removeprefix(_PREFIX), [known.removeprefix(_PREFIX) for known in FIELDS])
    right = (
        f"did you mean {_PREFIX}{meant}?" if meant else "rename it if it is a variable of your own"
    )
    what = f"{name} is no connection variable that relight knows"
    return variable.place.fault((), what, right, key=True)


def _hostile(
    values: dict[str, Any], said: dict[str, Variable], names: dict[str, str]
) -> list[Fault]:
    """Return faults for texts that ssh or a shell would take for an option or for more lines."""
    faults: list[Fault] = []
    for field, allowed in _FORMS.items():
        text = values.get(field)
        checked = isinstance(text, str) and not unrendered(text)
        if checked and not allowed.fullmatch(str(text)):
            what = f"{names[field]} cannot be {got(text)}"
            faults.append(said[field].fault(what, "no leading dash, blank or special character"))
    return faults
