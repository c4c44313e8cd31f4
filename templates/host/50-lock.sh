# The lock of a service: held by a process on the host under a lease, so that it goes with its holder.

# lock LEASE-SECONDS HOLDER-JSON: take it; prints the new fence. The holder is a process of its own that
# owns descriptor 9, and ends when the lease is not renewed, the lock is given back or the fence moves on.
do_lock() {
    mkdir -p lock || die 74 "cannot write in $service_dir (disk full or read-only?)"
    exec 9>>lock/flock
    if ! flock -n 9; then
        exec 9>&-
        cat lock/holder 2>/dev/null
        exit 76
    fi
    fence=$(($(fence_now) + 1))
    put fence "$fence"
    put lock/holder "$2"
    put lock/renewed "$(uptime_s)"
    : >lock/held
    record locked "\"holder\":$2"
    setsid -f sh "$0" hold "$fence" "$1" </dev/null >/dev/null 2>&1 8>&-
    exec 9>&-
    printf '%s\n' "$fence"
}

cmd_hold() {
    write_identity "$$" lock/pid
    while [ -e lock/held ] && [ "$(fence_now)" = "$1" ]; do
        read -r renewed <lock/renewed || renewed=0
        if [ $(($(uptime_s) - renewed)) -gt "$2" ]; then
            record lease_expired
            rm -f lock/held
            exit 0
        fi
        sleep 1 9>&-
    done
}

do_unlock() {
    rm -f lock/held
    if same_process lock/pid; then
        read -r lock_pid _ <lock/pid
        kill "$lock_pid" 2>/dev/null || :
    fi
    record unlocked
}

lock_state() {
    [ -e lock/flock ] || {
        echo free
        return 0
    }
    if (exec 9>>lock/flock && flock -n 9); then echo free; else echo held; fi
}
