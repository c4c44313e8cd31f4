#!/bin/sh
# Makes the environment of pyinfra that the benchmarks compare with, outside the checkout.
# Prints its folder. RELIGHT_PYINFRA names one that exists already.
set -eu
if test -n "${RELIGHT_PYINFRA:-}"; then
  echo "$RELIGHT_PYINFRA"
  exit 0
fi
folder="${RELIGHT_CACHE:-$HOME/.cache/relight}/pyinfra-3.10.0"
mkdir -p "$(dirname "$folder")"
exec 9> "$folder.lock"
flock 9
if ! test -x "$folder/bin/pyinfra"; then
  python3 -m venv "$folder" >&2
  "$folder/bin/pip" install --quiet "pyinfra==3.10.0" >&2
fi
echo "$folder"
