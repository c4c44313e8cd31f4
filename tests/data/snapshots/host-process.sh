#!/bin/sh
# host.sh 1460b9f9f28faadf: what relight does to one service here; shipped by it.
script_hash=1460b9f9f28faadf
launcher_name=process
# Ground of the host script: where it stands, what time it is, who is who, and how files are written.
set -u
umask 077
export LC_ALL=C
newline='
'
case $0 in
    */*) CDPATH='' cd -P -- "${0%/*}/" || exit 70 ;;
    *) CDPATH='' cd -P -- . || exit 70 ;;
esac
service_dir=$PWD
read -r boot </proc/sys/kernel/random/boot_id

# Exit codes of this script: 70 broken ground, 71 no such thing, 72 something is in the way,
# 73 did not stop, 74 cannot write, 75 lock lost, 76 lock held by another.
die() {
    code=$1
    shift
    printf 'relight: %s\n' "$*" >&2
    exit "$code"
}

# clock: sets $now, the seconds since boot: the one clock that nobody sets back.
clock() {
    read -r now _ </proc/uptime
    now=${now%%.*}
}

# pause ROUND: wait a little, longer the longer it takes: what is soon over is soon seen. Adds the
# milliseconds to $waited.
pause() {
    case $1 in
        [01]) set -- 5 0.005 ;;
        [2-4]) set -- 10 0.01 ;;
        [5-9]) set -- 20 0.02 ;;
        1?) set -- 50 0.05 ;;
        *) set -- 200 0.2 ;;
    esac
    waited=$((waited + $1))
    sleep "$2"
}

# await SECONDS CHECK...: until a check holds; fails when that takes longer.
await() {
    await_most=$(($1 * 1000))
    shift
    waited=0
    await_round=0
    until "$@"; do
        [ "$waited" -lt "$await_most" ] || return 1
        pause "$await_round"
        await_round=$((await_round + 1))
    done
}

# read_stat PID: sets $stat_fields, what the kernel says of a process from its state on; fails when it is
# gone. Builtins only: this runs for every process of a launch at every look. All lines are read, since
# a process may have newlines in its name, and brackets.
read_stat() {
    stat_fields=
    {
        while read -r stat_line; do
            stat_fields="$stat_fields$stat_line "
        done <"/proc/$1/stat"
    } 2>/dev/null
    stat_fields=${stat_fields##*) }
    [ -n "$stat_fields" ]
}

# look_at PID: sets $started, when the process began, in ticks since boot; fails for a dead one or a
# zombie.
look_at() {
    read_stat "$1" || return 1
    # shellcheck disable=SC2086  # the fields are split on purpose
    set -- $stat_fields
    [ "$1" != Z ] && [ "$1" != X ] || return 1
    started=${20}
}

# same_process FILE: whether the process that FILE ("PID START BOOT ...") names still lives.
same_process() {
    { read -r id_pid id_start id_boot _ <"$1"; } 2>/dev/null || return 1
    [ "$id_boot" = "$boot" ] && look_at "$id_pid" && [ "$started" = "$id_start" ]
}

# Under a name of its own until it is whole: a heartbeat may write beside a step.
write_line() {
    { printf '%s\n' "$2" >"$1.$$" && mv -f "$1.$$" "$1"; } 2>/dev/null
}

# The reserve is room that a full disk cannot take: it is let go when a write fails, so that the way
# back to known-good can always be written down and walked.
make_reserve() {
    [ -s reserve ] && return 0
    { head -c 1048576 /dev/urandom >reserve.new && mv -f reserve.new reserve; } 2>/dev/null || {
        rm -f reserve.new 2>/dev/null
        die 74 "cannot write in $service_dir (disk full or read-only?)"
    }
}

spend_reserve() {
    [ -e reserve ] && rm -f reserve 2>/dev/null
}

# put FILE TEXT: write one line whole, by rename.
put() {
    write_line "$1" "$2" || { spend_reserve && write_line "$1" "$2"; } ||
        die 74 "cannot write $1 (disk full or read-only?)"
}

# write_identity PID FILE [MORE]
write_identity() {
    look_at "$1" || return 1
    put "$2" "$1 $started $boot${3:+ $3}"
}

# record EVENT [JSON-FIELDS]: one whole line in the ledger; a line that was torn is closed first.
record() {
    read_fence
    record_line="{\"t\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",\"event\":\"$1\",\"fence\":$fence_read${2:+,$2}}"
    append_line || { spend_reserve && append_line; } ||
        die 74 "cannot write the ledger (disk full or read-only?)"
    sync ledger.jsonl 2>/dev/null || :
}

append_line() {
    {
        [ ! -s ledger.jsonl ] || [ -z "$(tail -c 1 ledger.jsonl)" ] || printf '\n' >>ledger.jsonl
        printf '%s\n' "$record_line" >>ledger.jsonl
    } 2>/dev/null
}

# read_fence: sets $fence_read, 0 before the first lock.
read_fence() {
    fence_read=0
    { read -r fence_read <fence; } 2>/dev/null || :
    fence_read=${fence_read:-0}
}

# put_fence FENCE: on the disk before anybody acts under it, so that a power cut never takes it back.
put_fence() {
    put fence "$1"
    sync fence 2>/dev/null || :
}

# enter_mutex: one mutating command at a time; the engine never inherits descriptor 8.
enter_mutex() {
    { command exec 8>>mutex; } 2>/dev/null || die 74 "cannot write in $service_dir (disk full or read-only?)"
    flock -w 600 8 || die 76 "another step of relight has been running here for ten minutes"
}

leave_mutex() {
    exec 8>&-
}

# check_fence FENCE: a writer whose lock was taken over or ran out is refused in the step that writes.
check_fence() {
    read_fence
    [ "$1" = "$fence_read" ] ||
        die 75 "this deploy lost its lock (fence $1, now $fence_read); nothing was changed"
    [ -e lock/held ] ||
        die 75 "this deploy no longer holds its lock (fence $1 ran out); nothing was changed"
    renew_lease
}

# renew_lease: the clock has whole seconds, so that steps in quick succession write it once.
renew_lease() {
    [ -e lock/held ] || return 0
    clock
    renew_read=
    { read -r renew_read <lock/renewed; } 2>/dev/null || :
    [ "$renew_read" = "$now" ] || put lock/renewed "$now"
}

# point NAME RELEASE: switch a link by rename, so that nobody ever sees none.
point() {
    switch_link "$@" || { spend_reserve && switch_link "$@"; } || die 74 "cannot switch $1"
}

switch_link() {
    { ln -sfn "releases/$2" "$1.new" && mv -fT "$1.new" "$1"; } 2>/dev/null
}

# read_link NAME: sets $pointed, the release that a link names, or nothing. Going there spares a readlink;
# one whose release is gone still has its name.
read_link() {
    pointed=
    [ -L "$1" ] || return 0
    if CDPATH='' cd -P -- "./$1" 2>/dev/null; then
        pointed=${PWD##*/}
        cd -- "$service_dir" || exit 70
    else
        pointed=$(readlink "$1" 2>/dev/null) || :
        pointed=${pointed#releases/}
    fi
}

