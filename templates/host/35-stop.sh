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
