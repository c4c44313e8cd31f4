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