need_release() {
    case $1 in
        '' | */* | .*) die 71 "'$1' is not a release" ;;
    esac
    [ -f "releases/$1/launch.sh" ] || die 71 "there is no release $1 here"
}

# read_last: sets $last_read, the number of the last launch, 0 before the first.
read_last() {
    last_read=0
    { read -r last_read <last-launch; } 2>/dev/null || :
    last_read=${last_read:-0}
}

# first_line FILE: sets $line, empty when there is none.
first_line() {
    line=
    { IFS= read -r line <"$1"; } 2>/dev/null || :
}

# first_word FILE: sets $word, empty when there is none.
first_word() {
    word=
    { read -r word _ <"$1"; } 2>/dev/null || :
}

# Whose is it: the processes of one launch. A foreign process is never ours.

# living PID: sets $living_session and $living_ticks, the session and CPU time of a process; fails for a
# dead one. A process whose main thread has ended reads as a zombie while other threads still hold its
# port and memory: the twentieth field, the number of its threads, tells the two apart.
living() {
    read_stat "$1" || return 1
    # shellcheck disable=SC2086  # the fields are split on purpose
    set -- $stat_fields
    case $1:${18} in
        X:* | Z:0 | Z:1) return 1 ;;
    esac
    living_session=$4
    living_ticks=$((${12} + ${13}))
}

# find_own LAUNCH: sets $own, the living processes of the launch but relight's own two (" PID PID "), and
# $own_ticks, their CPU time. Three proofs, since each has a hole: the session (a child may leave it),
# the marker in the environment (a process title overwrites it), and the launch's log as stdout or
# stderr; a launcher may add a fourth.
find_own() {
    own=' '
    own_ticks=0
    own_dir=$service_dir/launches/$1
    own_boot=
    { read -r own_boot <"$own_dir/boot"; } 2>/dev/null
    [ "$own_boot" = "$boot" ] || return 0
    own_session=0
    { read -r own_session own_leader _ <"$own_dir/supervisor"; } 2>/dev/null
    own_supervisor=$own_session
    # While a session has members, the kernel gives its number to no other process; a leader of
    # another start time means that the session is gone and its number is somebody else's.
    if look_at "$own_session" && [ "$started" != "$own_leader" ]; then
        own_session=0
        own_supervisor=0
    fi
    own_keeper=0
    ! same_process "$own_dir/keeper" || own_keeper=$id_pid
    find_marked "$1"
    # grep leaves few of thousands, by their files' names, which nobody can forge, and lets others
    # through: " SESSION " may be another field.
    own_choice="^($marked_choice) "
    [ "$own_session" = 0 ] || own_choice="$own_choice| $own_session "
    own_files=$(grep -lE "$own_choice" /proc/[0-9]*/stat 2>/dev/null)
    for own_pid in $own_files; do
        own_pid=${own_pid#/proc/}
        own_pid=${own_pid%/stat}
        living "$own_pid" || continue
        [ "$own_pid" != "$own_supervisor" ] && [ "$living_session" != "$own_keeper" ] || continue
        [ "$own_pid" != "$$" ] || continue
        if [ "$living_session" != "$own_session" ] || [ "$own_session" = 0 ]; then
            case $marked in
                *" $own_pid "*) ;;
                *) continue ;;
            esac
        fi
        own="$own$own_pid "
        own_ticks=$((own_ticks + living_ticks))
    done
}

