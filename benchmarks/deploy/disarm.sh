# Disarms the dead-man.
kill "$(cat deadman)"
rm -f deadman
