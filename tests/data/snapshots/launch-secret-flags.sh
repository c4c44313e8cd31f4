#!/bin/sh
# Launches one release of a service. Rendered by relight and never edited: the preset is the source.
# shellcheck disable=SC1091,SC2016  # env is written beside it; values are literal on purpose
set -eu
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export CUDA_VISIBLE_DEVICES=0,1
# Flags whose values no command line may show, in another such file.
exec /opt/sglang/bin/python -m sglang.launch_server --model-path /models/m --served-model-name m --port 30000 --tp-size 2 --config "${0%/*}"/flags.yaml
