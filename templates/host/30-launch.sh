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
