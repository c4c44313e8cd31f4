# Ground of the host script: where it stands, what time it is, who is who, and how files are written.
set -u
umask 077
export LC_ALL=C
service_dir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || exit 70
cd -- "$service_dir" || exit 70
read -r boot </proc/sys/kernel/random/boot_id

# Exit codes of this script: 70 broken ground, 71 no such thing, 72 something is in the way,
# 73 did not stop, 74 cannot write, 75 lock lost, 76 lock held by another.
die() {
    code=$1
    shift
    printf 'relight: %s\n' "$*" >&2
    exit "$code"
}

# clock: sets $now, the seconds since boot: the one clock that nobody sets back.
clock() {
    read -r now _ </proc/uptime
    now=${now%%.*}
}

# pause ROUND: wait a little, longer the longer it takes: what is soon over is soon seen. Adds the
# milliseconds to $waited.
pause() {
    case $1 in
        [0-4]) set -- 10 0.01 ;;
        [5-9]) set -- 20 0.02 ;;
        1?) set -- 50 0.05 ;;
        *) set -- 200 0.2 ;;
    esac
    waited=$((waited + $1))
    sleep "$2"
}

# await SECONDS CHECK...: until a check holds; fails when that takes longer.
await() {
    await_most=$(($1 * 1000))
    shift
    waited=0
    await_round=0
    until "$@"; do
        [ "$waited" -lt "$await_most" ] || return 1
        pause "$await_round"
        await_round=$((await_round + 1))
    done
}

# look_at PID: sets $started, when the process began, in ticks since boot; fails for a dead one or a
# zombie. Builtins only: this runs for every process of a launch at every look.
look_at() {
    { read -r stat_line <"/proc/$1/stat"; } 2>/dev/null || return 1
    case $stat_line in
        *') '*) ;;
        *) stat_line=$(cat "/proc/$1/stat" 2>/dev/null) ;; # a newline in the process's name
    esac
    # shellcheck disable=SC2086  # the fields are split on purpose
    set -- ${stat_line##*) }
    [ "${1:-Z}" != Z ] && [ "$1" != X ] || return 1
    started=${20}
}

# same_process FILE: whether the process that FILE ("PID START BOOT ...") names still lives.
same_process() {
    { read -r id_pid id_start id_boot _ <"$1"; } 2>/dev/null || return 1
    [ "$id_boot" = "$boot" ] && look_at "$id_pid" && [ "$started" = "$id_start" ]
}

# Under a name of its own until it is whole: a heartbeat may write beside a step.
write_line() {
    { printf '%s\n' "$2" >"$1.$$" && mv -f "$1.$$" "$1"; } 2>/dev/null
}

# The reserve is room that a full disk cannot take: it is let go when a write fails, so that the way
# back to known-good can always be written down and walked.
make_reserve() {
    [ -s reserve ] && return 0
    { head -c 1048576 /dev/urandom >reserve.new && mv -f reserve.new reserve; } 2>/dev/null || {
        rm -f reserve.new 2>/dev/null
        die 74 "cannot write in $service_dir (disk full or read-only?)"
    }
}

spend_reserve() {
    [ -e reserve ] && rm -f reserve 2>/dev/null
}

# put FILE TEXT: write one line whole, by rename.
put() {
    write_line "$1" "$2" || { spend_reserve && write_line "$1" "$2"; } ||
        die 74 "cannot write $1 (disk full or read-only?)"
}

# write_identity PID FILE [MORE]
write_identity() {
    look_at "$1" || return 1
    put "$2" "$1 $started $boot${3:+ $3}"
}

# record EVENT [JSON-FIELDS]: one whole line in the ledger; a line that was torn is closed first.
record() {
    record_line=$(printf '{"t":"%s","event":"%s","fence":%s%s}' \
        "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" "$(fence_now)" "${2:+,$2}")
    append_line || { spend_reserve && append_line; } ||
        die 74 "cannot write the ledger (disk full or read-only?)"
    sync ledger.jsonl 2>/dev/null || :
}

append_line() {
    {
        [ ! -s ledger.jsonl ] || [ -z "$(tail -c 1 ledger.jsonl)" ] || printf '\n' >>ledger.jsonl
        printf '%s\n' "$record_line" >>ledger.jsonl
    } 2>/dev/null
}

fence_now() {
    fence_read=0
    { read -r fence_read <fence; } 2>/dev/null || :
    printf '%s\n' "${fence_read:-0}"
}

# put_fence FENCE: on the disk before anybody acts under it, so that a power cut never takes it back.
put_fence() {
    put fence "$1"
    sync fence 2>/dev/null || :
}

# enter_mutex: one mutating command at a time; the engine never inherits descriptor 8.
enter_mutex() {
    { command exec 8>>mutex; } 2>/dev/null || die 74 "cannot write in $service_dir (disk full or read-only?)"
    flock -w 600 8 || die 76 "another step of relight has been running here for ten minutes"
}

leave_mutex() {
    exec 8>&-
}

# check_fence FENCE: a writer whose lock was taken over or ran out is refused in the step that writes.
check_fence() {
    [ "$1" = "$(fence_now)" ] ||
        die 75 "this deploy lost its lock (fence $1, now $(fence_now)); nothing was changed"
    [ -e lock/held ] ||
        die 75 "this deploy no longer holds its lock (fence $1 ran out); nothing was changed"
    renew_lease
}

renew_lease() {
    clock
    [ ! -e lock/held ] || put lock/renewed "$now"
}

# point NAME RELEASE: switch a link by rename, so that nobody ever sees none.
point() {
    switch_link "$@" || { spend_reserve && switch_link "$@"; } || die 74 "cannot switch $1"
}

switch_link() {
    { ln -sfn "releases/$2" "$1.new" && mv -fT "$1.new" "$1"; } 2>/dev/null
}

# pointed NAME: the release that a link names, or nothing.
pointed() {
    target=$(readlink "$1" 2>/dev/null) || return 0
    printf '%s\n' "${target#releases/}"
}

need_release() {
    case $1 in
        '' | */* | .*) die 71 "'$1' is not a release" ;;
    esac
    [ -f "releases/$1/launch.sh" ] || die 71 "there is no release $1 here"
}

last_launch() {
    last_read=0
    { read -r last_read <last-launch; } 2>/dev/null || :
    printf '%s\n' "${last_read:-0}"
}
