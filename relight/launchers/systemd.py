"""The systemd launcher: a unit a service; known-good comes back after a failure and a reboot.

One unit name. While a candidate runs, a drop-in under /run takes away the restart and points at
that one launch; a reboot forgets it, so that the enabled unit starts known-good. Promotion removes
the drop-in; the running process stays the unit's main process (systemd.unit(5): /run is emptied
at boot; a reload does not touch running processes). The unit's main process is the supervisor,
which ends in success whatever the engine's status was: SGLang 0.5.10 ends a clean SIGTERM by
SIGKILL of its own tree, so a status says nothing of whether a restart is wanted.
"""

from __future__ import annotations

from relight.core.launcher import Launcher

_FUNCTIONS = """\
# Launcher `systemd`: the system's manager for root, else the user's own (which needs lingering).
unit_uid=
while [ -z "$unit_uid" ] && read -r unit_field _ unit_value _; do
    [ "$unit_field" != Uid: ] || unit_uid=$unit_value # the effective one
done </proc/self/status
case $service_dir in
    */.relight/*) unit_base=relight-${service_dir##*/} ;;
    *) unit_base=relight-${service_dir##*/}-$(printf '%s' "$service_dir" | cksum | cut -d' ' -f1) ;;
esac
unit=$unit_base.service
if [ "$unit_uid" = 0 ]; then
    unit_scope=--system
    unit_etc=/etc/systemd/system
    unit_run=/run/systemd/system
    unit_target=multi-user.target
    unit_slice=/system.slice
else
    XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/run/user/$unit_uid}
    export XDG_RUNTIME_DIR
    unit_scope=--user
    unit_etc=${XDG_CONFIG_HOME:-${HOME:-}/.config}/systemd/user
    unit_run=$XDG_RUNTIME_DIR/systemd/user
    unit_target=default.target
    unit_slice=/user.slice/user-$unit_uid.slice/user@$unit_uid.service/app.slice
fi

# unit_word TEXT: quoted as systemd.syntax(7) wants it; in Exec lines a dollar is doubled as well.
unit_word() {
    printf '"%s"' "$(printf '%s' "$1" | sed 's/\\\\/&&/g; s/"/\\\\"/g; s/%/%%/g')"
}

# name_user: sets $unit_user; few commands need it.
name_user() {
    unit_user=$(id -un)
}

unit_control() {
    systemctl "$unit_scope" --no-ask-password "$@" 8>&- 9>&-
}

# unit_write FILE: a unit file from stdin, whole, by rename.
unit_write() {
    if ! { mkdir -p "${1%/*}" && cat >"$1.new" && chmod 644 "$1.new" && mv -f "$1.new" "$1"; }; then
        die 74 "cannot write $1"
    fi
}

# A service of systemd has none of a login's environment, and the engine looks for its caches under
# HOME and for compilers on PATH: it gets what it would have had under the launcher `process`.
unit_text() {
    name_user
    cat <<UNIT
# Written by relight for $service_dir; inv stop takes it out of service.
[Unit]
Description=relight service ${service_dir##*/}
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=3600
StartLimitBurst=5

[Service]
Environment=$(unit_word "HOME=${HOME:-}")
Environment=$(unit_word "USER=$unit_user") $(unit_word "LOGNAME=$unit_user")
Environment=$(unit_word "PATH=$PATH")
ExecStart=/bin/sh $(unit_word "$service_dir/host.sh" | sed 's/[$]/$$/g') boot
Restart=always
RestartSec=5
KillMode=mixed
TimeoutStopSec=30
TasksMax=infinity
LimitNOFILE=1048576
OOMPolicy=continue

[Install]
WantedBy=$unit_target
UNIT
}

launcher_check() {
    name_user
    if [ "$unit_uid" != 0 ] && [ ! -e "/var/lib/systemd/linger/$unit_user" ]; then
        die 72 "without lingering the server would end with this login: let root run" \\
            "\\`loginctl enable-linger $unit_user\\`, or use the launcher process"
    fi
    unit_control show-environment >/dev/null || die 72 "systemd does not answer to $unit_user"
}

launcher_start() {
    [ -e "$unit_etc/$unit" ] || unit_text | unit_write "$unit_run/$unit"
    rm -f "$unit_run/$unit.d/stopping.conf"
    unit_write "$unit_run/$unit.d/candidate.conf" <<UNIT
# A launch that is not promoted: it never comes back by itself.
[Service]
ExecStart=
ExecStart=/bin/sh $(unit_word "$service_dir/host.sh" | sed 's/[$]/$$/g') supervise $1
Restart=no
UNIT
    unit_control daemon-reload
    unit_control reset-failed "$unit" 2>/dev/null || :
    unit_control start "$unit"
}

launcher_detach() {
    clock
    systemd-run "$unit_scope" --quiet --collect --unit="$unit_base-$1-$now-$$" \\
        --property=Restart=on-failure --property=RestartSec=2 --property=StartLimitIntervalSec=0 \\
        --setenv="HOME=${HOME:-}" --setenv="PATH=$PATH" \\
        /bin/sh "$service_dir/host.sh" "$@" 8>&- 9>&-
}

# The unit's own place first: asking systemd costs ten times as much.
launcher_pids() {
    unit_found=
    for unit_tree in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
        [ -d "$unit_tree$unit_slice" ] || continue
        unit_found=yes
        unit_members "$unit_tree$unit_slice/$unit/cgroup.procs"
    done
    [ -z "$unit_found" ] || return 0
    unit_group=$(unit_control show -p ControlGroup --value "$unit" 2>/dev/null)
    [ -z "$unit_group" ] || unit_members "/sys/fs/cgroup$unit_group/cgroup.procs"
}

unit_members() {
    {
        while read -r unit_pid; do
            launcher_found="$launcher_found$unit_pid "
        done <"$1"
    } 2>/dev/null || :
}

launcher_no_restart() {
    unit_write "$unit_run/$unit.d/stopping.conf" <<UNIT
# It is being stopped on purpose.
[Service]
Restart=no
UNIT
    unit_control daemon-reload
}

launcher_stopped() {
    unit_control stop "$unit" 2>/dev/null || :
    unit_control reset-failed "$unit" 2>/dev/null || :
}

launcher_keep() {
    unit_text | unit_write "$unit_etc/$unit"
    rm -f "$unit_run/$unit.d/candidate.conf" "$unit_run/$unit.d/stopping.conf" "$unit_run/$unit"
    unit_control daemon-reload
    unit_control enable --quiet "$unit"
    # What ended a moment ago was still a candidate, and was not started again.
    unit_control is-active --quiet "$unit" || unit_control start --no-block "$unit"
}

launcher_forget() {
    unit_control disable --quiet "$unit" 2>/dev/null || :
}

launcher_restarts() {
    restarts=0
    [ -e "$unit_etc/$unit" ] || return 0
    restarts=$(unit_control show -p NRestarts --value "$unit" 2>/dev/null) || restarts=0
}

# boot: what the enabled unit runs, at a boot and after a failure: known-good, in a new launch.
launcher_boot() {
    [ ! -e stopped ] || exit 0
    enter_mutex
    read_link known-good
    boot_release=$pointed
    [ -n "$boot_release" ] || exit 0
    boot_why="it ended"
    read_last
    first_word "launches/$last_read/boot"
    if [ "$word" != "$boot" ]; then
        boot_why="the host was rebooted"
        end_lock
    fi
    settle_promotion
    read_link current
    boot_secrets=$(told_secrets "$pointed" "$boot_release")
    new_launch "$boot_release"
    boot_fields="\\"release\\":\\"$boot_release\\",\\"launch\\":$launch"
    record restarted "$boot_fields,\\"why\\":\\"$boot_why\\"$boot_secrets"
    leave_mutex
    exec sh "$service_dir/host.sh" supervise "$launch"
}
"""

LAUNCHER = Launcher(
    name="systemd",
    needs=("flock", "systemctl", "systemd-run"),
    survives_reboot=True,
    functions=_FUNCTIONS,
)
