# Looks at a server that relight did not start, and at what started it, nearest first. Reads only.
# Given: adopt_pid (0: who listens on adopt_port), adopt_port, adopt_names (a pattern of variables); the
# functions of host/20-processes.sh and host/25-holders.sh. Texts are printed as base64.
adopt_show() {
    adopt_stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # shellcheck disable=SC2086  # the fields are split on purpose
    set -- "$1" ${adopt_stat##*) }
    adopt_parent=$3
    printf 'process=%s\nstarted=%s\n' "$1" "${21}"
    printf 'uid=%s\n' "$(stat -c %u "/proc/$1" 2>/dev/null)"
    printf 'argv=%s\n' "$(base64 -w 0 "/proc/$1/cmdline" 2>/dev/null)"
    printf 'cwd=%s\n' "$(readlink -n "/proc/$1/cwd" 2>/dev/null | base64 -w 0)"
    printf 'environ=%s\n' "$(grep -zE "^($adopt_names)" "/proc/$1/environ" 2>/dev/null | base64 -w 0)"
    printf 'relight=%s\n' "$(grep -z '^RELIGHT_LAUNCH=' "/proc/$1/environ" 2>/dev/null | base64 -w 0)"
    [ ! -r "/proc/$1/environ" ] || printf 'readable=yes\n'
    for adopt_space in mnt pid; do
        adopt_theirs=$(readlink "/proc/$1/ns/$adopt_space" 2>/dev/null) || continue
        [ "$adopt_theirs" = "$(readlink "/proc/self/ns/$adopt_space")" ] || printf 'apart=%s\n' "$adopt_space"
    done
    printf 'unit=%s\n' "$(sed -n 's|.*/\([^/]*\.service\)$|\1|p' "/proc/$1/cgroup" 2>/dev/null | head -n 1)"
}

printf 'user=%s\n' "$(id -u)"
own=' '
adopt_next=$adopt_pid
if [ "$adopt_next" = 0 ]; then
    find_port "$adopt_port"
    adopt_next=${port_pids%% *}
    [ -n "$adopt_next" ] || printf 'hidden=%s\n' "$(printf '%s' "$foreign" | head -n 1)"
fi
adopt_steps=0
while [ "${adopt_next:-0}" -gt 1 ] && [ "$adopt_steps" -lt 8 ]; do
    adopt_show "$adopt_next" || break
    adopt_next=$adopt_parent
    adopt_steps=$((adopt_steps + 1))
done
true
