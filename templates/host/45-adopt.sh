# Adoption: a server that somebody started by hand becomes a launch like any other, without a restart.
# Session, marker and log prove nothing of it: it is known by its process and what descends from it.

# family: "PID PARENT SESSION" of every process, one a line.
family() {
    cat /proc/[0-9]*/stat 2>/dev/null |
        sed -n 's/^\([0-9]*\) (.*) [^X] \([0-9]*\) [0-9]* \([0-9]*\) .*/\1 \2 \3/p'
}

# bystander PID: logins, terminals and this script are no server's, whoever started them.
bystander() {
    [ "$1" != 1 ] && [ "$1" != "$$" ] || return 0
    by_name=
    { read -r by_name <"/proc/$1/comm"; } 2>/dev/null
    case $by_name in
        sshd* | login | su | sudo | tmux* | screen* | SCREEN* | systemd* | init | containerd* | dockerd) return 0 ;;
    esac
    by_argv=$(tr '\0' '\n' <"/proc/$1/cmdline" 2>/dev/null | head -n 1)
    case $by_argv in
        -*sh) return 0 ;; # a login shell
    esac
    return 1
}

# grow SESSION: add to $tree (" PID PID ") what descends from its members, and the members of a session
# that is the server's alone (0: none is).
grow() {
    grow_table=$(family)
    grown=yes
    while [ "$grown" = yes ]; do
        grown=no
        while read -r grow_pid grow_parent grow_session; do
            case $tree in
                *" $grow_pid "*) continue ;;
                *" $grow_parent "*) ;;
                *) [ "$1" != 0 ] && [ "$grow_session" = "$1" ] || continue ;;
            esac
            ! bystander "$grow_pid" || continue
            tree="$tree$grow_pid "
            grown=yes
        done <<TABLE
$grow_table
TABLE
    done
}

# claim_session PID: sets $claimed, the session that is the server's alone, else 0. Either it leads the
# session, or its parent does: a shell without a terminal that started nothing else.
claim_session() {
    claimed=0
    claim_stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    # shellcheck disable=SC2086  # the fields are split on purpose
    set -- "$1" ${claim_stat##*) }
    if [ "$5" = "$1" ]; then
        claimed=$1
        return 0
    fi
    [ "$3" = "$5" ] && [ "$6" = 0 ] && ! bystander "$3" || return 0
    claim_name=
    { read -r claim_name <"/proc/$3/comm"; } 2>/dev/null
    case $claim_name in
        sh | bash | dash | ash | ksh | zsh | busybox) ;;
        *) return 0 ;;
    esac
    tree=" $1 "
    grow 0
    while read -r claim_pid claim_parent claim_session; do
        case $tree in
            *" $claim_pid "*) continue ;;
        esac
        [ "$claim_pid" != "$3" ] || continue
        [ "$claim_parent" != "$3" ] && [ "$claim_session" != "$3" ] || return 0
    done <<TABLE
$grow_table
TABLE
    claimed=$3
}

# adopted_pids LAUNCH: in find_own; sets $adopted_found, the living processes of an adopted launch. Only
# those that are known with their start time prove anything; the others follow from them.
adopted_pids() {
    [ -s "launches/$1/adopted" ] || return 0
    tree=' '
    while read -r adopted_pid adopted_start; do
        if look_at "$adopted_pid" && [ "$started" = "$adopted_start" ]; then
            tree="$tree$adopted_pid "
        fi
    done <"launches/$1/adopted"
    [ "$tree" != ' ' ] || return 0
    claimed=0
    claimed_start=0
    { read -r claimed claimed_start <"launches/$1/session"; } 2>/dev/null
    if look_at "$claimed" && [ "$started" != "$claimed_start" ]; then
        claimed=0
    fi
    grow "$claimed"
    adopted_found=$tree
}

# remember_adopted LAUNCH: after find_own; keep its processes with their start times, so that children
# are still known when their parent is gone.
remember_adopted() {
    [ -e "launches/$1/adopted" ] || return 0
    adopted_lines=
    for adopted_pid in $own; do
        ! look_at "$adopted_pid" || adopted_lines="$adopted_lines$adopted_pid $started
"
    done
    put "launches/$1/adopted" "${adopted_lines%?}"
}

# adopted_log PID LAUNCH: its log is where it writes to; a terminal or a pipe keeps none.
adopted_log() {
    for adopted_fd in 1 2; do
        adopted_file=$(readlink "/proc/$1/fd/$adopted_fd" 2>/dev/null) || continue
        if [ -f "$adopted_file" ]; then
            ln -sfn -- "$adopted_file" "launches/$2/server.log"
            return 0
        fi
    done
    put "launches/$2/server.log" "[relight: adopted; it writes to no file, so its words are not kept]"
}

# adopt RELEASE PID START PORT: a running process becomes the launch of a release, which is known-good
# from now on; prints the launch.
do_adopt() {
    need_release "$1"
    read_last
    ! owns "$last_read" || die 72 "launch $last_read runs here already: it is relight's own"
    look_at "$2" && [ "$started" = "$3" ] || die 72 "process $2 is gone"
    claim_session "$2"
    tree=" $2 "
    grow "$claimed"
    own=$tree
    own_on_port "$4" || die 72 "port $4 is not held by process $2 and its children alone"
    new_launch "$1"
    : >"launches/$launch/adopted"
    remember_adopted "$launch"
    if [ "$claimed" != 0 ] && look_at "$claimed"; then
        put "launches/$launch/session" "$claimed $started"
    fi
    adopted_log "$2" "$launch"
    point known-good "$1"
    rm -f stopped
    put launcher "$launcher_name"
    write_identity "$2" "launches/$launch/pid" || die 72 "process $2 is gone"
    record adopted "\"release\":\"$1\",\"launch\":$launch,\"pid\":$2"
    record promoted "\"release\":\"$1\",\"launch\":$launch"
    printf '%s\n' "$launch"
}

# keep_running LAUNCH: what the launcher started may come back by itself from now on. Of an adopted server
# it knows nothing: told to keep it, it would start a second one.
keep_running() {
    [ -e "launches/$1/adopted" ] || launcher_keep "$1"
}
