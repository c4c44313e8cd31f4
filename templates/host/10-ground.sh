# Ground of the host script: where it stands, what time it is, who is who, and the ledger.
set -u
umask 077
export LC_ALL=C
service_dir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || exit 70
cd -- "$service_dir" || exit 70

# Exit codes of this script: 70 broken ground, 71 no such thing, 72 something is in the way,
# 73 did not stop, 74 cannot write, 75 stale fence, 76 lock held by another.
die() {
    code=$1
    shift
    printf 'relight: %s\n' "$*" >&2
    exit "$code"
}

# Seconds since boot: the one clock that nobody sets back.
uptime_s() {
    read -r up_time _ </proc/uptime
    printf '%s\n' "${up_time%%.*}"
}

boot_id() {
    cat /proc/sys/kernel/random/boot_id
}

# start_time PID: when the process began, in ticks since boot; fails for a dead one or a zombie.
start_time() {
    stat_line=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    stat_line=${stat_line##*) }
    # shellcheck disable=SC2086  # the fields are split on purpose
    set -- $stat_line
    [ "$1" != Z ] || return 1
    shift 19
    printf '%s\n' "$1"
}

# same_process FILE: whether the process that FILE ("PID START BOOT") names still lives.
same_process() {
    read -r id_pid id_start id_boot 2>/dev/null <"$1" || return 1
    [ "$id_boot" = "$(boot_id)" ] || return 1
    [ "$(start_time "$id_pid")" = "$id_start" ]
}

# put FILE TEXT: write one line whole, by rename.
put() {
    if ! { printf '%s\n' "$2" >"$1.new" && mv -f "$1.new" "$1"; }; then
        die 74 "cannot write $1 (disk full or read-only?)"
    fi
}

# write_identity PID FILE
write_identity() {
    put "$2" "$1 $(start_time "$1") $(boot_id)"
}

# record EVENT [JSON-FIELDS]: one whole line in the ledger; a line that a power cut tore is closed first.
record() {
    if [ -s ledger.jsonl ] && [ -n "$(tail -c 1 ledger.jsonl)" ]; then
        printf '\n' >>ledger.jsonl
    fi
    printf '{"t":"%s","event":"%s","fence":%s%s}\n' \
        "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" "$(fence_now)" "${2:+,$2}" >>ledger.jsonl ||
        die 74 "cannot write the ledger (disk full or read-only?)"
    sync ledger.jsonl 2>/dev/null || :
}

fence_now() {
    cat fence 2>/dev/null || echo 0
}

# enter_mutex: one mutating command at a time; the engine never inherits descriptor 8.
enter_mutex() {
    exec 8>>mutex || die 74 "cannot write in $service_dir (disk full or read-only?)"
    flock -w 600 8 || die 76 "another step of relight has been running here for ten minutes"
}

# check_fence FENCE: a writer whose lock was taken over is refused here, in the step that writes.
check_fence() {
    [ "$1" = "$(fence_now)" ] ||
        die 75 "this deploy lost its lock (fence $1, now $(fence_now)); nothing was changed"
    renew_lease
}

renew_lease() {
    [ ! -e lock/held ] || put lock/renewed "$(uptime_s)"
}

# point NAME RELEASE: switch a link by rename, so that nobody ever sees none.
point() {
    if ! { ln -sfn "releases/$2" "$1.new" && mv -fT "$1.new" "$1"; }; then
        die 74 "cannot switch $1"
    fi
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
    cat last-launch 2>/dev/null || echo 0
}
