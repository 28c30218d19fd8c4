#!/usr/bin/env bash
# Looks for data races with ThreadSanitizer: builds preset threads (Clang 14; OpenMP's own synchronisation is known to it by libarcher), then
# runs what uses threads. Fails on the first race that it reports.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/threads.sh [sweep] [serve] [kernels]

  sweep     a sweep into a store and a recommendation, with eight threads
  serve     the server, asked by eight connections at once for a while
  kernels   the unit tests of kernels/, with four threads of OpenMP
TEXT
}
case ${1:-} in -h | --help) usage; exit 0 ;; esac
parts=("$@")
[ $# -gt 0 ] || parts=(sweep serve kernels)

cmake --preset threads >build-threads.log 2>&1 || { cat build-threads.log; exit 1; }
rm -f build-threads.log
targets=(treeline)
case " ${parts[*]} " in *" serve "*) targets+=(treeline_serve_load) ;; esac
case " ${parts[*]} " in *" kernels "*) targets+=(treeline_tests) ;; esac
cmake --build build-threads --target "${targets[@]}"

archer=$(find /usr/lib -name libarcher.so 2>/dev/null | head -1)
export OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=4 OPENBLAS_NUM_THREADS=1
# Libraries that are not built with it (OpenBLAS, SQLite) are left out of its sight.
export TSAN_OPTIONS="halt_on_error=1 exitcode=66 ignore_noninstrumented_modules=1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
treeline=build-threads/treeline

# raced LOG CODE: says so and ends where a race was reported.
raced() {
    [ "$2" -ne 66 ] && ! grep -q 'WARNING: ThreadSanitizer' "$1" || { cat "$1"; exit 1; }
}

run_sweep() {
    local code=0
    cat >"$work/space.json" <<'JSON'
{"axes": {"target": "llama-3-8b", "device": ["h100-sxm", "l40s"], "drafter": [{"kind": "ngram", "acceptance": {"geometric": 0.5}}],
          "draft_tokens": {"from": 0, "to": 15}, "batch": {"from": 1, "to": 200}, "context": {"from": 100, "to": 2000, "step": 100}}}
JSON
    "$treeline" sweep "$work/space.json" --threads 8 --store "$work/store.db" >"$work/log" 2>&1 || code=$?
    raced "$work/log" "$code"
    "$treeline" recommend examples/llama-3.1-8b-h100.json --threads 8 >"$work/log" 2>&1 || code=$?
    raced "$work/log" "$code"
    echo "sweep: no race, exit code $code"
    [ "$code" -eq 0 ]
}

run_serve() {
    local port='' server code=0 counts=''
    "$treeline" serve --port 0 >"$work/said" 2>"$work/log" &
    server=$!
    for _ in $(seq 300); do
        port=$(sed -n 's/.*:\([0-9]*\)\/.*/\1/p' "$work/said")
        [ -z "$port" ] || break
        sleep 0.1
    done
    cat >"$work/recommend.json" <<'JSON'
{"target": "llama-3.1-8b", "platforms": [{"device": "h100-sxm", "engine": "vllm"}], "drafters": ["eagle3-llama-3.1-8b"], "draft_tokens": {"from": 1, "to": 8},
 "traffic": {"concurrency": [8, 32]}, "prompt_tokens": 1000, "output_tokens": 300}
JSON
    cat >"$work/estimate.json" <<'JSON'
{"target": "llama-3.1-8b", "platform": {"device": "h100-sxm", "stack": "vllm"}, "drafter": "eagle3-llama-3.1-8b", "draft_tokens": 3,
 "concurrency": 32, "prompt_tokens": 1000, "output_tokens": 300}
JSON
    for question in recommend estimate recommend; do
        counts+=" $question: $(build-threads/tests/serve/treeline_serve_load "$port" "/v1/$question" "$work/$question.json" 20 10 8 | cut -d' ' -f1,2)," || true
    done
    kill -TERM "$server"
    wait "$server" || code=$?
    raced "$work/log" "$code"
    echo "serve: no race (asked and failed of${counts%,})"
}

run_kernels() {
    local code=0
    build-threads/tests/treeline_tests '~[shared]~[slow]' >"$work/log" 2>&1 || code=$?
    raced "$work/log" "$code"
    tail -3 "$work/log"
    echo "kernels: no race, exit code $code"
    [ "$code" -eq 0 ]
}

for part in "${parts[@]}"; do "run_$part"; done
