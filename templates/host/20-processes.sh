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