# find_marked LAUNCH: in find_own; sets $marked (" PID PID "), the processes that carry the launch's
# marker or write to its log, and those that its launcher or its adoption knows, and $marked_choice, the
# same as alternatives ("-|PID|PID").
find_marked() {
    marked=' '
    marked_choice=- # never an empty choice
    marked_files=$(grep -lzxF "RELIGHT_LAUNCH=$own_dir" /proc/[0-9]*/environ 2>/dev/null)
    for marked_pid in $marked_files; do
        marked_pid=${marked_pid#/proc/}
        mark "${marked_pid%/environ}"
    done
    # shellcheck disable=SC2010,SC2012  # the links' targets are wanted, not names
    marked_links=$(ls -ln /proc/[0-9]*/fd/1 /proc/[0-9]*/fd/2 2>/dev/null |
        grep -F -- " -> $own_dir/server.log")
    while read -r marked_pid; do
        marked_pid=${marked_pid#* /proc/}
        marked_pid=${marked_pid%%/*}
        case $marked in
            *" $marked_pid "*) ;;
            *) ! writes_log "$marked_pid" || mark "$marked_pid" ;;
        esac
    done <<LINKS
$marked_links
LINKS
    launcher_found=
    launcher_pids "$1"
    adopted_found=
    adopted_pids "$1"
    for marked_pid in $launcher_found $adopted_found; do
        mark "$marked_pid"
    done
}

mark() {
    case $marked in
        *" $1 "*) ;;
        *)
            marked="$marked$1 "
            marked_choice="$marked_choice|$1"
            ;;
    esac
}

# writes_log PID: whether its stdout or stderr is the launch's log, which may have been deleted. Asked of
# the links themselves: the name of a file may look like a line of ls.
writes_log() {
    case $1 in
        '' | *[!0-9]*) return 1 ;;
    esac
    [ ! "/proc/$1/fd/1" -ef "$own_dir/server.log" ] || return 0
    [ ! "/proc/$1/fd/2" -ef "$own_dir/server.log" ] || return 0
    for writes_link in "/proc/$1/fd/1" "/proc/$1/fd/2"; do
        case $(readlink "$writes_link" 2>/dev/null) in
            "$own_dir/server.log"*) return 0 ;;
        esac
    done
    return 1
}

# owns LAUNCH: whether any process of the launch lives.
owns() {
    find_own "$1"
    [ "$own" != ' ' ]
}

# describe PID: its number, user and command line on one line, cut short.
describe() {
    printf 'pid %s (%s): %s\n' "$1" "$(stat -c %U "/proc/$1" 2>/dev/null || echo gone)" \
        "$(tr '\0\n\t' '   ' <"/proc/$1/cmdline" 2>/dev/null | cut -c1-200)"
}

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

# Start of one server, and who stays with it: a supervisor that keeps the exit status.

# new_launch RELEASE: make the folder of the next launch; leaves its number in $launch.
new_launch() {
    read_last
    launch=$((last_read + 1))
    while [ -e "launches/$launch" ]; do
        launch=$((launch + 1))
    done
    make_launch "$launch" "$1" || { spend_reserve && make_launch "$launch" "$1"; } ||
        die 74 "cannot make launches/$launch (disk full or read-only?)"
    put last-launch "$launch"
    point current "$1"
}

# make_launch LAUNCH RELEASE: without renames, since nobody reads it until it is the last.
make_launch() {
    {
        mkdir -p "launches/$1" &&
            : >"launches/$1/server.log" &&
            printf '%s\n' "$2" >"launches/$1/release" &&
            printf '%s\n' "$boot" >"launches/$1/boot"
    } 2>/dev/null
}

# start RELEASE: launch it detached, with a log of its own; prints "LAUNCH PID".
do_start() {
    need_release "$1"
    read_last
    ! owns "$last_read" || die 72 "launch $last_read is still running; stop it first"
    new_launch "$1"
    [ ! -e stopped ] || rm -f stopped
    first_word launcher
    [ "$word" = "$launcher_name" ] || put launcher "$launcher_name"
    record started "\"release\":\"$1\",\"launch\":$launch"
    launcher_start "$launch" || die 72 "the launcher could not start $1"
    await 20 begun "$launch" || die 72 "launch $launch did not begin within 20 s"
    start_pid=
    { read -r start_pid _ <"launches/$launch/pid"; } 2>/dev/null
    printf '%s %s\n' "$launch" "$start_pid"
}

# begun LAUNCH: whether its engine's process is there, or was.
begun() {
    [ -s "launches/$1/pid" ] || [ -s "launches/$1/exit" ]
}

# supervise LAUNCH: run by a launcher as leader of its own session; keeps the exit status, and passes
# on the SIGTERM that a machine sends to everybody as it goes down.
cmd_supervise() {
    supervise_dir=$service_dir/launches/$1
    write_identity "$$" "$supervise_dir/supervisor"
    # A session of its own, so that it is not taken for a process of the engine.
    setsid sh "$0" keep "$1" </dev/null >/dev/null 2>&1 8>&- 9>&- &
    supervise_keeper=$!
    # A shell's background job ignores SIGINT, and so would the engine: give it every default back.
    enter_with=
    ! env --default-signal true 2>/dev/null || enter_with='env --default-signal'
    enter "$1" &
    supervise_engine=$!
    # shellcheck disable=SC2064  # this engine, now
    trap "kill -s TERM $supervise_engine 2>/dev/null" TERM
    trap '' INT HUP
    wait "$supervise_engine"
    supervise_status=$?
    while kill -s 0 "$supervise_engine" 2>/dev/null; do # a trap ended the wait, not the engine
        wait "$supervise_engine"
        supervise_status=$?
    done
    kill "$supervise_keeper" 2>/dev/null
    put "$supervise_dir/exit" "$supervise_status $(date -u +%Y-%m-%dT%H:%M:%SZ)"
}

# enter LAUNCH: in a process of its own: become the engine; its descriptors are the log and nothing else
# of ours.
enter() {
    enter_dir=$service_dir/launches/$1
    read -r enter_release <"$enter_dir/release" || exit 71
    read -r enter_pid _ </proc/self/stat # $$ is still the supervisor's
    write_identity "$enter_pid" "$enter_dir/pid"
    unset LC_ALL # this script's own
    RELIGHT_LAUNCH=$enter_dir
    RELIGHT_SERVICE_DIR=$service_dir
    export RELIGHT_LAUNCH RELIGHT_SERVICE_DIR
    # shellcheck disable=SC2086  # a command and its option, split on purpose
    exec $enter_with sh "$service_dir/releases/$enter_release/launch.sh" \
        </dev/null >>"$enter_dir/server.log" 2>&1 8>&- 9>&-
}

# The limits of a launch's log, in bytes: above log_limit, its first log_head and last log_tail stay.
log_limit=67108864
log_head=1048576
log_tail=16777216

# keep LAUNCH: beside the supervisor, as long as it lives: hold the log within its limit.
cmd_keep() {
    write_identity "$$" "launches/$1/keeper"
    while same_process "launches/$1/supervisor"; do
        trim_log "launches/$1/server.log"
        sleep 5
    done
}

# trim_log FILE: the engine has it open for appending, so it is cut in place; what is written between
# the copy of the tail and the cut is lost, and the log says that something is.
trim_log() {
    log_bytes=$(stat -c %s "$1" 2>/dev/null) || return 0
    [ "$log_bytes" -gt "$log_limit" ] || return 0
    tail -c "$log_tail" "$1" >"$1.tail" 2>/dev/null || : >"$1.tail"
    truncate -s "$log_head" "$1" 2>/dev/null
    {
        printf '\n[relight: the log was longer than %s bytes; its middle was cut]\n' "$log_limit"
        cat "$1.tail"
    } >>"$1" 2>/dev/null
    rm -f "$1.tail"
}

# Stop of one server: done when its whole tree is gone, not when `kill` returns.

signal_main() {
    ! same_process "launches/$2/pid" || kill -s "$1" "$id_pid" 2>/dev/null || :
}

# wait_gone LAUNCH SECONDS: until no process of the launch is left. Children whose main process has
# been gone for three seconds end by themselves or not at all: they are waited for no longer.
wait_gone() {
    alone_since=
    renew_at=0
    gone_round=0
    waited=0
    while [ "$waited" -lt $(($2 * 1000)) ]; do
        if ! same_process "launches/$1/pid"; then
            owns "$1" || return 0
            alone_since=${alone_since:-$waited}
            [ $((waited - alone_since)) -lt 3000 ] || return 1
        fi
        if [ "$waited" -ge "$renew_at" ]; then
            renew_lease
            renew_at=$((waited + 5000))
        fi
        pause "$gone_round"
        gone_round=$((gone_round + 1))
    done
    ! owns "$1"
}

kill_own() {
    kill_rounds=0
    while owns "$1"; do
        kill_rounds=$((kill_rounds + 1))
        [ "$kill_rounds" -le 100 ] || die 73 "still there after SIGKILL:$own"
        # shellcheck disable=SC2086  # process numbers, split on purpose
        kill -s KILL $own 2>/dev/null
        sleep 0.1
    done
}

# stop DRAIN-SECONDS: SIGTERM and the drain, then SIGINT, then SIGKILL of what is provably ours. The mark
# `stopping` stays with the launch: a server that was told to stop is not one that serves.
do_stop() {
    read_last
    stop_launch=$last_read
    if ! owns "$stop_launch"; then
        launcher_stopped "$stop_launch"
        return 0
    fi
    record stopping "\"launch\":$stop_launch"
    put "launches/$stop_launch/stopping" yes
    remember_adopted "$stop_launch"
    stop_gpu=no
    ! uses_gpu || stop_gpu=yes
    launcher_no_restart "$stop_launch"
    how=drained
    signal_main TERM "$stop_launch"
    if ! wait_gone "$stop_launch" "$1"; then
        how=interrupted
        signal_main INT "$stop_launch"
        if ! same_process "launches/$stop_launch/pid" || ! wait_gone "$stop_launch" 5; then
            how=killed
            kill_own "$stop_launch"
        fi
    fi
    launcher_stopped "$stop_launch"
    await 2 supervisor_gone "$stop_launch" || : # it still writes the exit status
    [ "$stop_gpu" = no ] || await_gpu
    record stopped "\"launch\":$stop_launch,\"how\":\"$how\""
}

supervisor_gone() {
    ! same_process "launches/$1/supervisor"
}

# serves LAUNCH: whether its main process lives and was not told to stop.
serves() {
    same_process "launches/$1/pid" && [ ! -e "launches/$1/stopping" ]
}

# Promotion, rollback and pruning: links switched by rename, known-good never taken away.

do_promote() {
    need_release "$1"
    read_link current
    [ "$pointed" = "$1" ] || die 72 "$1 is not the release that runs here"
    read_last
    serves "$last_read" || die 72 "$1 runs no longer"
    promote_event=confirmed
    read_link known-good
    if [ "$pointed" != "$1" ]; then
        promote_event=promoted
        point known-good "$1"
    fi
    record "$promote_event" "\"release\":\"$1\",\"launch\":$last_read"
    keep_running "$last_read"
}

# settle_promotion: write the line of a promotion that lost its power between the link and the ledger.
settle_promotion() {
    read_link known-good
    settle_good=$pointed
    [ -n "$settle_good" ] || return 0
    settle_all=$(sed -n 's/.*"event":"promoted".*"release":"\([^"]*\)".*/\1/p' ledger.jsonl 2>/dev/null)
    [ "${settle_all##*"$newline"}" = "$settle_good" ] ||
        record promoted "\"release\":\"$settle_good\",\"why\":\"found so after an interruption\""
}

# secret_text RELEASE FILE: what its launch reads; releases of an earlier relight read the service's.
secret_text() {
    cat "releases/$1/$2" 2>/dev/null || cat "$2" 2>/dev/null
}

# told_secrets FROM TO: a field for the ledger where TO does not start with the secrets of FROM. All
# that lies in a release beside its two files is secret.
told_secrets() {
    [ -n "$1" ] || return 0
    for secret_file in "releases/$1"/* "releases/$2"/*; do
        secret_file=${secret_file##*/}
        case $secret_file in
            launch.sh | release.json | '*') continue ;;
        esac
        if [ "$(secret_text "$1" "$secret_file")" != "$(secret_text "$2" "$secret_file")" ]; then
            printf ',"not_secrets_of":"%s"' "$1"
            return 0
        fi
    done
}

# rollback DRAIN RELEASE WHY: stop what runs, start stored bytes; prints "LAUNCH PID" of the new start.
do_rollback() {
    read_link known-good
    back_to=${2:-$pointed}
    [ -n "$back_to" ] || die 71 "there is no known-good release to return to"
    need_release "$back_to"
    read_link current
    rolled_from=$pointed
    do_stop "$1"
    rolled_start=$(do_start "$back_to") || exit
    rolled_fields="\"release\":\"$back_to\",\"from\":\"$rolled_from\",\"why\":\"$3\""
    record rolled_back "$rolled_fields$(told_secrets "$rolled_from" "$back_to")"
    printf '%s\n' "$rolled_start"
}

# beyond KEEP FOLDER: what a folder holds beyond the KEEP newest, whose names begin with the highest
# numbers.
beyond() {
    beyond_keep=$1
    set -- "$2"/*
    for beyond_one; do
        printf '%s\n' "${beyond_one#*/}"
    done | sort -rn | tail -n "+$((beyond_keep + 1))"
}

