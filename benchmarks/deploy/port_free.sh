# Fails when somebody listens on the port.
! grep -qhE ":$(printf %04X "$PORT") [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6
