# Starts the current release detached, with a log of its own.
rm -f server.log
setsid -f sh -c 'echo $$ > pid; exec sh current/launch.sh' > server.log 2>&1 < /dev/null
