#!/usr/bin/env bash
# Fuzzes every reader and the evaluator, starting from the corpora of tests/fuzz, and says in the end how many inputs each target read and
# how many all did. Fails where an input ended a target, took more than a second or more than 1 GB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/fuzz.sh [--seconds N] [--jobs N] [--fast] [--seed N] [TARGET...]
       scripts/fuzz.sh --program [--seconds N] [COMMAND...]

  --seconds N   for each target (default 600)
  --jobs N      targets at a time (default: half of the cores)
  TARGET        names of tests/fuzz/targets.txt (default: all)
  --fast        mutations alone, by the release build: many more inputs, but none is chosen by the code that it reaches, and there are
                no sanitizers. Other inputs with another --seed (default: 1)
  --program     AFL++ on the whole program: what it does with a request, a log, a table or a recipe that it is given as a file, for
                recommend, estimate, sweep, import, lint and "study fit", or for the COMMANDs named

Otherwise libFuzzer, with AddressSanitizer and UndefinedBehaviorSanitizer (preset fuzz, Clang 14); what it finds worth keeping is kept in
build-fuzz/corpus/TARGET. An input that fails is left in build-fuzz/crash-TARGET… (build/fuzz/ with --fast, build-afl/ with --program).
TEXT
}

program_commands=(recommend estimate sweep import lint 'study fit')
seconds=600 jobs=$((($(nproc) + 1) / 2)) seed=1 how=sanitized
targets=()
while [ $# -gt 0 ]; do
    case $1 in
        --seconds) seconds=$2; shift 2 ;;
        --jobs) jobs=$2; shift 2 ;;
        --seed) seed=$2; shift 2 ;;
        --fast) how=fast; shift ;;
        --program) how=program; shift ;;
        -h | --help) usage; exit 0 ;;
        -*) usage >&2; exit 2 ;;
        *) targets+=("$1"); shift ;;
    esac
