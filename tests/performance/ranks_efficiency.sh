#!/bin/bash
# How much of the machine does a sweep that processes share use, and what would a thousand nodes? ranks_efficiency.sh TREELINE [RANKS]
#
# The same sweep on one rank, on RANKS (default: the cores here), and on RANKS ranks that know nothing of one another, each doing
# all of it at the same time: what those take each is what the machine needs for the sweep with that many cores busy (cores share
# caches, memory and a frequency, and ranks on nodes of their own do not), so the ranks' loss is what they spend together over it.
# Each of two sizes, so that starting up is told apart from pricing; the least of several rounds, each of which measures all of
# them, until the goal is met. Judged by processor time: a machine that is busy with something else makes the clock run on, not the
# program slower; the clock is printed beside. The goal is 90 %; exits with 1 below 75 %, with 77 without MPI.
set -u
treeline=$(realpath "$1")
ranks=${2:-$(nproc)}
least_rounds=2
most_rounds=8
goal=0.90
least=0.75
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

# sweep RANKS STEP NAME: clock and processor seconds of one sweep, appended to NAME.times; its answer is NAME.out.
sweep() {
    local TIMEFORMAT='%R %U %S'
    { time mpirun --oversubscribe -n "$1" "$treeline" sweep "space-$2.json" --top 3 >"$3.out" 2>"$3.err"; } 2>"$3.time" || {
        grep -q 'built without MPI' "$3.err" && { echo "Skipped: treeline was built without MPI." >&2; exit 77; }
        cat "$3.err" >&2
        exit 1
    }
    tail -1 "$3.time" | awk '{print $1, $2 + $3}' >>"$3.times"
}

# least COLUMN FILE...: the smallest number of a column (1: clock, 2: processor) in seconds.
least() {
    local column=$1
    shift
    awk -v column="$column" 'NR == 1 || $column < best {best = $column} END {print best}' "$@"
}

space 2000
space 16
points=$(awk 'BEGIN {print 4 * 16 * 256 * (100000 / 16 - 100000 / 2000)}')
for round in $(seq $most_rounds); do
    for step in 2000 16; do
        sweep 1 $step "alone-$step"
        sweep "$ranks" $step "shared-$step"
        others=()
        for other in $(seq "$ranks"); do
            sweep 1 $step "beside-$other-$step" &
            others+=($!)
        done
        for other in "${others[@]}"; do wait "$other" || exit $?; done
    done
    cmp -s alone-16.out shared-16.out || { echo "$ranks ranks give another answer than one"; exit 1; }
    beside=$(least 2 beside-*-16.times) beside_start=$(least 2 beside-*-2000.times)
    shared=$(least 2 shared-16.times) shared_start=$(least 2 shared-2000.times)
    [ "$round" -ge $least_rounds ] &&
        awk "BEGIN {exit !(($beside - $beside_start) >= $goal * ($shared - $shared_start))}" && break
done

awk -v ranks="$ranks" -v points="$points" -v goal=$goal -v least=$least -v beside="$beside" -v beside_start="$beside_start" \
    -v shared="$shared" -v shared_start="$shared_start" -v rounds="$round" \
    -v alone="$(least 2 alone-16.times)" -v alone_start="$(least 2 alone-2000.times)" \
    -v alone_clock="$(least 1 alone-16.times)" -v alone_clock_start="$(least 1 alone-2000.times)" \
    -v clock="$(least 1 shared-16.times)" -v clock_start="$(least 1 shared-2000.times)" 'BEGIN {
    one = beside - beside_start; all = shared - shared_start
    one_clock = alone_clock - alone_clock_start; all_clock = clock - clock_start
    efficiency = one / all
    printf "%.0f points, processor time: one rank alone %.2f s, each of %d that share nothing %.2f s, %d ranks that share them %.2f s together; by the clock one %.2f s and %d %.2f s\n", points, alone - alone_start, ranks, one, ranks, all, one_clock, ranks, all_clock
    printf "%s efficiency on %d ranks: %.0f %% by processor time, goal %.0f %%; %.0f %% by the clock of this machine; %d rounds\n", (efficiency >= goal ? "met   " : "MISSED"), ranks, 100 * efficiency, 100 * goal, 100 * one_clock / (ranks * all_clock), rounds
    # The model of docs/sweeps.md, "How it scales".
    rate = points / one                          # of a core
    start = clock_start                          # launcher, catalogue, compiling: the small sweep, most of which is that
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
    exit !(efficiency >= least)
}'
