# Who holds a port, and whether the GPUs that a launch used are free again.

# find_sockets PORT: sets $sockets, "INODE:UID " of each socket that listens on it, IPv4 and IPv6.
find_sockets() {
    sockets=
    hex_of "$1"
    socket_lines=$(grep -hE ":$hex [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null) || return 0
    while read -r _ _ _ _ _ _ _ socket_uid _ socket_inode _; do
        sockets="$sockets$socket_inode:$socket_uid "
    done <<SOCKETS
$socket_lines
SOCKETS
}

# hex_of NUMBER: sets $hex, its four last hexadecimal digits.
hex_of() {
    hex=
    hex_rest=$1
    while [ "${#hex}" -lt 4 ]; do
        case $((hex_rest % 16)) in
            10) hex=A$hex ;;
            11) hex=B$hex ;;
            12) hex=C$hex ;;
            13) hex=D$hex ;;
            14) hex=E$hex ;;
            15) hex=F$hex ;;
            *) hex=$((hex_rest % 16))$hex ;;
        esac
        hex_rest=$((hex_rest / 16))
    done
}

# socket_pids INODE FOLDER...: the processes with that socket, of those whose /proc/PID/fd is given.
# The last folder is nobody's: with one alone ls would print no name above its lines.
socket_pids() {
    socket=$1
    shift
    # shellcheck disable=SC2012  # the links' targets are wanted
    ls -ln "$@" /proc/self/fd 2>/dev/null |
        sed -n "/^\/proc\//h; /socket:\[$socket\]\$/{g;s|^/proc/\([0-9]*\)/fd:|\1|p}"
}

# find_port PORT: after find_own; sets $port_pids, who listens there as far as this user may see, and
# $foreign, who of them is not of the launch, a line each. A server asks about its own port every few
# seconds: its own processes are looked through first, all others only when that leaves a socket open.
find_port() {
    port_pids=
    foreign=
    find_sockets "$1"
    for socket_line in $sockets; do
        set --
        for port_own in $own; do
            set -- "$@" "/proc/$port_own/fd"
        done
        socket_holders=
        [ $# -eq 0 ] || socket_holders=$(socket_pids "${socket_line%:*}" "$@")
        [ -n "$socket_holders" ] || socket_holders=$(socket_pids "${socket_line%:*}" /proc/[0-9]*/fd)
        if [ -z "$socket_holders" ]; then
            foreign="${foreign}a process of user id ${socket_line#*:}, not visible to $(id -un)
"
        fi
        for port_pid in $socket_holders; do
            port_pids="$port_pids$port_pid "
            case $own in
                *" $port_pid "*) ;;
                *) foreign="$foreign$(describe "$port_pid")
" ;;
            esac
        done
    done
}

# own_on_port PORT: after find_own; whether the launch listens there and nobody else does.
own_on_port() {
    find_port "$1"
    [ -n "$port_pids" ] && [ -z "$foreign" ]
}

# uses_gpu: after find_own; whether the launch has a GPU open. nvidia-smi cannot name processes in many
# containers, /proc can.
uses_gpu() {
    set --
    for gpu_own in $own; do
        set -- "$@" "/proc/$gpu_own/fd"
    done
    # shellcheck disable=SC2010  # the links' targets are wanted
    [ $# -gt 0 ] && ls -ln "$@" 2>/dev/null | grep -q -e '-> /dev/nvidia[0-9]'
}

# await_gpu: a driver gives memory back a moment after the process is gone: until two readings agree.
await_gpu() {
    command -v nvidia-smi >/dev/null 2>&1 || return 0
    gpu_before=
    gpu_rounds=0
    while [ "$gpu_rounds" -lt 20 ]; do
        gpu_used=$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null)
        [ "$gpu_used" != "$gpu_before" ] || return 0
        gpu_before=$gpu_used
        gpu_rounds=$((gpu_rounds + 1))
        sleep 0.5
    done
}

free_port() {
    free=${1:-30000}
    while find_sockets "$free" && [ -n "$sockets" ]; do
        free=$((free + 1))
        [ "$free" -lt 65536 ] || die 72 "no free port from ${1:-30000} on"
    done
    printf '%s\n' "$free"
}
