#!/bin/sh
# Runs relight on a GPU machine by hand, step by step, each step's output and time into a folder.
# usage: tests/gpu/verify.sh STEPS SGLANG_FOLDER OUT [TP]     STEPS: first | second
set -u
steps=$1 sglang=$2 out=$3 tp=${4:-1}
here=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
project=/tmp/relight-gpu
mkdir -p "$out"

step() { # NAME COMMAND...: run, keep the output, print the end of it
    name=$1
    shift
    began=$(date +%s)
    (cd "$project" && PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" python3 -m relight "$@") \
        >"$out/$name.log" 2>&1
    code=$?
    printf '== %s: relight %s: exit %s, %s s\n' "$name" "$*" "$code" "$(($(date +%s) - began))" |
        tee -a "$out/summary.log"
    tail -n 25 "$out/$name.log" | cut -c1-220
}

case $steps in
    first)
        python3 "$here/tests/gpu/project.py" "$project" "$sglang" "$tp" || exit 1
        step 01-doctor doctor --host gpu
        step 02-fit fit --host gpu
        step 03-deploy deploy --host gpu
        step 04-status status
        step 05-explain explain --host gpu
        step 06-ceiling ceiling --host gpu
        ;;
    second)
        step 07-again deploy --host gpu
        scheduler=$(pgrep -f 'sglang::scheduler' | head -n 1)
        echo "killing scheduler $scheduler" | tee -a "$out/summary.log"
        [ -z "$scheduler" ] || kill -9 "$scheduler"
        sleep 12
        step 08-killed status
        step 09-diagnose diagnose --host gpu
        step 10-changed deploy --host gpu --set max-running-requests=8 --without prefill-graphs
        step 11-rollback rollback --host gpu --to "$(cd "$HOME/.relight/main/releases" && printf '%s\n' 0001-* | head -n 1)"
        step 12-history bench --host gpu --history
        step 13-status status
        step 14-stop stop --host gpu
        nvidia-smi --query-gpu=memory.used --format=csv | tee -a "$out/summary.log"
        ;;
esac
cp -r "$HOME/.relight/main/ledger.jsonl" "$out/ledger-$steps.jsonl" 2>/dev/null
for log in "$HOME"/.relight/main/launches/*/server.log; do
    [ -f "$log" ] && tail -c 200000 "$log" >"$out/launch-$(basename "$(dirname "$log")").log"
done
true
