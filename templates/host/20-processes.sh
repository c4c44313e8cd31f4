# Whose is it: the processes of one launch. A foreign process is never ours.

# processes SESSION PID...: "PID SESSION UTIME STIME" of every living process of the session, and of those
# that are named, one a line; grep may let others through, and spares sed most of them. A process whose
# main thread has ended reads as a zombie while other threads still hold its port and memory: the
# twentieth field, the number of its threads, tells the two apart.
processes() (
    of_session=$1
    shift
    set -- - "$@" # never an empty choice
    IFS='|'
    cat /proc/[0-9]*/stat 2>/dev/null |
        grep -E "^($*) | $of_session " |
        sed -n -e '/^[0-9]* (.*) Z \([-0-9]* \)\{16\}[01] /d' -e 's/^\([0-9]*\) (.*) [^X] [0-9]* [0-9]* \([0-9]*\) \([-0-9]* \)\{7\}\([0-9]*\) \([0-9]*\) .*/\1 \2 \4 \5/p'
)

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
    own_marked=" $(marked_pids "$1" | tr '\n' ' ') "
    # shellcheck disable=SC2086  # process numbers, split on purpose
    own_table=$(processes "$own_session" $own_marked)
    while read -r own_pid own_member own_user own_kernel; do
        [ -n "$own_pid" ] || continue # nobody at all
        [ "$own_pid" != "$own_supervisor" ] && [ "$own_member" != "$own_keeper" ] || continue
        [ "$own_pid" != "$$" ] || continue
        if [ "$own_member" != "$own_session" ] || [ "$own_session" = 0 ]; then
            case $own_marked in
                *" $own_pid "*) ;;
                *) continue ;;
            esac
        fi
        own="$own$own_pid "
        own_ticks=$((own_ticks + own_user + own_kernel))
    done <<TABLE
$own_table
TABLE
}

# marked_pids LAUNCH: processes that carry the launch's marker or write to its log.
marked_pids() {
    grep -lzxF "RELIGHT_LAUNCH=$own_dir" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
    # shellcheck disable=SC2010,SC2012  # the links' targets are wanted, not names
    ls -ln /proc/[0-9]*/fd/1 /proc/[0-9]*/fd/2 2>/dev/null |
        grep -F -- " -> $own_dir/server.log" | sed -n 's|.* /proc/\([0-9]*\)/fd/[12] -> .*|\1|p'
    launcher_pids "$1"
    adopted_pids "$1"
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
