#!/usr/bin/env bash
# tests/cli/faults.sh with a hundred kills instead of a few. About a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-build/treeline}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TREELINE_KILLS=${TREELINE_KILLS:-100} TREELINE=$(realpath "$program") SOURCE=$PWD WORK=$work/faults \
    JSON_GET=$(dirname "$(realpath "$program")")/tests/cli/json_get bash tests/cli/faults.sh
