"""POSIX sh for what the general modules do on a host, and the reading of what it says."""
