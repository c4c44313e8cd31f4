# The lock of a service: held by a process on the host under a lease, so that it goes with its holder.

# lock LEASE-SECONDS HOLDER-JSON: take it; prints the new fence. The holder is a process of its own that
# owns descriptor 9, and ends when the lease is not renewed, the lock is given back or the fence moves on.
do_lock() {
    [ -d lock/new ] || mkdir -p lock/new 2>/dev/null ||
        die 74 "cannot write in $service_dir (disk full or read-only?)"
    { command exec 9>>lock/flock; } 2>/dev/null ||
        die 74 "cannot write in $service_dir (disk full or read-only?)"
    # Without lock/held its holder is on its way out, within a second.
    if ! flock -n 9 && { [ -e lock/held ] || ! flock -w 3 9; }; then
        exec 9>&-
        head -n 1 lock/holder 2>/dev/null
        exit 76
    fi
    make_reserve
    same_launcher
    launcher_check
    read_fence
    fence=$((fence_read + 1))
    clock
    write_lock "$1" "$2" || { spend_reserve && write_lock "$1" "$2"; } ||
        die 74 "cannot write the lock (disk full or read-only?)"
    inherit_deadman "$fence"
    put_fence "$fence"
    settle_promotion
    record locked "\"holder\":$2"
    setsid -f sh "$0" hold "$fence" "$1" </dev/null >/dev/null 2>&1 8>&-
    await 10 holds "$fence" || die 72 "the holder of the lock did not begin within 10 s"
    exec 9>&-
    printf '%s\n' "$fence"
}

# write_lock LEASE HOLDER: its files, each whole by rename; lock/held last, since it is what holds.
write_lock() {
    {
        printf '%s\n' "$now" >lock/new/renewed &&
            printf '%s\n' "$1" >lock/new/lease &&
            printf '%s\n' "$2" >lock/new/holder &&
            printf '%s\n' "$fence" >lock/new/held &&
            mv -f lock/new/renewed lock/new/lease lock/new/holder lock/new/held lock
    } 2>/dev/null
}

# same_launcher: what another launcher started is not ours to find, stop or keep away.
same_launcher() {
    { read -r other_launcher <launcher; } 2>/dev/null || return 0
    [ "$other_launcher" = "$launcher_name" ] || die 72 \
        "this service was started by the launcher $other_launcher, not $launcher_name: run \`stop\` with the old one first"
}

# holds FENCE: whether the holder of that fence lives.
holds() {
    same_process lock/pid && read -r _ _ _ held_fence <lock/pid && [ "$held_fence" = "$1" ]
}

cmd_hold() {
    write_identity "$$" lock/pid "$1"
    while [ -e lock/held ] && read_fence && [ "$fence_read" = "$1" ]; do
        if lease_lost; then
            expire_lease "$1"
        fi
        # Whoever killed the dead-man's process did not disarm it.
        [ ! -e deadman ] || guarded || (start_guard) 9>&-
        sleep 1 9>&-
    done
}

# lease_lost: whether the holder gave the lock back or was not heard of for longer than its lease.
lease_lost() {
    [ -e lock/held ] || return 0
    renewed=0
    lease=60
    { read -r renewed <lock/renewed; } 2>/dev/null
    { read -r lease <lock/lease; } 2>/dev/null
    clock
    [ $((now - renewed)) -gt "$lease" ]
}

# expire_lease FENCE: unless a step runs at this moment, which renews the lease at its end or soon after.
expire_lease() {
    { command exec 8>>mutex; } 2>/dev/null || return 0
    if flock -n 8 && read_fence && [ "$fence_read" = "$1" ] && lease_lost && [ -e lock/held ]; then
        rm -f lock/held
        record lease_expired
    fi
    leave_mutex
}

do_unlock() {
    rm -f lock/held
    if same_process lock/pid; then
        kill "$id_pid" 2>/dev/null || :
    fi
    record unlocked
}

# finish: give the lock back unless this deploy has begun something that it neither confirmed nor undid;
# prints `settled`, `begun` (nothing is changed then) or `untouched`. A dead-man that is armed though nothing
# was begun is a dead deploy's: unlocking lets it act.
do_finish() {
    read_fence
    finish_came=untouched
    for finish_event in $(tail -n 400 ledger.jsonl 2>/dev/null |
        sed -n "s/^{\"t\":\"[^\"]*\",\"event\":\"\([a-z_]*\)\",\"fence\":${fence_read}[,}].*/\1/p"); do
        case $finish_event in
            promoted | confirmed | kept | rolled_back)
                finish_came=settled
                break
                ;;
            stopping | started) finish_came=begun ;;
        esac
    done
    [ "$finish_came" != settled ] || do_disarm
    [ "$finish_came" = begun ] || do_unlock
    printf '%s\n' "$finish_came"
}

# read_lock: sets $lock_state, held or free.
read_lock() {
    lock_state=free
    [ -e lock/held ] || return 0
    read_fence
    ! holds "$fence_read" || lock_state=held
}

# end_lock: what a deploy before a reboot held and armed is void; its controller is refused from now on.
end_lock() {
    rm -f deadman
    [ -e lock/held ] || return 0
    read_fence
    put_fence $((fence_read + 1))
    rm -f lock/held
}
