"""The process launcher: a session of its own under setsid; needs nothing but the machine."""

from __future__ import annotations

from relight.core.launcher import Launcher

_FUNCTIONS = """\
# Launcher `process`: a session under setsid. A reboot leaves the service down.
launcher_check() { :; }
launcher_start() {
    setsid -f sh "$0" supervise "$1" </dev/null >/dev/null 2>&1 8>&- 9>&-
}
launcher_detach() {
    setsid -f sh "$0" "$@" </dev/null >/dev/null 2>&1 8>&- 9>&-
}
launcher_pids() { :; }
launcher_no_restart() { :; }
launcher_stopped() { :; }
launcher_keep() { :; }
launcher_forget() { :; }
launcher_restarts() { restarts=0; }
launcher_boot() { :; }
"""

LAUNCHER = Launcher(
    name="process", needs=("setsid", "flock"), survives_reboot=False, functions=_FUNCTIONS
)
