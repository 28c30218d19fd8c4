#!/usr/bin/env bash
# Fuzzes every reader with libFuzzer for a while: builds preset fuzz (Clang 14, ASan, UBSan), starts from the corpora of tests/fuzz, and
# keeps what it finds in build-fuzz/corpus/TARGET. Says in the end how many inputs each target read.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/fuzz.sh [--seconds N] [--jobs N] [TARGET...]

  --seconds N   for each target (default 600)
  --jobs N      targets at a time (default: half of the cores)
  TARGET        names of tests/fuzz/targets.txt (default: all)

An input that ends the program, takes more than a second or more than 1 GB is left as build-fuzz/crash-TARGET-…
TEXT
}

seconds=600
jobs=$((($(nproc) + 1) / 2))
targets=()
while [ $# -gt 0 ]; do
    case $1 in
        --seconds) seconds=$2; shift 2 ;;
        --jobs) jobs=$2; shift 2 ;;
        -h | --help) usage; exit 0 ;;
        -*) usage >&2; exit 2 ;;
        *) targets+=("$1"); shift ;;
    esac
done
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(sed -n 's/^\([a-z][a-z_]*\) .*/\1/p' tests/fuzz/targets.txt)

cmake --preset fuzz >build-fuzz.log 2>&1 || { cat build-fuzz.log; exit 1; }
rm -f build-fuzz.log
cmake --build --preset fuzz --target treeline_fuzz

run_target() {
    local target=$1 dictionary seeds
    read -r _ dictionary _ seeds < <(grep "^$target " tests/fuzz/targets.txt)
    mkdir -p "build-fuzz/corpus/$target" "build-fuzz/seeds/$target"
    for seed in $seeds "tests/fuzz/corpus/$target"; do
        [ -e "$seed" ] && find "$seed" -type f -exec cp {} "build-fuzz/seeds/$target/" \;
    done
    local status=0
    TREELINE_FUZZ_TARGET=$target build-fuzz/tests/fuzz/treeline_fuzz "build-fuzz/corpus/$target" "build-fuzz/seeds/$target" \
        -dict="tests/fuzz/dictionaries/$dictionary.dict" -max_total_time="$seconds" -timeout=1 -rss_limit_mb=1024 -max_len=65536 \
        -artifact_prefix="build-fuzz/crash-$target-" -print_final_stats=1 >"build-fuzz/$target.log" 2>&1 </dev/null || status=$?
    printf '%-18s %12s inputs, peak %6s MB, exit code %s\n' "$target" \
        "$(sed -n 's/^stat::number_of_executed_units: //p' "build-fuzz/$target.log")" \
        "$(sed -n 's/^stat::peak_rss_mb: *//p' "build-fuzz/$target.log")" "$status"
}
export -f run_target
export seconds
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'run_target {}'
