#!/usr/bin/env bash
# Do all CUDA kernels keep to their registers on A100 (sm_80) and H100 (sm_90)? A spilled register goes through memory beside what is
# measured. no_spills.sh NVCC BUILD_FOLDER SOURCE...
set -euo pipefail
nvcc=$1 build=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$(cd "$(dirname "$0")/../.." && pwd)
kernels=0 spilling=0
for source in "$@"; do
    for architecture in 80 90; do
        "$nvcc" -std=c++20 -O3 -DNDEBUG -arch=sm_$architecture -Xptxas -v -I "$root" -I "$build/include/kernels" -I "$build/include/sim" \
            -I "$build/include/numerics" -cubin -o "$work/kernel.cubin" "$source" 2>"$work/said" || { cat "$work/said"; exit 1; }
        kernels=$((kernels + $(grep -c 'spill stores' "$work/said" || true)))
        # The name of a kernel stands two lines above its spills.
        if grep -B 2 -E '[1-9][0-9]* bytes (stack frame|spill)' "$work/said" | c++filt; then
            echo "FAILED: $source spills on sm_$architecture"
            spilling=$((spilling + 1))
        fi
    done
done
echo "$kernels kernels, $spilling files with spills"
[ "$kernels" -gt 50 ] && [ "$spilling" -eq 0 ]
