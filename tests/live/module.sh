#!/usr/bin/env bash
# Is the module that is kept the one that this source makes? module.sh <source> <kept folder> <build folder>
# Exit code 77: nothing is kept, or Emscripten of the version that made it is not here.
set -euo pipefail
source=$1 kept=$2 build=$3
if [ ! -f "$kept/treeline.wasm.gz" ]; then
    echo "Skipped: no module is kept in $kept"
    exit 77
fi
if ! command -v em++ >/dev/null || ! em++ --version | head -n 1 | grep -qF ' 3.1.6 '; then
    echo "Skipped: Emscripten 3.1.6 is not installed"
    exit 77
fi
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$source/scripts/live_module.sh" "$made" "$build"
for file in treeline.js treeline.wasm.gz; do
    if ! cmp "$kept/$file" "$made/$file"; then
        echo "FAILED: $kept/$file is not what this source makes; scripts/live_module.sh makes it again"
        exit 1
    fi
done
echo "The kept module is what this source makes, byte for byte."
