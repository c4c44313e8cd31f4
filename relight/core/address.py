"""How to reach a host, under Ansible's variable names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relight.core.duration import Seconds
from relight.core.model import Frozen


class Address(Frozen):
    """The connection of one host; an empty field leaves the choice to ~/.ssh/config."""

    name: str
    connection: Literal["ssh", "local"] = "ssh"
    host: str | None = None
    port: int | None = Field(default=None, ge=1, le=65535)
    user: str | None = None
    private_key_file: str | None = None
    become: bool = False
    become_user: str = "root"
    host_key_checking: bool = True
    timeout: Seconds = 10.0
