# What a host is, in one look: one fact a line. Reads only; needs no GPU and no driver.
# Given: model_path (may be empty), needs (words), engine_version (a function). Afterwards: `wait`.
# Asking the engine takes longer than all the rest: it runs beside it.
{ engine_version 2>&1 | tail -n 1 | sed 's/^/engine_version=/'; } &
printf 'home=%s\n' "$HOME"
printf 'user=%s\n' "$(id -un)"
printf 'uid=%s\n' "$(id -u)"
printf 'hostname=%s\n' "$(uname -n)"
printf 'kernel=%s\n' "$(uname -sr)"
printf 'machine=%s\n' "$(uname -m)"
printf 'cores=%s\n' "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"
sed -n 's/^MemTotal: *\([0-9]*\) kB/memory_kb=\1/p; s/^MemAvailable: *\([0-9]*\) kB/memory_free_kb=\1/p' \
    /proc/meminfo 2>/dev/null
df -Pk "$HOME" 2>/dev/null | sed -n '$s|^.* \([0-9][0-9]*\)  *[-0-9]*%*  */.*|disk_free_kb=\1|p'
# shellcheck disable=SC2154  # given by the caller
for need in $needs; do
    command -v "$need" >/dev/null 2>&1 || printf 'missing=%s\n' "$need"
done
[ -d /run/systemd/system ] && printf 'systemd=yes\n'
# shellcheck disable=SC2154  # given by the caller
if [ -n "$model_path" ]; then
    if [ -e "$model_path/config.json" ]; then
        printf 'model=present\n'
    elif [ -e "$model_path" ]; then
        printf 'model=no config.json\n'
    else
        printf 'model=missing\n'
    fi
fi