# holds_beyond KEEP FOLDER: whether that is anything.
holds_beyond() {
    beyond_keep=$1
    set -- "$2"/*
    [ $# -gt "$beyond_keep" ]
}

# prune KEEP: old releases and launches beyond KEEP, never current, known-good, or the last launch. A
# release stays as long as a log of it: with its secrets it is known what that log must not show.
do_prune() {
    read_link current
    keep_current=$pointed
    read_link known-good
    keep_good=$pointed
    ! holds_beyond "$1" launches || prune_launches "$1"
    ! holds_beyond "$1" releases || prune_releases "$1"
    for old in releases/.new-*; do # what was cut off while it was written
        [ ! -e "$old" ] || rm -rf -- "$old"
    done
    # An earlier relight kept one set of secrets for all releases; the last one that reads it is gone.
    if [ -e env ] || [ -e flags.yaml ]; then
        grep -q RELIGHT_SERVICE_DIR releases/*/launch.sh 2>/dev/null || rm -f env flags.yaml
    fi
}

prune_launches() {
    good_launch=0
    good_files=$(grep -lxF -- "$keep_good" launches/*/release 2>/dev/null)
    for old in $good_files; do
        old=${old#*/}
        old=${old%%/*}
        [ "$old" -le "$good_launch" ] || good_launch=$old
    done
    read_last
    beyond "$1" launches | while read -r old; do
        if [ "$old" != "$last_read" ] && [ "$old" != "$good_launch" ]; then
            rm -rf -- "launches/$old"
        fi
    done
}

prune_releases() {
    beyond "$1" releases | while read -r old; do
        if [ "$old" != "$keep_current" ] && [ "$old" != "$keep_good" ] &&
            ! grep -qxF -- "$old" launches/*/release 2>/dev/null; then
            rm -rf -- "releases/$old"
        fi
    done
}

# Adoption: a server that somebody started by hand becomes a launch like any other, without a restart.
# Session, marker and log prove nothing of it: it is known by its process and what descends from it.

# family: "PID PARENT SESSION" of every process, one a line.
family() {
    cat /proc/[0-9]*/stat 2>/dev/null |
        sed -n 's/^\([0-9]*\) (.*) [^X] \([0-9]*\) [0-9]* \([0-9]*\) .*/\1 \2 \3/p'
}

# bystander PID: logins, terminals and this script are no server's, whoever started them.
bystander() {
    [ "$1" != 1 ] && [ "$1" != "$$" ] || return 0
    by_name=
    { read -r by_name <"/proc/$1/comm"; } 2>/dev/null
    case $by_name in
        sshd* | login | su | sudo | tmux* | screen* | SCREEN* | systemd* | init | containerd* | dockerd) return 0 ;;
    esac
    by_argv=$(tr '\0' '\n' <"/proc/$1/cmdline" 2>/dev/null | head -n 1)
    case $by_argv in
        -*sh) return 0 ;; # a login shell
    esac
    return 1
}

