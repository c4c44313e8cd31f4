# What is the state here: one answer for the controller, one fact a line.

cmd_status() {
    status_launch=$(last_launch)
    find_own "$status_launch"
    clock
    printf 'script=%s\nboot=%s\nuptime=%s\nnow=%s\ndir=%s\nfence=%s\n' \
        "$script_hash" "$boot" "$now" "$(date +%s)" "$service_dir" "$(fence_now)"
    printf 'current=%s\nknown_good=%s\n' "$(pointed current)" "$(pointed known-good)"
    printf 'releases='
    for status_release in releases/*; do
        [ ! -d "$status_release" ] || printf '%s ' "${status_release#releases/}"
    done
    printf '\n'
    printf 'launch=%s\n' "$status_launch"
    if [ "$status_launch" != 0 ]; then
        # A word that a file does not hold is nothing.
        first_word "launches/$status_launch/release"
        printf 'launch_release=%s\n' "$word"
        printf 'since=%s\n' "$(stat -c %Y "launches/$status_launch/release" 2>/dev/null)"
        first_word "launches/$status_launch/exit"
        printf 'exit=%s\n' "$word"
        first_word "launches/$status_launch/pid"
        printf 'pid=%s\npids=%s\n' "$word" "$own"
        printf 'log_bytes=%s\n' "$(stat -Lc %s "launches/$status_launch/server.log" 2>/dev/null)"
        [ ! -e "launches/$status_launch/stopping" ] || printf 'stopping=yes\n'
    fi
    printf 'state=%s\n' "$(server_state "$status_launch")"
    printf 'restarts=%s\n' "$(launcher_restarts)"
    printf 'lock=%s\n' "$(lock_state)"
    first_line lock/holder
    printf 'holder=%s\n' "$line"
    first_word lock/renewed
    printf 'renewed=%s\n' "$word"
    printf 'deadman=%s\n' "$(deadman_state)"
    printf 'free_kb=%s\n' "$(df -Pk . 2>/dev/null | free_of)"
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
    tail -n 400 ledger.jsonl 2>/dev/null
    return 0
}

# free_of: the fourth column of the last line that `df -P` prints.
free_of() {
    free_last=
    while read -r _ _ _ free_blocks _; do free_last=$free_blocks; done
    printf '%s' "$free_last"
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

# port_state PORT: who of others holds it.
port_state() {
    find_own "$(last_launch)"
    find_port "$1"
    print_port
}

print_port() {
    printf 'port_pids=%s\n' "$port_pids"
    [ -z "$foreign" ] || printf '%s' "$foreign" | sed 's/^/foreign=/'
}

# server_state LAUNCH: none, running, exited, stopped (asked for), rebooted, or lost (gone without a status).
server_state() {
    if [ "$1" = 0 ]; then
        echo none
    elif same_process "launches/$1/pid"; then
        echo running
    elif [ -e stopped ]; then
        echo stopped
    else
        first_word "launches/$1/boot"
        if [ "$word" != "$boot" ]; then
            echo rebooted
        elif [ -s "launches/$1/exit" ]; then
            echo exited
        else
            echo lost
        fi
    fi
}

# pulse LAUNCH FENCE PORT: one look while a start is watched, and the lease renewed on the way. A fence of
# 0 says that the lock is lost.
cmd_pulse() {
    pulse_fence=0
    if [ "$2" = "$(fence_now)" ] && [ -e lock/held ]; then
        pulse_fence=$2
        renew_lease
    fi
    find_own "$1"
    find_port "$3"
    printf 'fence=%s\nstate=%s\n' "$pulse_fence" "$(server_state "$1")"
    first_word "launches/$1/exit"
    printf 'exit=%s\npids=%s\nticks=%s\n' "$word" "$own" "$own_ticks"
    printf 'log_bytes=%s\n' "$(stat -Lc %s "launches/$1/server.log" 2>/dev/null)"
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
