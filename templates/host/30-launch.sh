# Start and stop of one server.

# new_launch RELEASE: make the folder of the next launch; leaves its number in $launch.
new_launch() {
    launch=$(($(last_launch) + 1))
    while [ -e "launches/$launch" ]; do
        launch=$((launch + 1))
    done
    mkdir -p "launches/$launch" || die 74 "cannot make launches/$launch (disk full or read-only?)"
    put "launches/$launch/release" "$1"
    put "launches/$launch/boot" "$(boot_id)"
    : >"launches/$launch/server.log" || die 74 "cannot write a log (disk full or read-only?)"
    put last-launch "$launch"
    point current "$1"
}

# start RELEASE: launch it detached, with a log of its own; prints "LAUNCH PID".
do_start() {
    need_release "$1"
    if [ -n "$(own_pids "$(last_launch)")" ]; then
        die 72 "launch $(last_launch) is still running; stop it first"
    fi
    new_launch "$1"
    rm -f stopped
    record started "\"release\":\"$1\",\"launch\":$launch"
    launcher_start "$launch" || die 72 "the launcher could not start $1"
    waited=0
    until [ -s "launches/$launch/pid" ] || [ -s "launches/$launch/exit" ]; do
        waited=$((waited + 1))
        [ "$waited" -le 100 ] || die 72 "launch $launch did not begin within 10 s"
        sleep 0.1
    done
    printf '%s %s\n' "$launch" "$(cut -d' ' -f1 "launches/$launch/pid" 2>/dev/null)"
}

# supervise LAUNCH: run by a launcher as leader of its own session; keeps the exit status.
cmd_supervise() {
    supervise_dir=$service_dir/launches/$1
    write_identity "$$" "$supervise_dir/supervisor"
    # A shell's background job ignores SIGINT, and so would the engine: give it every default back.
    if env --default-signal true 2>/dev/null; then
        env --default-signal sh "$0" enter "$1"
    else
        sh "$0" enter "$1"
    fi
    supervise_status=$?
    put "$supervise_dir/exit" "$supervise_status $(date -u +%Y-%m-%dT%H:%M:%SZ)"
}

# enter LAUNCH: become the engine; its descriptors are the log and nothing else of ours.
cmd_enter() {
    enter_dir=$service_dir/launches/$1
    enter_release=$(cat "$enter_dir/release") || exit 71
    write_identity "$$" "$enter_dir/pid"
    RELIGHT_LAUNCH=$enter_dir
    RELIGHT_SERVICE_DIR=$service_dir
    export RELIGHT_LAUNCH RELIGHT_SERVICE_DIR
    exec sh "$service_dir/releases/$enter_release/launch.sh" \
        </dev/null >>"$enter_dir/server.log" 2>&1 8>&- 9>&-
}

signal_main() {
    read -r main_pid _ 2>/dev/null <"launches/$2/pid" || return 0
    ! same_process "launches/$2/pid" || kill -s "$1" "$main_pid" 2>/dev/null || :
}

# wait_gone LAUNCH TENTHS: until no process of the launch is left. Children whose main process has
# been gone for three seconds end by themselves or not at all: they are waited for no longer.
wait_gone() {
    orphaned=0
    tenths=0
    while [ "$tenths" -lt "$2" ]; do
        [ -n "$(own_pids "$1")" ] || return 0
        same_process "launches/$1/pid" || orphaned=$((orphaned + 1))
        [ "$orphaned" -lt 15 ] || return 1
        [ $((tenths % 50)) -ne 0 ] || renew_lease
        sleep 0.2
        tenths=$((tenths + 2))
    done
    return 1
}

# stop DRAIN-SECONDS: SIGTERM and the drain, then SIGINT, then SIGKILL of what is provably ours; done when the
# tree is gone and its port is free again.
do_stop() {
    stop_launch=$(last_launch)
    if [ -z "$(own_pids "$stop_launch")" ]; then
        launcher_stopped "$stop_launch"
        return 0
    fi
    record stopping "\"launch\":$stop_launch"
    launcher_no_restart "$stop_launch"
    how=drained
    signal_main TERM "$stop_launch"
    if ! wait_gone "$stop_launch" $(($1 * 10)); then
        how=interrupted
        signal_main INT "$stop_launch"
        if ! same_process "launches/$stop_launch/pid" || ! wait_gone "$stop_launch" 50; then
            how=killed
            kill_rounds=0
            while [ -n "$(own_pids "$stop_launch")" ]; do
                kill_rounds=$((kill_rounds + 1))
                [ "$kill_rounds" -le 100 ] ||
                    die 73 "still there after SIGKILL: $(own_pids "$stop_launch" | tr '\n' ' ')"
                for kill_pid in $(own_pids "$stop_launch"); do
                    kill -s KILL "$kill_pid" 2>/dev/null || :
                done
                sleep 0.1
            done
        fi
    fi
    launcher_stopped "$stop_launch"
    record stopped "\"launch\":$stop_launch,\"how\":\"$how\""
    printf '%s\n' "$how"
}