# grow SESSION: add to $tree (" PID PID ") what descends from its members, and the members of a session
# that is the server's alone (0: none is).
grow() {
    grow_table=$(family)
    grown=yes
    while [ "$grown" = yes ]; do
        grown=no
        while read -r grow_pid grow_parent grow_session; do
            case $tree in
                *" $grow_pid "*) continue ;;
                *" $grow_parent "*) ;;
                *) [ "$1" != 0 ] && [ "$grow_session" = "$1" ] || continue ;;
            esac
            ! bystander "$grow_pid" || continue
            tree="$tree$grow_pid "
            grown=yes
        done <<TABLE
$grow_table
TABLE
    done
}

# claim_session PID: sets $claimed, the session that is the server's alone, else 0. Either it leads the
# session, or its parent does: a shell without a terminal that started nothing else.
claim_session() {
    claimed=0
    claim_stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    # shellcheck disable=SC2086  # the fields are split on purpose
    set -- "$1" ${claim_stat##*) }
    if [ "$5" = "$1" ]; then
        claimed=$1
        return 0
    fi
    [ "$3" = "$5" ] && [ "$6" = 0 ] && ! bystander "$3" || return 0
    claim_name=
    { read -r claim_name <"/proc/$3/comm"; } 2>/dev/null
    case $claim_name in
        sh | bash | dash | ash | ksh | zsh | busybox) ;;
        *) return 0 ;;
    esac
    tree=" $1 "
    grow 0
    while read -r claim_pid claim_parent claim_session; do
        case $tree in
            *" $claim_pid "*) continue ;;
        esac
        [ "$claim_pid" != "$3" ] || continue
        [ "$claim_parent" != "$3" ] && [ "$claim_session" != "$3" ] || return 0
    done <<TABLE
$grow_table
TABLE
    claimed=$3
}

# adopted_pids LAUNCH: in find_own; sets $adopted_found, the living processes of an adopted launch. Only
# those that are known with their start time prove anything; the others follow from them.
adopted_pids() {
    [ -s "launches/$1/adopted" ] || return 0
    tree=' '
    while read -r adopted_pid adopted_start; do
        if look_at "$adopted_pid" && [ "$started" = "$adopted_start" ]; then
            tree="$tree$adopted_pid "
        fi
    done <"launches/$1/adopted"
    [ "$tree" != ' ' ] || return 0
    claimed=0
    claimed_start=0
    { read -r claimed claimed_start <"launches/$1/session"; } 2>/dev/null
    if look_at "$claimed" && [ "$started" != "$claimed_start" ]; then
        claimed=0
    fi
    grow "$claimed"
    adopted_found=$tree
}

# remember_adopted LAUNCH: after find_own; keep its processes with their start times, so that children
# are still known when their parent is gone.
remember_adopted() {
    [ -e "launches/$1/adopted" ] || return 0
    adopted_lines=
    for adopted_pid in $own; do
        ! look_at "$adopted_pid" || adopted_lines="$adopted_lines$adopted_pid $started
"
    done
    put "launches/$1/adopted" "${adopted_lines%?}"
}

# adopted_log PID LAUNCH: its log is where it writes to; a terminal or a pipe keeps none.
adopted_log() {
    for adopted_fd in 1 2; do
        adopted_file=$(readlink "/proc/$1/fd/$adopted_fd" 2>/dev/null) || continue
        if [ -f "$adopted_file" ]; then
            ln -sfn -- "$adopted_file" "launches/$2/server.log"
            return 0
        fi
    done
    put "launches/$2/server.log" "[relight: adopted; it writes to no file, so its words are not kept]"
}

