# Stops the server whose process id stands in a file: SIGTERM, and SIGKILL when it does not leave.
# A process that has ended and that nobody has collected yet (state Z) has left.
pid=$(cat pid 2>/dev/null) || exit 0
kill -TERM "$pid" 2>/dev/null || exit 0
tries=0
while grep -qs "^State:[[:space:]]*[^ZX[:space:]]" "/proc/$pid/status"; do
  tries=$((tries + 1))
  test $tries -lt 600 || kill -KILL "$pid"
  sleep 0.02
done
