#!/bin/sh
# Makes the environment of ansible-core that the differential tests compare with, outside the checkout.
# Prints its folder. RELIGHT_ANSIBLE names one that exists already.
set -eu
if test -n "${RELIGHT_ANSIBLE:-}"; then
  echo "$RELIGHT_ANSIBLE"
  exit 0
fi
folder="${RELIGHT_CACHE:-$HOME/.cache/relight}/ansible-2.19"
mkdir -p "$(dirname "$folder")"
exec 9> "$folder.lock"
flock 9
if ! test -x "$folder/bin/ansible-playbook"; then
  python3 -m venv "$folder" >&2
  "$folder/bin/pip" install --quiet "ansible-core>=2.19,<2.20" >&2
fi
echo "$folder"
