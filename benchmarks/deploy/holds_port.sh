# Fails unless the server's process lives and listens on the port.
inode=$(grep -hE ":$(printf %04X "$PORT") [0-9A-F]+:0000 0A " /proc/net/tcp | sed 's/^ *\([^ ]* *\)\{9\}\([0-9]*\).*/\2/')
# shellcheck disable=SC2010  # the links' targets are wanted
ls -l "/proc/$(cat pid)/fd" | grep -q "socket:.$inode."
