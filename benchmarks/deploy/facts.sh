# What the host and the service are: GPUs, memory, disk, who has the port, the engine's version, what is current.
nvidia-smi --query-gpu=index,name,memory.total,memory.used --format=csv,noheader 2>/dev/null
sed -n 's/^Mem[TA]/&/p' /proc/meminfo
df -Pk .
grep -hE ":$(printf %04X "$PORT") [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6
"$PYTHON" -c 'import importlib.metadata as m; print(m.version("sglang"))'
readlink current known-good
cat current/release.json 2>/dev/null || :
