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
