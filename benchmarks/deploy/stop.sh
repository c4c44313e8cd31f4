# Stops the server whose process id stands in a file: SIGTERM, and SIGKILL when it does not leave.
pid=$(cat pid 2>/dev/null) || exit 0
kill -TERM "$pid" 2>/dev/null || exit 0
tries=0
while kill -0 "$pid" 2>/dev/null; do
  tries=$((tries + 1))
  test $tries -lt 600 || kill -KILL "$pid"
  sleep 0.05
done
