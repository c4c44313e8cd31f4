# Whose is it: the processes of one launch, and who holds a port. A foreign process is never ours.

# own_pids LAUNCH: every living process of the launch but its supervisor. Three proofs, since each has
# a hole: the session (a child may leave it), the marker in the environment (a process title
# overwrites it), and the launch's own log as stdout or stderr.
own_pids() {
    own_dir=$service_dir/launches/$1
    [ "$(cat "$own_dir/boot" 2>/dev/null)" = "$(boot_id)" ] || return 0
    own_supervisor=$(cut -d' ' -f1 "$own_dir/supervisor" 2>/dev/null)
    {
        own_session "$own_dir"
        grep -lzxF "RELIGHT_LAUNCH=$own_dir" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
        # shellcheck disable=SC2010,SC2012  # the links' targets are wanted, not names
        ls -l /proc/[0-9]*/fd/1 /proc/[0-9]*/fd/2 2>/dev/null |
            grep -F -- " -> $own_dir/server.log" | sed -n 's|.* /proc/\([0-9]*\)/fd/[12] -> .*|\1|p'
        launcher_pids "$1"
    } | sort -un | while read -r own_pid; do
        [ "$own_pid" != "${own_supervisor:-0}" ] && [ "$own_pid" != "$$" ] || continue
        start_time "$own_pid" >/dev/null && printf '%s\n' "$own_pid"
    done
    return 0
}

# own_session DIR: members of the session that the supervisor leads. While a session has members, the
# kernel gives its number to no other process; a leader of another start time means that all are gone.
own_session() {
    read -r session session_start _ 2>/dev/null <"$1/supervisor" || return 0
    leader_start=$(start_time "$session" || :)
    [ -z "$leader_start" ] || [ "$leader_start" = "$session_start" ] || return 0
    cat /proc/[0-9]*/stat 2>/dev/null |
        sed -n "s/^\([0-9]*\) (.*) [^Z] [0-9]* [0-9]* $session .*/\1/p"
}

# cpu_ticks LAUNCH: user and system time of the launch's processes, in ticks: work that no log shows.
cpu_ticks() {
    ticks=0
    for ticks_pid in $(own_pids "$1"); do
        stat_line=$(cat "/proc/$ticks_pid/stat" 2>/dev/null) || continue
        stat_line=${stat_line##*) }
        # shellcheck disable=SC2086  # the fields are split on purpose
        set -- $stat_line
        ticks=$((ticks + ${12} + ${13}))
    done
    printf '%s\n' "$ticks"
}

# port_sockets PORT: "INODE UID" of each socket that listens on it, IPv4 and IPv6.
port_sockets() {
    port_hex=$(printf '%04X' "$1")
    grep -hE ":$port_hex [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null |
        while read -r _ _ _ _ _ _ _ socket_uid _ socket_inode _; do
            printf '%s %s\n' "$socket_inode" "$socket_uid"
        done
}

# port_pids PORT: the processes that hold a listening socket there, as far as this user may see.
port_pids() {
    for socket_inode in $(port_sockets "$1" | cut -d' ' -f1); do
        # shellcheck disable=SC2012  # the links' targets are wanted
        ls -l /proc/[0-9]*/fd 2>/dev/null |
            sed -n "/^\/proc\//h; /socket:\[$socket_inode\]\$/{g;s|^/proc/\([0-9]*\)/fd:|\1|p}"
    done | sort -un
}

# describe PID: its number, user and command line on one line, cut short.
describe() {
    printf 'pid %s (%s): %s\n' "$1" "$(stat -c %U "/proc/$1" 2>/dev/null || echo gone)" \
        "$(tr '\0\n\t' '   ' <"/proc/$1/cmdline" 2>/dev/null | cut -c1-200)"
}

# foreign_on_port PORT LAUNCH: describe who holds the port and is not of the launch; fails when nobody is.
foreign_on_port() {
    [ -n "$(port_sockets "$1")" ] || return 1
    ours=" $(own_pids "$2" | tr '\n' ' ') "
    foreign=
    seen=
    for port_pid in $(port_pids "$1"); do
        seen=yes
        case $ours in
            *" $port_pid "*) ;;
            *) foreign="${foreign}$(describe "$port_pid")
" ;;
        esac
    done
    if [ -z "$seen" ]; then
        foreign="a process of user id $(port_sockets "$1" | cut -d' ' -f2 | head -n 1), not visible to $(id -un)
"
    fi
    [ -n "$foreign" ] || return 1
    printf '%s' "$foreign"
}

# gpu_pids: processes with an open GPU device; nvidia-smi cannot name them in many containers.
gpu_pids() {
    # shellcheck disable=SC2012  # the links' targets are wanted
    ls -l /proc/[0-9]*/fd 2>/dev/null |
        sed -n '/^\/proc\//h; /-> \/dev\/nvidia[0-9]/{g;s|^/proc/\([0-9]*\)/fd:|\1|p}' | sort -un
}

free_port() {
    free=${1:-30000}
    while [ -n "$(port_sockets "$free")" ]; do
        free=$((free + 1))
        [ "$free" -lt 65536 ] || die 72 "no free port from ${1:-30000} on"
    done
    printf '%s\n' "$free"
}
