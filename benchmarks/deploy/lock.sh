# Takes the service's lock, or says who has it.
mkdir lock 2>/dev/null || { cat lock/holder; exit 1; }
echo "$(id -un) deploys since $(date -u +%FT%TZ)" > lock/holder
