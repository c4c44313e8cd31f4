# What a host is, in one look: one fact a line. Reads only; needs no GPU and no driver.
# Given: model_path (may be empty), needs (words), engine_version (a function). Afterwards: `wait`.
# Asking the engine takes longer than all the rest: it runs beside it.
{ engine_version 2>&1 | sed -n '$s/^/engine_version=/p'; } &
# One program for the user and one for the kernel: each costs as much as all that is read from it.
facts_user=$(stat -c '%u:%U' "/proc/$$" 2>/dev/null)
facts_uid=${facts_user%%:*}
facts_user=${facts_user#*:}
[ "$facts_user" != UNKNOWN ] || facts_user=$facts_uid
facts_kernel=$(uname -snrm) # the name of a host has no blank
facts_rest=${facts_kernel#* }
facts_release=${facts_rest#* }
printf 'home=%s\nuser=%s\nuid=%s\n' "$HOME" "$facts_user" "$facts_uid"
printf 'hostname=%s\nkernel=%s\nmachine=%s\n' "${facts_rest%% *}" \
    "${facts_kernel%% *} ${facts_release%% *}" "${facts_release##* }"
printf 'cores=%s\n' "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"
while read -r facts_name facts_number _; do
    case $facts_name in
        MemTotal:) printf 'memory_kb=%s\n' "$facts_number" ;;
        MemAvailable:)
            printf 'memory_free_kb=%s\n' "$facts_number"
            break
            ;;
    esac
done </proc/meminfo 2>/dev/null
facts_disk=$(stat -fc '%a %S' "$HOME" 2>/dev/null) &&
    printf 'disk_free_kb=%s\n' "$((${facts_disk% *} * ${facts_disk#* } / 1024))"
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