# adopt RELEASE PID START PORT: a running process becomes the launch of a release, which is known-good
# from now on; prints the launch.
do_adopt() {
    need_release "$1"
    read_last
    ! owns "$last_read" || die 72 "launch $last_read runs here already: it is relight's own"
    look_at "$2" && [ "$started" = "$3" ] || die 72 "process $2 is gone"
    claim_session "$2"
    tree=" $2 "
    grow "$claimed"
    own=$tree
    own_on_port "$4" || die 72 "port $4 is not held by process $2 and its children alone"
    new_launch "$1"
    : >"launches/$launch/adopted"
    remember_adopted "$launch"
    if [ "$claimed" != 0 ] && look_at "$claimed"; then
        put "launches/$launch/session" "$claimed $started"
    fi
    adopted_log "$2" "$launch"
    point known-good "$1"
    rm -f stopped
    put launcher "$launcher_name"
    write_identity "$2" "launches/$launch/pid" || die 72 "process $2 is gone"
    record adopted "\"release\":\"$1\",\"launch\":$launch,\"pid\":$2"
    record promoted "\"release\":\"$1\",\"launch\":$launch"
    printf '%s\n' "$launch"
}

# keep_running LAUNCH: what the launcher started may come back by itself from now on. Of an adopted server
# it knows nothing: told to keep it, it would start a second one.
keep_running() {
    [ -e "launches/$1/adopted" ] || launcher_keep "$1"
}

# The lock of a service: held by a process on the host under a lease, so that it goes with its holder.

# lock LEASE-SECONDS HOLDER-JSON: take it; prints the new fence. The holder is a process of its own that
# owns descriptor 9, and ends when the lease is not renewed, the lock is given back or the fence moves on.
do_lock() {
    [ -d lock/new ] || mkdir -p lock/new 2>/dev/null ||
        die 74 "cannot write in $service_dir (disk full or read-only?)"
    { command exec 9>>lock/flock; } 2>/dev/null ||
        die 74 "cannot write in $service_dir (disk full or read-only?)"
    # Without lock/held its holder is on its way out, within a second.
    if ! flock -n 9 && { [ -e lock/held ] || ! flock -w 3 9; }; then
        exec 9>&-
        head -n 1 lock/holder 2>/dev/null
        exit 76
    fi
    make_reserve
    same_launcher
    launcher_check
    read_fence
    fence=$((fence_read + 1))
    clock
    write_lock "$1" "$2" || { spend_reserve && write_lock "$1" "$2"; } ||
        die 74 "cannot write the lock (disk full or read-only?)"
    inherit_deadman "$fence"
    put_fence "$fence"
    settle_promotion
    record locked "\"holder\":$2"
    setsid -f sh "$0" hold "$fence" "$1" </dev/null >/dev/null 2>&1 8>&-
    await 10 holds "$fence" || die 72 "the holder of the lock did not begin within 10 s"
    exec 9>&-
    printf '%s\n' "$fence"
}

# write_lock LEASE HOLDER: its files, each whole by rename; lock/held last, since it is what holds.
write_lock() {
    {
        printf '%s\n' "$now" >lock/new/renewed &&
            printf '%s\n' "$1" >lock/new/lease &&
            printf '%s\n' "$2" >lock/new/holder &&
            printf '%s\n' "$fence" >lock/new/held &&
            mv -f lock/new/renewed lock/new/lease lock/new/holder lock/new/held lock
    } 2>/dev/null
}

# same_launcher: what another launcher started is not ours to find, stop or keep away.
same_launcher() {
    { read -r other_launcher <launcher; } 2>/dev/null || return 0
    [ "$other_launcher" = "$launcher_name" ] || die 72 \
        "this service was started by the launcher $other_launcher, not $launcher_name: run \`stop\` with the old one first"
}

# holds FENCE: whether the holder of that fence lives.
holds() {
    same_process lock/pid && read -r _ _ _ held_fence <lock/pid && [ "$held_fence" = "$1" ]
}

cmd_hold() {
    write_identity "$$" lock/pid "$1"
    while [ -e lock/held ] && read_fence && [ "$fence_read" = "$1" ]; do
        if lease_lost; then
            expire_lease "$1"
        fi
        # Whoever killed the dead-man's process did not disarm it.
        [ ! -e deadman ] || guarded || (start_guard) 9>&-
        sleep 1 9>&-
    done
}

# lease_lost: whether the holder gave the lock back or was not heard of for longer than its lease.
lease_lost() {
    [ -e lock/held ] || return 0
    renewed=0
    lease=60
    { read -r renewed <lock/renewed; } 2>/dev/null
    { read -r lease <lock/lease; } 2>/dev/null
    clock
    [ $((now - renewed)) -gt "$lease" ]
}

# expire_lease FENCE: unless a step runs at this moment, which renews the lease at its end or soon after.
expire_lease() {
    { command exec 8>>mutex; } 2>/dev/null || return 0
    if flock -n 8 && read_fence && [ "$fence_read" = "$1" ] && lease_lost && [ -e lock/held ]; then
        rm -f lock/held
        record lease_expired
    fi
    leave_mutex
}

do_unlock() {
    rm -f lock/held
    if same_process lock/pid; then
        kill "$id_pid" 2>/dev/null || :
    fi
    record unlocked
}

# finish: give the lock back unless this deploy has begun something that it neither confirmed nor undid;
# prints `settled`, `begun` (nothing is changed then) or `untouched`. A dead-man that is armed though nothing
# was begun is a dead deploy's: unlocking lets it act.
do_finish() {
    read_fence
    finish_came=untouched
    for finish_event in $(tail -n 400 ledger.jsonl 2>/dev/null |
        sed -n "s/^{\"t\":\"[^\"]*\",\"event\":\"\([a-z_]*\)\",\"fence\":${fence_read}[,}].*/\1/p"); do
        case $finish_event in
            promoted | confirmed | kept | rolled_back)
                finish_came=settled
                break
                ;;
            stopping | started) finish_came=begun ;;
        esac
    done
    [ "$finish_came" != settled ] || do_disarm
    [ "$finish_came" = begun ] || do_unlock
    printf '%s\n' "$finish_came"
}

