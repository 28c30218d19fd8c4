#!/usr/bin/env bash
# Do programs of other compilers and optimisation levels, and other numbers of threads, give the same bytes?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
    -h | --help | '')
        cat <<'TEXT'
Usage: scripts/same_answers.sh [--clang] PROGRAM [PROGRAM...]

Asks every program for the answers to the examples, as JSON, CSV and text, and compares them with the first program's with one
thread, byte for byte; each program is asked with 1, 2 and 5 threads where that can be said. For example, after building them:

  scripts/same_answers.sh build/treeline build-dev/treeline build-fuzz/treeline

  --clang   one more program: preset clang, which is built for it (exit code 77 without Clang 14)
TEXT
        exit $(($# > 0 ? 0 : 2)) ;;
    --clang)
        command -v clang++-14 >/dev/null || { echo "no clang++-14 (Debian: clang-14)"; exit 77; }
        { cmake --preset clang && cmake --build build-clang --target treeline; } >build-clang.log 2>&1 || { tail -20 build-clang.log; exit 1; }
        rm -f build-clang.log
        set -- "${@:2}" build-clang/treeline ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/space.json" <<'JSON'
{"axes": {"target": "llama-3-8b", "device": ["h100-sxm", "l40s"], "drafter": [{"kind": "ngram", "acceptance": {"geometric": 0.5}}],
          "draft_tokens": {"from": 0, "to": 7}, "batch": {"from": 1, "to": 100}, "context": {"from": 100, "to": 2000, "step": 100}}}
JSON

# Lines of "NAME COMMAND..."; what takes --threads says THREADS.
questions() {
    local file name
    for file in examples/*.json; do
        name=$(basename "$file" .json)
        case $name in
            estimate-* | experts-in-host-memory) echo "$name estimate $file --format json"; echo "$name-text estimate $file" ;;
            *trees* | tree-* | spire-study | fpga-*) ;;
            *) echo "$name recommend $file --format json THREADS"; echo "$name-text recommend $file THREADS" ;;
        esac
    done
    echo "sweep sweep $work/space.json --csv - THREADS"
    for file in examples/trees/*.json; do echo "tree-$(basename "$file" .json) tree show $file"; done
    for file in examples/traffic/*.json; do echo "traffic-$(basename "$file" .json) study traffic $file --format json"; done
    for file in examples/bandit/*.json; do echo "bandit-$(basename "$file" .json) study bandit $file --format json"; done
    for file in examples/fits/*.csv; do echo "fit-$(basename "$file" .csv) study fit $file"; done
    echo "validate validate"
}

# ask PROGRAM THREADS FOLDER: each answer with its exit code.
ask() {
    mkdir -p "$3"
    while read -r name command; do
        local code=0
        # shellcheck disable=SC2086
        "$1" ${command/THREADS/--threads $2} >"$3/$name" 2>&1 </dev/null || code=$?
        echo "exit code $code" >>"$3/$name"
    done < <(questions | if [ "$2" = 1 ]; then cat; else grep THREADS; fi)
}

ask "$1" 1 "$work/first"
differ=0
asked=0
for program in "$@"; do
    for threads in 1 2 5; do
        [ "$program $threads" != "$1 1" ] || continue
        rm -rf "$work/other"
        ask "$program" "$threads" "$work/other"
        for answer in "$work"/other/*; do
            asked=$((asked + 1))
            cmp -s "$answer" "$work/first/$(basename "$answer")" || { echo "$program with $threads threads differs: $(basename "$answer")"; differ=$((differ + 1)); }
        done
    done
done
refused=$(tail -qn1 "$work"/first/* | grep -vc '^exit code 0$' || true)
echo "$# programs, $(find "$work/first" -type f | wc -l) questions ($refused refused), $asked answers compared, $differ differ"
[ "$differ" -eq 0 ] && [ "$refused" -eq 0 ]
