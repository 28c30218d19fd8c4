#!/usr/bin/env bash
# Makes the module of the live page (wasm/README.md): scripts/live_module.sh [folder, default wasm/module] [build folder, default build-wasm]
# Exit code 77: Emscripten is not here.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-wasm/module}
build=${2:-build-wasm}

if ! command -v em++ >/dev/null; then
    echo "Skipped: Emscripten is not installed; on Debian: apt-get install --no-install-recommends emscripten" >&2
    exit 77
fi
cmake --preset wasm -B "$build" >/dev/null
cmake --build "$build" --target treeline_wasm >/dev/null
mkdir -p "$folder"
cp "$build/wasm/treeline.js" "$folder/treeline.js"
gzip --best --no-name --to-stdout "$build/wasm/treeline.wasm" >"$folder/treeline.wasm.gz"
ls -l "$folder"