# read_lock: sets $lock_state, held or free.
read_lock() {
    lock_state=free
    [ -e lock/held ] || return 0
    read_fence
    ! holds "$fence_read" || lock_state=held
}

# end_lock: what a deploy before a reboot held and armed is void; its controller is refused from now on.
end_lock() {
    rm -f deadman
    [ -e lock/held ] || return 0
    read_fence
    put_fence $((fence_read + 1))
    rm -f lock/held
}

# The dead-man: when the controller falls silent or takes too long, the host itself returns to known-good.

# arm SECONDS: due that many seconds from now, or as soon as the lease is lost; arming again moves it.
do_arm() {
    clock
    read_fence
    put deadman "$fence_read $((now + $1)) $boot"
    guarded || start_guard
}

guarded() {
    same_process deadman.pid
}

start_guard() {
    launcher_detach guard
    await 10 guarded || die 72 "the dead-man did not begin within 10 s"
}

# disarm: the guard goes with what it guards, so that nothing changes here after a deploy has ended.
do_disarm() {
    [ -e deadman ] || [ -e deadman.pid ] || return 0
    disarm_guard=
    ! guarded || disarm_guard=$id_pid
    rm -f deadman deadman.pid
    [ -z "$disarm_guard" ] || kill "$disarm_guard" 2>/dev/null || :
}

# read_deadman: sets $armed_fence, $due and $armed_boot; fails when none is armed.
read_deadman() {
    { read -r armed_fence due armed_boot <deadman; } 2>/dev/null
}

# inherit_deadman FENCE: an armed dead-man passes to the next holder of the lock with its deadline, so
# that a deploy which begins where another died cannot leave the host dark either.
inherit_deadman() {
    read_deadman || return 0
    if [ "$armed_boot" != "$boot" ]; then
        rm -f deadman
        return 0
    fi
    put deadman "$1 $due $boot"
    guarded || start_guard
}

# deadman_stands: sets $deadman_state: none, stale, or armed and in how many seconds it is due.
deadman_stands() {
    deadman_state=none
    read_deadman || return 0
    read_fence
    if [ "$armed_boot" != "$boot" ] || [ "$armed_fence" -lt "$fence_read" ]; then
        deadman_state=stale
    else
        clock
        deadman_state="armed $((due - now))"
    fi
}

# guard: the process that fires. It leaves only under the mutex, so that `arm` never counts on one
# that is about to go, and tries again when firing fails.
cmd_guard() {
    write_identity "$$" deadman.pid
    trap '' HUP INT
    while :; do
        if ! on_guard; then
            enter_mutex
            if ! on_guard; then
                rm -f deadman.pid
                exit 0
            fi
            leave_mutex
        elif overdue; then
            (fire) || sleep 4
        fi
        sleep 1
    done
}

on_guard() {
    read_deadman && read_fence && [ "$armed_boot" = "$boot" ] && [ "$armed_fence" -ge "$fence_read" ]
}

overdue() {
    lease_lost && return 0
    clock
    [ "$now" -ge "$due" ]
}

# fire: take the fence first, so that a controller that comes back late is refused. The dead-man stays
# armed under the new fence until the work is done: whatever ends this half-way, the next round goes on.
fire() {
    enter_mutex
    if ! on_guard || ! overdue; then
        return 0
    fi
    fire_why="its deadline passed"
    ! lease_lost || fire_why="the controller fell silent"
    read_fence
    fire_fence=$((fence_read + 1))
    clock
    put deadman "$fire_fence $now $boot"
    put_fence "$fire_fence"
    rm -f lock/held
    settle_promotion
    read_link current
    fire_current=$pointed
    record deadman_fired "\"release\":\"$fire_current\",\"why\":\"$fire_why\""
    read_last
    fire_launch=$last_read
    read_link known-good
    fire_good=$pointed
    if [ -z "$fire_good" ]; then
        fire_unconfirmed
    elif [ "$fire_current" = "$fire_good" ] && serves "$fire_launch"; then
        keep_running "$fire_launch"
        record kept "\"release\":\"$fire_good\",\"why\":\"it is the known-good and runs\""
    else
        do_rollback 5 "$fire_good" deadman >/dev/null
        read_last
        launcher_keep "$last_read"
    fi
    rm -f deadman
}

# fire_unconfirmed: a first deploy has nothing to return to. What listens on its port is left to be
# confirmed by the next deploy; what does not is no server, and holds GPUs for nothing.
fire_unconfirmed() {
    fire_port=$(sed -n 's/^ *"port": *\([0-9]*\),*$/\1/p' current/release.json 2>/dev/null | head -n 1)
    find_own "$fire_launch"
    if serves "$fire_launch" && own_on_port "${fire_port:-0}"; then
        record left_unconfirmed "\"release\":\"$fire_current\",\"why\":\"no known-good\""
    else
        do_stop 5
        record gave_up "\"release\":\"$fire_current\",\"why\":\"no known-good, and it did not serve\""
    fi
}

# What is the state here: one answer for the controller, one fact a line.

