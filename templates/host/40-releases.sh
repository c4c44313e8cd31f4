# Promotion, rollback and pruning: links switched by rename, known-good never taken away.

do_promote() {
    need_release "$1"
    read_link current
    [ "$pointed" = "$1" ] || die 72 "$1 is not the release that runs here"
    read_last
    serves "$last_read" || die 72 "$1 runs no longer"
    promote_event=confirmed
    read_link known-good
    if [ "$pointed" != "$1" ]; then
        promote_event=promoted
        point known-good "$1"
    fi
    record "$promote_event" "\"release\":\"$1\",\"launch\":$last_read"
    keep_running "$last_read"
}

# settle_promotion: write the line of a promotion that lost its power between the link and the ledger.
settle_promotion() {
    read_link known-good
    settle_good=$pointed
    [ -n "$settle_good" ] || return 0
    settle_all=$(sed -n 's/.*"event":"promoted".*"release":"\([^"]*\)".*/\1/p' ledger.jsonl 2>/dev/null)
    [ "${settle_all##*"$newline"}" = "$settle_good" ] ||
        record promoted "\"release\":\"$settle_good\",\"why\":\"found so after an interruption\""
}

# secret_text RELEASE FILE: what its launch reads; releases of an earlier relight read the service's.
secret_text() {
    cat "releases/$1/$2" 2>/dev/null || cat "$2" 2>/dev/null
}

# told_secrets FROM TO: a field for the ledger where TO does not start with the secrets of FROM. All
# that lies in a release beside its two files is secret.
told_secrets() {
    [ -n "$1" ] || return 0
    for secret_file in "releases/$1"/* "releases/$2"/*; do
        secret_file=${secret_file##*/}
        case $secret_file in
            launch.sh | release.json | '*') continue ;;
        esac
        if [ "$(secret_text "$1" "$secret_file")" != "$(secret_text "$2" "$secret_file")" ]; then
            printf ',"not_secrets_of":"%s"' "$1"
            return 0
        fi
    done
}

# rollback DRAIN RELEASE WHY: stop what runs, start stored bytes; prints "LAUNCH PID" of the new start.
do_rollback() {
    read_link known-good
    back_to=${2:-$pointed}
    [ -n "$back_to" ] || die 71 "there is no known-good release to return to"
    need_release "$back_to"
    read_link current
    rolled_from=$pointed
    do_stop "$1"
    rolled_start=$(do_start "$back_to") || exit
    rolled_fields="\"release\":\"$back_to\",\"from\":\"$rolled_from\",\"why\":\"$3\""
    record rolled_back "$rolled_fields$(told_secrets "$rolled_from" "$back_to")"
    printf '%s\n' "$rolled_start"
}

# beyond KEEP FOLDER: what a folder holds beyond the KEEP newest, whose names begin with the highest
# numbers.
beyond() {
    beyond_keep=$1
    set -- "$2"/*
    for beyond_one; do
        printf '%s\n' "${beyond_one#*/}"
    done | sort -rn | tail -n "+$((beyond_keep + 1))"
}

# holds_beyond KEEP FOLDER: whether that is anything.
holds_beyond() {
    beyond_keep=$1
    set -- "$2"/*
    [ $# -gt "$beyond_keep" ]
}

# prune KEEP: old releases and launches beyond KEEP, never current, known-good, or the last launch. A
# release stays as long as a log of it: with its secrets it is known what that log must not show.
do_prune() {
    read_link current
    keep_current=$pointed
    read_link known-good
    keep_good=$pointed
    ! holds_beyond "$1" launches || prune_launches "$1"
    ! holds_beyond "$1" releases || prune_releases "$1"
    for old in releases/.new-*; do # what was cut off while it was written
        [ ! -e "$old" ] || rm -rf -- "$old"
    done
    # An earlier relight kept one set of secrets for all releases; the last one that reads it is gone.
    if [ -e env ] || [ -e flags.yaml ]; then
        grep -q RELIGHT_SERVICE_DIR releases/*/launch.sh 2>/dev/null || rm -f env flags.yaml
    fi
}

prune_launches() {
    good_launch=0
    good_files=$(grep -lxF -- "$keep_good" launches/*/release 2>/dev/null)
    for old in $good_files; do
        old=${old#*/}
        old=${old%%/*}
        [ "$old" -le "$good_launch" ] || good_launch=$old
    done
    read_last
    beyond "$1" launches | while read -r old; do
        if [ "$old" != "$last_read" ] && [ "$old" != "$good_launch" ]; then
            rm -rf -- "launches/$old"
        fi
    done
}

prune_releases() {
    beyond "$1" releases | while read -r old; do
        if [ "$old" != "$keep_current" ] && [ "$old" != "$keep_good" ] &&
            ! grep -qxF -- "$old" launches/*/release 2>/dev/null; then
            rm -rf -- "releases/$old"
        fi
    done
}
