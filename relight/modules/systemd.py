"""`systemd`: the other name of `systemd_service`, as in Ansible."""

from __future__ import annotations

from relight.modules.systemd_service import Args, run

__all__ = ["Args", "run"]
