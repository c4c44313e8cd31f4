"""What a launcher plug-in must say: shell functions that start, watch and end one process tree."""

from __future__ import annotations

from relight.core.model import Frozen


class Launcher(Frozen):
    """One way to run `launch.sh` on a host.

    `functions` is POSIX sh for the host script (templates/host/), run in the service's folder.
    LAUNCH is the number of a launch; its folder `launches/LAUNCH` exists.
    - `launcher_check`: before the lock is given: end with `die 72 WHY` where it cannot work
    - `launcher_start LAUNCH`: run `sh "$0" supervise LAUNCH` detached, in a session of its own
    - `launcher_detach COMMAND...`: run `sh "$0" COMMAND...` so that it outlives the connection
    - `launcher_pids LAUNCH`: set $launcher_found, processes of it that the launcher can prove
    - `launcher_no_restart LAUNCH`: before a stop: do not bring it back
    - `launcher_stopped LAUNCH`: after a stop: take away what the launcher left
    - `launcher_keep LAUNCH`: the launch was promoted: it may restart after a failure and a reboot
    - `launcher_forget`: the operator stopped the service: not even after a reboot
    - `launcher_restarts`: set $restarts, how often it brought known-good back since the last start
    - `launcher_boot`: the command that the launcher's own configuration calls back
    """

    name: str
    needs: tuple[str, ...] = ()
    survives_reboot: bool = False
    functions: str
