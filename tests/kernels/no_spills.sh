#!/usr/bin/env bash
# Do all CUDA kernels keep to their registers on A100 (sm_80) and H100 (sm_90), on those of the two that the build is for (./check: H100,
# with --long both)? A spilled register goes through memory beside what is measured. The build keeps what the assembler said of each object (cmake/keep_ptxas.sh). no_spills.sh OBJECT...
set -euo pipefail
kernels=0 spilling=0
for object in "$@"; do
    said=$object.ptxas
    of_source=$(grep -cE "Compiling entry function .* for 'sm_(80|90)'" "$said" || true)
    if [ "$of_source" = 0 ] && grep -q 'Compiling entry function' "$said"; then
        echo "skipped: $object was built for other devices than A100 and H100"
        exit 77
    fi
    kernels=$((kernels + of_source))
    # The name of a kernel stands two lines above its spills.
    if grep -B 2 -E '[1-9][0-9]* bytes (stack frame|spill)' "$said" | c++filt; then
        echo "FAILED: $object spills"
        spilling=$((spilling + 1))
    fi
done
echo "$kernels kernels, $spilling files with spills"
[ "$kernels" -gt 50 ] && [ "$spilling" -eq 0 ]