cmd_status() {
    read_last
    status_launch=$last_read
    find_own "$status_launch"
    clock
    read_fence
    printf 'script=%s\nboot=%s\nuptime=%s\nnow=%s\ndir=%s\nfence=%s\n' \
        "$script_hash" "$boot" "$now" "$(date +%s)" "$service_dir" "$fence_read"
    read_link current
    printf 'current=%s\n' "$pointed"
    read_link known-good
    printf 'known_good=%s\nreleases=' "$pointed"
    for status_release in releases/*; do
        [ ! -d "$status_release" ] || printf '%s ' "${status_release#releases/}"
    done
    printf '\nlaunch=%s\n' "$status_launch"
    if [ "$status_launch" != 0 ]; then
        # A word that a file does not hold is nothing.
        first_word "launches/$status_launch/release"
        printf 'launch_release=%s\n' "$word"
        look_at_files "$status_launch"
        printf 'since=%s\n' "$since"
        first_word "launches/$status_launch/exit"
        printf 'exit=%s\n' "$word"
        first_word "launches/$status_launch/pid"
        printf 'pid=%s\npids=%s\nlog_bytes=%s\n' "$word" "$own" "$log_size"
        [ ! -e "launches/$status_launch/stopping" ] || printf 'stopping=yes\n'
    fi
    server_stands "$status_launch"
    launcher_restarts
    read_lock
    first_line lock/holder
    first_word lock/renewed
    deadman_stands
    read_free
    printf 'state=%s\nrestarts=%s\nlock=%s\nholder=%s\nrenewed=%s\ndeadman=%s\nfree_kb=%s\n' \
        "$server_state" "$restarts" "$lock_state" "$line" "$word" "$deadman_state" "$free_kb"
    if [ "${1:-0}" != 0 ]; then
        find_port "$1"
        print_port
    fi
    if [ -L current ]; then
        printf 'release_json:\n'
        cat current/release.json 2>/dev/null
        printf '\n'
    fi
    printf 'ledger:\n'
    [ ! -r ledger.jsonl ] || exec tail -n 400 ledger.jsonl 2>/dev/null
    exit 0
}

# look_at_files LAUNCH: sets $since, when it was begun, in epoch seconds, and $log_size, its log's bytes;
# empty for what is not there.
look_at_files() {
    since=
    log_size=
    for files_word in $(stat -Lc '%Y:%s:%n' "launches/$1/release" "launches/$1/server.log" 2>/dev/null); do
        case $files_word in
            *:launches/*/release) since=${files_word%%:*} ;;
            *:launches/*/server.log)
                log_size=${files_word#*:}
                log_size=${log_size%%:*}
                ;;
        esac
    done
}

# read_free: sets $free_kb, what a user may still write here; df would look through all mounts for it.
read_free() {
    free_kb=
    # shellcheck disable=SC2046  # two numbers, split on purpose
    set -- $(stat -fc '%a %S' . 2>/dev/null)
    [ $# -lt 2 ] || free_kb=$(($1 * $2 / 1024))
}

print_port() {
    printf 'port_pids=%s\n' "$port_pids"
    while [ -n "$foreign" ]; do
        printf 'foreign=%s\n' "${foreign%%"$newline"*}"
        foreign=${foreign#*"$newline"}
    done
}

# server_stands LAUNCH: sets $server_state: none, running, exited, stopped (asked for), rebooted, or lost
# (gone without a status).
server_stands() {
    if [ "$1" = 0 ]; then
        server_state=none
    elif same_process "launches/$1/pid"; then
        server_state=running
    elif [ -e stopped ]; then
        server_state=stopped
    else
        first_word "launches/$1/boot"
        if [ "$word" != "$boot" ]; then
            server_state=rebooted
        elif [ -s "launches/$1/exit" ]; then
            server_state=exited
        else
            server_state=lost
        fi
    fi
}

# pulse LAUNCH FENCE PORT: one look while a start is watched, and the lease renewed on the way. A fence of
# 0 says that the lock is lost.
cmd_pulse() {
    pulse_fence=0
    read_fence
    if [ "$2" = "$fence_read" ] && [ -e lock/held ]; then
        pulse_fence=$2
        renew_lease
    fi
    find_own "$1"
    find_port "$3"
    server_stands "$1"
    look_at_files "$1"
    first_word "launches/$1/exit"
    printf 'fence=%s\nstate=%s\nexit=%s\npids=%s\nticks=%s\nlog_bytes=%s\n' \
        "$pulse_fence" "$server_state" "$word" "$own" "$own_ticks" "$log_size"
    print_port
    return 0
}

# follow LAUNCH OFFSET: the log from a byte on, until the launch has ended.
cmd_follow() {
    if same_process "launches/$1/supervisor" ||
        { [ -e "launches/$1/adopted" ] && same_process "launches/$1/pid"; }; then
        exec tail -c "+$(($2 + 1))" -s 0.2 --pid="$id_pid" -f "launches/$1/server.log"
    fi
    exec tail -c "+$(($2 + 1))" "launches/$1/server.log"
}

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

# The commands. Those that change anything take the mutex and name the fence that they hold.
command=${1:-status}
[ $# -eq 0 ] || shift
case $command in
    status) cmd_status "${1:-0}" ;;
    pulse) cmd_pulse "$1" "$2" "$3" ;;
    follow) cmd_follow "$1" "$2" ;;
    free-port) free_port "${1:-30000}" ;;
    supervise) cmd_supervise "$1" ;;
    keep) cmd_keep "$1" ;;
    hold) cmd_hold "$1" "$2" ;;
    guard) cmd_guard ;;
    boot) launcher_boot ;;
    lock)
        enter_mutex
        do_lock "$1" "$2"
        leave_mutex
        [ -z "${3:-}" ] || cmd_status "$3"
        ;;
    # Without the mutex: a heartbeat must not wait for a long step. Checking the fence renews the lease.
    renew) check_fence "$1" ;;
    record | unlock | finish | arm | disarm | start | stop | promote | confirm | rollback | prune | quit | adopt)
        enter_mutex
        check_fence "$1"
        shift
        case $command in
            record) record "$1" "${2:-}" ;;
            unlock) do_unlock ;;
            finish) do_finish ;;
            arm) do_arm "$1" ;;
            disarm) do_disarm ;;
            start) do_start "$1" ;;
            stop) # DRAIN [DEADMAN PORT]: armed first; afterwards, who holds the port
                how=
                [ -z "${2:-}" ] || do_arm "$2"
                do_stop "$1"
                leave_mutex
                printf '%s\n' "$how"
                if [ -n "${3:-}" ]; then
                    find_port "$3" # nothing is left of the launch: whoever it is, is another
                    print_port
                fi
                ;;
            quit)
                put stopped yes
                launcher_forget
                how=
                do_stop "$1"
                rm -f launcher
                printf '%s\n' "$how"
                ;;
            promote) do_promote "$1" ;;
            confirm) # RELEASE KEEP [let-go]
                do_promote "$1"
                do_disarm
                do_prune "$2"
                [ -z "${3:-}" ] || do_unlock
                ;;
            rollback) do_rollback "$1" "${2:-}" "${3:-operator}" ;;
            prune) do_prune "$1" ;;
            adopt) do_adopt "$1" "$2" "$3" "$4" ;;
        esac
        ;;
    *) die 64 "unknown command $command" ;;
esac
