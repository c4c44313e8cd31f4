# What is the state here: one answer for the controller, one fact a line.

cmd_status() {
    status_launch=$(last_launch)
    printf 'script=%s\n' "$script_hash"
    printf 'boot=%s\n' "$(boot_id)"
    printf 'uptime=%s\n' "$(uptime_s)"
    printf 'now=%s\n' "$(date +%s)"
    printf 'dir=%s\n' "$service_dir"
    printf 'fence=%s\n' "$(fence_now)"
    printf 'current=%s\n' "$(pointed current)"
    printf 'known_good=%s\n' "$(pointed known-good)"
    # shellcheck disable=SC2012  # release names are our own: digits, letters, dots and dashes
    printf 'releases=%s\n' "$(ls -1 releases 2>/dev/null | tr '\n' ' ')"
    printf 'launch=%s\n' "$status_launch"
    if [ "$status_launch" != 0 ]; then
        printf 'launch_release=%s\n' "$(cat "launches/$status_launch/release" 2>/dev/null)"
        printf 'since=%s\n' "$(stat -c %Y "launches/$status_launch/release" 2>/dev/null)"
        printf 'exit=%s\n' "$(cut -d' ' -f1 "launches/$status_launch/exit" 2>/dev/null)"
        printf 'pid=%s\n' "$(cut -d' ' -f1 "launches/$status_launch/pid" 2>/dev/null)"
        printf 'pids=%s\n' "$(own_pids "$status_launch" | tr '\n' ' ')"
        printf 'log_bytes=%s\n' "$(stat -c %s "launches/$status_launch/server.log" 2>/dev/null)"
    fi
    printf 'state=%s\n' "$(server_state "$status_launch")"
    printf 'restarts=%s\n' "$(launcher_restarts)"
    printf 'lock=%s\n' "$(lock_state)"
    printf 'holder=%s\n' "$(head -n 1 lock/holder 2>/dev/null)"
    printf 'renewed=%s\n' "$(cat lock/renewed 2>/dev/null)"
    printf 'deadman=%s\n' "$(deadman_state)"
    printf 'free_kb=%s\n' "$(df -Pk . 2>/dev/null | tail -n 1 | tr -s ' ' | cut -d' ' -f4)"
    if [ -n "${1:-}" ] && [ "$1" != 0 ]; then
        printf 'port_pids=%s\n' "$(port_pids "$1" | tr '\n' ' ')"
        foreign_on_port "$1" "$status_launch" | sed 's/^/foreign=/'
    fi
    if [ -L current ]; then
        printf 'release_json:\n'
        cat current/release.json 2>/dev/null
        printf '\n'
    fi
    printf 'ledger:\n'
    tail -n 400 ledger.jsonl 2>/dev/null
    return 0
}

# server_state LAUNCH: none, running, exited, stopped (asked for), rebooted, or lost (gone without a status).
server_state() {
    if [ "$1" = 0 ]; then
        echo none
    elif same_process "launches/$1/pid"; then
        echo running
    elif [ -e stopped ]; then
        echo stopped
    elif [ "$(cat "launches/$1/boot" 2>/dev/null)" != "$(boot_id)" ]; then
        echo rebooted
    elif [ -s "launches/$1/exit" ]; then
        echo exited
    else
        echo lost
    fi
}

# pulse LAUNCH FENCE PORT: one look while a start is watched, and the lease renewed on the way.
cmd_pulse() {
    [ "$2" != "$(fence_now)" ] || renew_lease
    printf 'state=%s\n' "$(server_state "$1")"
    printf 'exit=%s\n' "$(cut -d' ' -f1 "launches/$1/exit" 2>/dev/null)"
    printf 'pids=%s\n' "$(own_pids "$1" | tr '\n' ' ')"
    printf 'ticks=%s\n' "$(cpu_ticks "$1")"
    printf 'log_bytes=%s\n' "$(stat -c %s "launches/$1/server.log" 2>/dev/null)"
    printf 'port_pids=%s\n' "$(port_pids "$3" | tr '\n' ' ')"
    printf 'fence=%s\n' "$(fence_now)"
    foreign_on_port "$3" "$1" | sed 's/^/foreign=/'
    return 0
}

# follow LAUNCH OFFSET: the log from a byte on, until the launch has ended.
cmd_follow() {
    read -r follow_pid _ 2>/dev/null <"launches/$1/supervisor" || follow_pid=
    if [ -n "$follow_pid" ] && same_process "launches/$1/supervisor"; then
        exec tail -c "+$(($2 + 1))" -s 0.2 --pid="$follow_pid" -f "launches/$1/server.log"
    fi
    exec tail -c "+$(($2 + 1))" "launches/$1/server.log"
}