done
[ ${#targets[@]} -gt 0 ] && program_commands=("${targets[@]}") || mapfile -t targets < <(sed -n 's/^\([a-z][a-z_]*\) .*/\1/p' tests/fuzz/targets.txt)

# The files and folders that a target starts from, one a line; its dictionary.
seeds_of() {
    read -r _ _ _ seeds < <(grep "^$1 " tests/fuzz/targets.txt)
    for seed_file in $seeds "tests/fuzz/corpus/$1"; do
        [ ! -e "$seed_file" ] || realpath "$seed_file"
    done
}
dictionary_of() { realpath "tests/fuzz/dictionaries/$(sed -n "s/^$1 *\([a-z]*\) .*/\1/p" tests/fuzz/targets.txt).dict"; }

# A line of the table: inputs, peak in MB, the slowest input in ms (0: below a second), exit code.
line_of() { printf '%-18s %12s inputs, peak %5s MB, slowest %5s ms, exit code %s\n' "$@"; }

sanitized_target() {
    local target=$1 status=0
    mkdir -p "build-fuzz/corpus/$target" "build-fuzz/seeds/$target"
    seeds_of "$target" | while read -r place; do find "$place" -type f -exec cp {} "build-fuzz/seeds/$target/" \;; done
    local log="build-fuzz/$target.log" end=$((SECONDS + seconds)) inputs=0 peak=0 slow
    stat() { sed -n "s/^stat::$1: *//p" "$log"; }
    while :; do
        TREELINE_FUZZ_TARGET=$target build-fuzz/tests/fuzz/treeline_fuzz "build-fuzz/corpus/$target" "build-fuzz/seeds/$target" \
            -dict="$(dictionary_of "$target")" -max_total_time=$((end > SECONDS ? end - SECONDS : 1)) -timeout=1 -rss_limit_mb=1024 \
            -max_len=65536 -artifact_prefix="build-fuzz/crash-$target-" -print_final_stats=1 >"$log" 2>&1 </dev/null || status=$?
        inputs=$((inputs + $(stat number_of_executed_units)))
        [ "$(stat peak_rss_mb)" -le "$peak" ] || peak=$(stat peak_rss_mb)
        # A second of a busy machine's clock is none of the input's processor time: only that counts.
        slow=$(sed -n 's/.*Test unit written to \(.*-timeout-.*\)/\1/p' "$log")
        [ "$status" -eq 70 ] || break
        (ulimit -t 1 && TREELINE_FUZZ_TARGET=$target exec build-fuzz/tests/fuzz/treeline_fuzz "$slow") >/dev/null 2>&1 || break
        rm "$slow"
        status=0
        [ "$SECONDS" -lt "$end" ] || break
    done
    line_of "$target" "$inputs" "$peak" "$((1000 * $(stat slowest_unit_time_sec)))" "$status"
}

fast_target() {
    local target=$1 status=0 places counted slowest peak dictionary
    mkdir -p "build/fuzz/$target"
    mapfile -t places < <(seeds_of "$target")
    dictionary=$(dictionary_of "$target")
    (cd "build/fuzz/$target" && exec ../../tests/fuzz/treeline_fuzz "$target" 1000000000 --seed "$seed" --seconds "$seconds" \
        --dictionary "$dictionary" "${places[@]}") >"build/fuzz/$target.log" 2>&1 </dev/null || status=$?
    read -r counted slowest peak < <(sed -n 's/.*, \([0-9]*\) mutations, the slowest took \([0-9]*\) ms, peak \([0-9]*\) MB/\1 \2 \3/p' "build/fuzz/$target.log") || true
    line_of "$target" "${counted:-0}" "${peak:-0}" "${slowest:-0}" "$status"
}
# AFL++ with the program built for it, one command after another; then every input that it kept is given to the program once more, which must
# end with exit code 0, 1 or 2 within a second of processor time.
fuzz_program() {
    command -v afl-fuzz >/dev/null || { echo "scripts/fuzz.sh --program needs afl-fuzz (Debian: afl++)" >&2; exit 2; }
    AFL_QUIET=1 cmake --preset afl >/dev/null && AFL_QUIET=1 cmake --build build-afl --target treeline
    local command name wrong=0 inputs=0 file
    for command in "${program_commands[@]}"; do
        name=${command// /-}
        rm -rf "build-afl/seeds/$name" "build-afl/found/$name"
        mkdir -p "build-afl/seeds/$name" build-afl/found
        program_seeds "$name" | while read -r file; do cp "$file" "build-afl/seeds/$name/"; done
        # shellcheck disable=SC2086
        AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_NO_UI=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 afl-fuzz -i "build-afl/seeds/$name" -o "build-afl/found/$name" \
            -V "$seconds" -t 5000 -x "tests/fuzz/dictionaries/json.dict" -- build-afl/treeline $command @@ >"build-afl/$name.log" 2>&1 </dev/null ||
            { tail -5 "build-afl/$name.log"; exit 1; }
        local stats=build-afl/found/$name/default/fuzzer_stats executed crashes
        executed=$(sed -n 's/^execs_done *: //p' "$stats") crashes=$(sed -n 's/^saved_crashes *: //p' "$stats")
        local kept=0 status
        for file in "build-afl/found/$name/default/"{queue,crashes,hangs}/id*; do
            [ -e "$file" ] || continue
            kept=$((kept + 1)) status=0
            # shellcheck disable=SC2086
            (ulimit -t 1 && exec build-afl/treeline $command "$file") >/dev/null 2>&1 </dev/null || status=$?
            [ "$status" -le 2 ] || { echo "$command $file: exit code $status"; wrong=$((wrong + 1)); }
        done
        printf '%-18s %12s inputs, %s kept, %s crashes\n' "$name" "$executed" "$kept" "$crashes"
        inputs=$((inputs + executed)) wrong=$((wrong + crashes))
    done
    echo "$inputs inputs of the whole program, $wrong wrong"
    [ "$wrong" -eq 0 ]
}
# Small files for a command, one a line.
program_seeds() {
    case $1 in
        recommend) find examples -maxdepth 1 -name '*h100*.json' -size -8k ;;
        estimate) find examples -name 'estimate-*.json' -o -name '*-point.json' -size -8k ;;
        sweep) find tests/fuzz/corpus/sweep examples/sweeps -type f -name '*.json' -size -8k ! -name million-points.json ;;
        import) find tests/runs/fixtures -type f -size -8k ;;
        lint) find tests/fuzz/corpus/lint -type f -size -8k ;;
        study-fit) find examples/fits -type f -size -8k ! -name '*.md' ;;
    esac | head -40
}
export -f sanitized_target fast_target line_of seeds_of dictionary_of
export seconds seed

case $how in
    program) fuzz_program; exit ;;
    fast) cmake --build build --target treeline_fuzz >/dev/null ;;
    sanitized)
        cmake --preset fuzz >build-fuzz.log 2>&1 || { cat build-fuzz.log; exit 1; }
        rm -f build-fuzz.log
        cmake --build --preset fuzz --target treeline_fuzz
        ;;
esac
mkdir -p build-fuzz
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c "${how}_target {}" | tee -a build-fuzz/inputs.txt | awk '
    { print; fflush(); inputs += $2; if ($5 > 1024 || $8 > 1000 || $NF != 0) failed = failed " " $1 }
    END { printf "%d inputs in all\n", inputs; if (failed) { print "failed:" failed; exit 1 } }'
awk '{ inputs += $2; of[$1] += $2 } END { for (target in of) least = least == "" || of[target] < least ? of[target] : least
    printf "%d inputs by all runs in this folder (build-fuzz/inputs.txt), at least %d of a target\n", inputs, least }' build-fuzz/inputs.txt
