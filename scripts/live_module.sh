#!/usr/bin/env bash
# The live page that is kept, docs/live.html (wasm/README.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage="Usage: scripts/live_module.sh [--jobs N] [--compare] [BUILD_FOLDER]

Compiles the library to WebAssembly in BUILD_FOLDER (default: build-wasm), builds the program into build/, and writes docs/live.html.

  --jobs N   compile with N processes (default: all cores)
  --compare  write nothing: does docs/live.html hold what is compiled here, bit for bit?

Exit code 77: Emscripten 3.1.6 or zopfli is not here."

jobs=$(nproc) build=build-wasm compare=no
while [ $# -gt 0 ]; do
    case $1 in
        --jobs) jobs=${2:?$usage}; shift 2 ;;
        --compare) compare=yes; shift ;;
        -h | --help) echo "$usage"; exit 0 ;;
        -*) echo "$usage" >&2; exit 2 ;;
        *) build=$1; shift ;;
    esac
done

version=$(em++ --version 2>/dev/null || true)
if [[ $version != *" 3.1.6 "* ]]; then
    echo "Skipped: Emscripten 3.1.6 is not installed; on Debian 12: apt-get install --no-install-recommends emscripten" >&2
    exit 77
fi
if ! command -v zopfli >/dev/null; then
    echo "Skipped: zopfli is not installed; on Debian 12: apt-get install zopfli" >&2
    exit 77
fi
if command -v ccache >/dev/null; then
    export EM_COMPILER_WRAPPER=ccache
fi
cmake --preset wasm -B "$build" >/dev/null
# Clang 14 orders exceptions' blocks by addresses: so the same every time on one machine.
fixed_addresses=()
! setarch "$(uname -m)" -R true 2>/dev/null || fixed_addresses=(setarch "$(uname -m)" -R)
"${fixed_addresses[@]}" cmake --build "$build" --target treeline_wasm --parallel "$jobs" >"$build/build.log" 2>&1 || { tail -n 40 "$build/build.log" >&2; exit 1; }
module=$build/module
mkdir -p "$module"
for file in treeline.js treeline.wasm; do
    zopfli --i5 -c "$build/wasm/$file" >"$module/$file.gz"  # 5 % less than gzip's best, and the page may have 1.6 MB
done
scripts/live_sources.sh >"$module/sources"

if [ "$compare" = yes ]; then
    node --input-type=module -e '
        import { compiledLibrary } from "./reports/page/live_module.mjs";
        const [made, kept] = [process.argv[1], "docs/live.html"].map(compiledLibrary);
        const different = Object.keys(made).filter((part) => made[part] !== kept[part]);
        console.log(different.length ? `docs/live.html holds another library: ${different.join(", ")}` : "docs/live.html holds this library, bit for bit");
        process.exit(different.length ? 1 : 0);' "$module"
    exit
fi

cmake -D NPM="$(command -v npm)" -D FOLDER="$PWD/reports/page" -P cmake/npm_ci.cmake

# The program takes the library out of docs/live.html, and fills the page with its first answer.
node reports/page/build.mjs docs/live.html --live "$module"
if [ -f build/CMakeCache.txt ]; then cmake -B build >/dev/null; else cmake --preset release -DTREELINE_CUDA=OFF >/dev/null; fi  # a build that was configured without a page looks again
cmake --build build --target treeline --parallel "$jobs" >/dev/null
build/treeline explore --output docs/live.html
ls -l docs/live.html
