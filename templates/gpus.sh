# The GPUs of a host and who has them open: one fact a line. Reads only; without a driver it is silent.
if command -v nvidia-smi >/dev/null 2>&1; then
    nvidia-smi --query-gpu=index,name,uuid,memory.total,memory.used,compute_cap,driver_version,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max,utilization.gpu \
        --format=csv,noheader,nounits 2>&1 | sed 's/^/gpu=/'
    nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv,noheader,nounits 2>/dev/null |
        sed 's/^/gpu_process=/'
fi
# Without a device nobody has one open, and looking through every process takes a while.
for gpu_device in /dev/nvidia[0-9]* ''; do [ ! -e "$gpu_device" ] || break; done
# shellcheck disable=SC2012  # the links' targets are wanted
[ -z "$gpu_device" ] || ls -ln /proc/[0-9]*/fd 2>/dev/null |
    sed -n '/^\/proc\//h; /-> \/dev\/nvidia[0-9]/{G;s|.*-> /dev/nvidia\([0-9]*\)\n/proc/\([0-9]*\)/fd:|\1 \2|p}' |
    sort -u | while read -r gpu_index gpu_pid; do
    printf 'gpu_holder=%s %s %s\n' "$gpu_index" "$gpu_pid" \
        "$(tr '\0\n\t' '   ' <"/proc/$gpu_pid/cmdline" 2>/dev/null | cut -c1-200)"
done
true
