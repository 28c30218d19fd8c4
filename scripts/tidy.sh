#!/usr/bin/env bash
# clang-tidy on C++ files. The whole tree takes most of an hour of one core, so that ./check looks at the files changed last alone:
# first those not committed yet, then those of the newest commits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage="Usage: scripts/tidy.sh [--last N | --since COMMIT | --all | FILE...] [--jobs N]

  --last N        the N files changed last (default: 4)
  --since COMMIT  the files that differ from a commit
  --all           every file
  --jobs N        so many at once (default: all cores)

Exit code 77: nothing could be checked, because clang-tidy or the history is missing."

skip() {
    echo "skipped: $*"
    exit 77
}

read_options() {
    choice=last last=4 jobs=$(nproc) files=()
    while [ $# -gt 0 ]; do
        case "$1" in
            --last | --since | --jobs) [ $# -gt 1 ] || { echo "tidy: $1 needs a value" >&2; exit 1; } ;;&
            --last) choice=last last=$2; shift ;;
            --since) choice=since since=$2; shift ;;
            --all) choice=all ;;
            --jobs) jobs=$2; shift ;;
            -h | --help) echo "$usage"; exit 0 ;;
            -*) echo "tidy: unknown option $1 (see --help)" >&2; exit 1 ;;
            *) choice=named; files+=("$1") ;;
        esac
        shift
    done
}

# Files of interest, one a line, newest first.
chosen() {
    local kinds=('*.cpp' '*.h' ':!scripts')  # scripts/ has a program against another project's headers
    case "$choice" in
        named) printf '%s\n' "${files[@]}" ;;
        all) git ls-files -- "${kinds[@]}" ;;
        since) git diff --name-only --diff-filter=d "$since" -- "${kinds[@]}"; git ls-files --others --exclude-standard -- "${kinds[@]}" ;;
        last)
            {
                git ls-files --others --exclude-standard -- "${kinds[@]}"
                git diff --name-only --diff-filter=d HEAD -- "${kinds[@]}"
                git log --format= --name-only -n 200 -- "${kinds[@]}"
            } | while read -r file; do [ ! -f "$file" ] || echo "$file"; done | awk -v most="$last" '!seen[$0]++ && ++count <= most' ;;
    esac
}

# A header is looked at through a source file that includes it, its own where it has one.
with_source() {
    local file
    while read -r file; do
        case "$file" in
            *.cpp) echo "$file" ;;
            *) if [ -f "${file%.h}.cpp" ]; then
                   echo "${file%.h}.cpp"
               else
                   { git grep -l -E "#include \"(.*/)?$(basename "$file")\"" -- '*.cpp' || true; } | sed -n 1p
               fi ;;
        esac
    done | awk '!seen[$0]++'
}

# What the tidy preset compiles and clang can read: not programs of other builds, nor what uses GCC's built-in vectors or includes
# what Verilator generates.
readable() {
    local file
    while read -r file; do
        if grep -qF "\"file\": \"$PWD/$file\"" build-tidy/compile_commands.json && ! grep -qE '#include ("kernels/cpu/vectors.h"|[<"]verilated|"V[a-z_]+\.h")' "$file"; then
            echo "$file"
        fi
    done
}

# One file: silent where it is clean.
if [ "${1:-}" = --one ]; then
    # clang has no <omp.h> without its own OpenMP library; GCC's says the same.
    output=$(clang-tidy --quiet -p build-tidy --extra-arg=-Qunused-arguments --extra-arg="-idirafter$(dirname "$(g++ -print-file-name=include/omp.h)")" "$2" 2>/dev/null) || { echo "$output"; exit 1; }
    exit 0
fi

read_options "$@"
command -v clang-tidy >/dev/null || skip "clang-tidy is not here (apt-get install clang-tidy)"
clang-tidy --version | grep -q 'version 14\.' || skip "clang-tidy is not version 14, whose checks .clang-tidy names"
git rev-parse --verify --quiet HEAD >/dev/null || skip "there is no history that says what was changed"
cmake --preset tidy >/dev/null
list=$(chosen | with_source | readable)
[ -n "$list" ] || skip "no file to look at"
echo "$list" | xargs -P "$jobs" -n 1 scripts/tidy.sh --one || { echo "tidy: clang-tidy complains (see .clang-tidy)" >&2; exit 1; }
echo "clang-tidy: $(echo "$list" | wc -l) files are clean"
