#!/bin/bash
# How much of the machine does a sweep that processes share use, and what would a thousand nodes? ranks_efficiency.sh TREELINE [RANKS]
#
# The same sweep on one rank and on RANKS (default: the cores here), each of two sizes, so that starting up is told apart from
# pricing; the least of several runs. Judged by processor time: what the ranks spend together over what one spends. A machine that is
# busy with something else makes the clock run on, not the program slower; the clock is printed beside. Exits with 1 below 90 %,
# with 77 without MPI.
set -u
treeline=$(realpath "$1")
ranks=${2:-$(nproc)}
repeats=3
goal=0.90
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TREELINE_DATA=${TREELINE_DATA:-$(realpath "$(dirname "$0")/../..")}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
command -v mpirun >/dev/null 2>&1 || { echo "Skipped: there is no mpirun."; exit 77; }

# space STEP: contexts every so many tokens; points in all.
space() {
    cat >"space-$1.json" <<END
{"axes": {"target": "llama-3-8b", "device": ["h100-sxm", "a100-sxm-80", "h200", "l40s"], "stack": "vllm", "drafter":
  {"kind": "model", "model": "llama-3.2-1b", "acceptance": {"geometric": 0.8}}, "draft_tokens": {"from": 1, "to": 16},
  "batch": {"from": 1, "to": 256}, "context": {"from": 0, "to": 100000, "step": $1}}, "prompt_tokens": 1000, "output_tokens": 300}
END
}

# seconds RANKS STEP: the least clock and processor seconds of a sweep.
seconds() {
    local best_clock=1e9 best_processor=1e9 clock processor
    for _ in $(seq $repeats); do
        TIMEFORMAT='%R %U %S'
        { time mpirun --oversubscribe -n "$1" "$treeline" sweep "space-$2.json" --top 3 >"out-$1.txt" 2>err.txt; } 2>times.txt || {
            grep -q 'built without MPI' err.txt && { echo "Skipped: treeline was built without MPI." >&2; exit 77; }
            cat err.txt >&2
            exit 1
        }
        read -r clock processor < <(tail -1 times.txt | awk '{print $1, $2 + $3}')
        best_clock=$(awk -v a="$best_clock" -v b="$clock" 'BEGIN {print a < b ? a : b}')
        best_processor=$(awk -v a="$best_processor" -v b="$processor" 'BEGIN {print a < b ? a : b}')
    done
    echo "$best_clock $best_processor"
}

space 2000
space 8
points=$(awk 'BEGIN {print 4 * 16 * 256 * (100000 / 8 - 100000 / 2000)}')
small_one=$(seconds 1 2000) || exit $?
large_one=$(seconds 1 8) || exit $?
small_all=$(seconds "$ranks" 2000) || exit $?
large_all=$(seconds "$ranks" 8) || exit $?
cmp -s out-1.txt "out-$ranks.txt" || { echo "$ranks ranks give another answer than one"; exit 1; }

echo "$small_one $large_one $small_all $large_all" | awk -v ranks="$ranks" -v points="$points" -v goal=$goal '{
    one_clock = $3 - $1; one = $4 - $2; all_clock = $7 - $5; all = $8 - $6
    efficiency = one / all
    printf "%.0f points: one rank %.2f s of processor time, %d ranks %.2f s together; by the clock %.2f s and %.2f s\n", points, one, ranks, all, one_clock, all_clock
    printf "%s efficiency on %d ranks: %.0f %% by processor time, goal %.0f %%; %.0f %% by the clock of this machine\n", (efficiency >= goal ? "met   " : "MISSED"), ranks, 100 * efficiency, 100 * goal, 100 * one_clock / (ranks * all_clock)
    # The model of docs/sweeps.md, "How it scales".
    rate = points / one                          # of a core
    start = $5                                   # launcher, catalogue, compiling: the small sweep, most of which is that
    shares = 64                                  # of each rank
    groups = 4000                                # that a share touched
    message = 2e-5 + 1e-8 * groups               # of rank 0, for each share: taking it in, merging its lists
    bytes = 24 * groups; link = 1e9              # to rank 0
    lost = efficiency < 1 ? efficiency : 1       # every rank loses what the ranks here lose
    answer = 65536 / rate / 2                    # half a task: rank 0 answers between its tasks
    printf "model, 10^12 points, lists of 4,000 groups, ranks of %.1f M points/s each, start %.2f s, message %.0f us + %.0f kB at 1 GB/s, answer after %.1f ms:\n", rate / 1e6, start, 1e6 * message, bytes / 1e3, 1e3 * answer
    for (nodes = 1; nodes <= 1000; nodes *= 10) {
        ideal = 1e12 / rate / nodes
        share = ideal / shares
        rank0 = nodes > 1 ? shares * nodes * (message + bytes / link) : 0
        time = ideal * (nodes > 1 ? 1 / lost + answer / share : 1) + start + (nodes > 1 ? share : 0)
        time = time > rank0 ? time : rank0       # rank 0 takes messages while the others work, unless it is the slowest
        printf "  %5d ranks: %9.1f s of %9.1f s without loss: %.0f %%; rank 0 takes in messages for %.1f s of it\n", nodes, time, ideal, 100 * ideal / time, rank0
    }
    exit !(efficiency >= goal)
}'
