#!/usr/bin/env bash
# A hash of what the live page's module is compiled from: sources of the library, its catalogue, and how both are built. The page holds that of its
# own, so that anybody sees whether it is of this source (scripts/live_module.sh).
#   scripts/live_sources.sh [--list]     --list names the files instead
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C

files() {
    find CMakeLists.txt CMakePresets.json numerics sim text json models hardware kernels decoder calibrate runs validation sweeps engines requests reports \
        library include wasm examples -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.inc' -o -name '*.json' -o -name '*.csv' -o -name CMakeLists.txt \) \
        -not -path 'reports/page/*' -not -path 'kernels/*/*' -not -path 'decoder/*.cpp' -not -path 'calibrate/measure/*.cpp' -not -path 'calibrate/measurements/*' -not -path 'examples/cpp/*'
    find kernels/hls cmake/wasm -type f -not -name '*.md'
    printf 'decoder/%s\n' decode_study.cpp decode_unavailable.cpp
    printf 'cmake/%s\n' EmbedCatalogue.cmake EmbedFile.cmake TreelineFolder.cmake TreelineHardening.cmake TreelineParts.cmake TreelineWasm.cmake embed_wasm.S.in \
        emscripten_toolchain.cmake pack_files.cmake
}

if [ "${1:-}" = --list ]; then
    files | sort -u
else
    files | sort -u | tr '\n' '\0' | xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1
fi
