# Ground of the host script: where it stands, what time it is, who is who, and how files are written.
set -u
umask 077
export LC_ALL=C
newline='
'
case $0 in
    */*) CDPATH='' cd -P -- "${0%/*}/" || exit 70 ;;
    *) CDPATH='' cd -P -- . || exit 70 ;;
esac
service_dir=$PWD
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
        [01]) set -- 5 0.005 ;;
        [2-4]) set -- 10 0.01 ;;
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

# read_stat PID: sets $stat_fields, what the kernel says of a process from its state on; fails when it is
# gone. Builtins only: this runs for every process of a launch at every look. All lines are read, since
# a process may have newlines in its name, and brackets.
read_stat() {
    stat_fields=
    {
        while read -r stat_line; do
            stat_fields="$stat_fields$stat_line "
        done <"/proc/$1/stat"
    } 2>/dev/null
    stat_fields=${stat_fields##*) }
    [ -n "$stat_fields" ]
}

# look_at PID: sets $started, when the process began, in ticks since boot; fails for a dead one or a
# zombie.
look_at() {
    read_stat "$1" || return 1
    # shellcheck disable=SC2086  # the fields are split on purpose
    set -- $stat_fields
    [ "$1" != Z ] && [ "$1" != X ] || return 1
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
    read_fence
    record_line="{\"t\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",\"event\":\"$1\",\"fence\":$fence_read${2:+,$2}}"
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

# read_fence: sets $fence_read, 0 before the first lock.
read_fence() {
    fence_read=0
    { read -r fence_read <fence; } 2>/dev/null || :
    fence_read=${fence_read:-0}
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
    read_fence
    [ "$1" = "$fence_read" ] ||
        die 75 "this deploy lost its lock (fence $1, now $fence_read); nothing was changed"
    [ -e lock/held ] ||
        die 75 "this deploy no longer holds its lock (fence $1 ran out); nothing was changed"
    renew_lease
}

# renew_lease: the clock has whole seconds, so that steps in quick succession write it once.
renew_lease() {
    [ -e lock/held ] || return 0
    clock
    renew_read=
    { read -r renew_read <lock/renewed; } 2>/dev/null || :
    [ "$renew_read" = "$now" ] || put lock/renewed "$now"
}

# point NAME RELEASE: switch a link by rename, so that nobody ever sees none.
point() {
    switch_link "$@" || { spend_reserve && switch_link "$@"; } || die 74 "cannot switch $1"
}

switch_link() {
    { ln -sfn "releases/$2" "$1.new" && mv -fT "$1.new" "$1"; } 2>/dev/null
}

# read_link NAME: sets $pointed, the release that a link names, or nothing. Going there spares a readlink;
# one whose release is gone still has its name.
read_link() {
    pointed=
    [ -L "$1" ] || return 0
    if CDPATH='' cd -P -- "./$1" 2>/dev/null; then
        pointed=${PWD##*/}
        cd -- "$service_dir" || exit 70
    else
        pointed=$(readlink "$1" 2>/dev/null) || :
        pointed=${pointed#releases/}
    fi
}

need_release() {
    case $1 in
        '' | */* | .*) die 71 "'$1' is not a release" ;;
    esac
    [ -f "releases/$1/launch.sh" ] || die 71 "there is no release $1 here"
}

# read_last: sets $last_read, the number of the last launch, 0 before the first.
read_last() {
    last_read=0
    { read -r last_read <last-launch; } 2>/dev/null || :
    last_read=${last_read:-0}
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
