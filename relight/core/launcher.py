"""What a launcher plug-in must say: shell functions that start, watch and end one process tree."""

from __future__ import annotations

from relight.core.model import Frozen


class Launcher(Frozen):
    """One way to run `launch.sh` on a host.

    `functions` is POSIX sh that defines, over the service's folder, the five functions which
    `templates/host.sh` calls: `launcher_start LAUNCH_SH LAUNCH_DIR`, `launcher_alive`,
    `launcher_pids`, `launcher_stop DRAIN_SECONDS`, `launcher_keep` (a promoted release) .
    """

    name: str
    needs: tuple[str, ...] = ()
    survives_reboot: bool = False
    functions: str
