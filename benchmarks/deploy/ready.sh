# Waits until the server says that it is ready; looks ten times a second, for a minute.
tries=0
until grep -q "fired up and ready to roll" server.log 2>/dev/null; do
  tries=$((tries + 1))
  test $tries -lt 600 || exit 1
  sleep 0.1
done
