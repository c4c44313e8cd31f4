# Boots one test host, again after each reboot, until it is powered off or dies: supervise.sh PIDFILE GROUPS COMMAND...
# GROUPS: cgroup folders joined by colons. COMMAND: systemd-nspawn, which exits with 133 for a reboot.
pidfile=$1 groups=$2
shift 2
read -r stat <"/proc/$$/stat"
# Field 22 is the start time; "sh" has no blank, so the fields can be counted.
# shellcheck disable=SC2086
start=$(set -- $stat && shift 21 && echo "$1")
echo "$$ $start" >"$pidfile.new" && mv "$pidfile.new" "$pidfile"
while :; do
    # Each boot joins the groups by itself: this loop has to stay outside, to outlive them.
    GROUPS_TO_JOIN=$groups sh -c '
        IFS=:
        for group in $GROUPS_TO_JOIN; do echo "$$" >"$group/cgroup.procs" || exit 1; done
        unset IFS GROUPS_TO_JOIN
        exec "$@"' boot "$@"
    [ "$?" -eq 133 ] || exit 0
done
