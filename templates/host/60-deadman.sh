# The dead-man: if the controller falls silent after the stop, the host itself returns to known-good.

# arm SECONDS: due that many seconds from now; arming again moves the deadline.
do_arm() {
    put deadman "$(fence_now) $(($(uptime_s) + $1)) $(boot_id)"
    same_process deadman.pid || launcher_detach guard
}

do_disarm() {
    rm -f deadman
}

deadman_state() {
    read -r armed_fence due armed_boot 2>/dev/null <deadman || {
        echo none
        return 0
    }
    if [ "$armed_boot" != "$(boot_id)" ] || [ "$armed_fence" != "$(fence_now)" ]; then
        echo stale
    else
        printf 'armed %s\n' "$((due - $(uptime_s)))"
    fi
}

cmd_guard() {
    write_identity "$$" deadman.pid
    while read -r armed_fence due armed_boot 2>/dev/null <deadman; do
        [ "$armed_boot" = "$(boot_id)" ] && [ "$armed_fence" = "$(fence_now)" ] || exit 0
        if [ "$(uptime_s)" -ge "$due" ]; then
            fire "$armed_fence"
            exit 0
        fi
        sleep 1
    done
}

# fire FENCE: take the fence first, so that a controller that comes back late is refused.
fire() {
    enter_mutex
    [ -e deadman ] && [ "$1" = "$(fence_now)" ] || exit 0
    put fence "$(($1 + 1))"
    rm -f deadman lock/held
    good=$(pointed known-good)
    record deadman_fired "\"release\":\"$(pointed current)\""
    if [ -z "$good" ]; then
        record left_unconfirmed "\"release\":\"$(pointed current)\",\"why\":\"no known-good\""
        exit 0
    fi
    if [ "$(pointed current)" = "$good" ] && same_process "launches/$(last_launch)/pid"; then
        record kept "\"release\":\"$good\""
        exit 0
    fi
    do_rollback 5 "$good" deadman >/dev/null
    launcher_keep "$(last_launch)"
}
