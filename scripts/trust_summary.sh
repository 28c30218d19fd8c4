#!/usr/bin/env bash
# The README's table of errors and what intervals hold, taken from docs/trust.md (or another file of that form): scripts/trust_summary.sh docs/trust.md
set -euo pipefail

awk -F' *[|] *' '
    function row(label, cases, median, p90) { printf "| %s | %s | %s | %s |\n", label, cases, median, p90 }
    $2 ~ /^Time per output token/ { part = "time" }
    $2 ~ /^Speed-up, accept length as measured/ { part = "speed-up" }
    $2 ~ /^Speed-up, accept length fitted/ { part = "fitted" }
    $2 == "the same, nothing fitted" { row("published speculative results of five papers, nothing fitted", $3, $4, $5) }
    function number(cell) { sub(/ .*/, "", cell); return cell + 0 }
    function widen(range, cell) {
        if (cell !~ /^[0-9]/) return
        if (!(range in low) || number(cell) < low[range]) low[range] = number(cell)
        if (!(range in high) || number(cell) > high[range]) high[range] = number(cell)
    }
    $3 == "calibrated" && $4 ~ /^(citation|model|device|engine) [(]/ {
        widen($2, $5)
        for (i = 6; i <= 10; ++i) widen($2 " by batch", $i)
    }
    END {
        printf "- **The 80 %% interval** holds %d to %d %% of the speed-ups of left-out sources, models, devices and engines,", low["gain"], high["gain"]
        printf " %d to %d %% in each class of batches; that of steps without speculation %d to %d %%, %d to %d %% in each class", \
            low["gain by batch"], high["gain by batch"], low["plain step"], high["plain step"], low["plain step by batch"], high["plain step by batch"]
        printf " ([trust](docs/trust.md#measured-serving-rows)).\n"
    }
    $3 != "calibrated" { next }
    part == "time" && $2 == "… dense" { row("time per token without speculation, dense models", $4, $5, $6) }
    part == "time" && $2 == "… mixture" { row("… mixtures of experts", $4, $5, $6) }
    $2 ~ /^… sources that no number/ { cases = $4; median = $5; p90 = $6; apart = 0 }
    $2 ~ /^… unseen, apart:/ { apart += $4 }
    function unseen(label) { row(label " (" apart " more rows [apart](docs/trust.md#measured-serving-rows))", cases, median, p90) }
    part == "speed-up" && $2 ~ /^… unseen: what matters is stated/ {
        unseen("**speed-up, accept length given: sources that no number was fitted to**")
        row("… of these, all that matters stated by the source", $4, $5, $6)
    }
    part == "speed-up" && $2 ~ /^… one vote a citation/ { row("… all sources, one vote each", $4, $5, $6) }
    part == "speed-up" && $2 ~ /^… unseen: steps without/ { row("… steps without speculation beside the unseen ones, whole runs among them", $4, $5, $6) }
    part == "speed-up" && $2 ~ /^… unseen: other loads/ { row("… other loads of such a deployment, one of which was measured with and without", $4, $5, $6) }
    part == "speed-up" && $2 ~ /^… unseen: loads between two/ { row("… loads between two that were measured so", $4, $5, $6) }
    part == "fitted" && $2 ~ /^… unseen: what matters is stated/ {
        unseen("**… at larger batches, accept length known from the smallest: no number fitted**")
        row("… of these, all that matters stated by the source", $4, $5, $6)
    }
' "${1:?usage: scripts/trust_summary.sh docs/trust.md}" | awk '
    BEGIN { print "| what is predicted | cases | median error | p90 |\n|---|---|---|---|" }
    /five papers/ { last = last $0 "\n"; next }
    /^- / { interval = $0; next }
    { print }
    END { printf "%s\n%s\n", last, interval }'
