#!/usr/bin/env bash
# Is the live page that is kept of this source, and is it what the program writes? fresh.sh <source> <program>
set -euo pipefail
source=$1 program=$2
kept=$source/docs/live.html
stale() {
    echo "FAILED: docs/live.html $1; run scripts/live_module.sh"
    exit 1
}

[ -f "$kept" ] || stale "is missing"
grep -qF " data-sources=\"$("$source/scripts/live_sources.sh")\"" "$kept" || stale "holds a library of other sources"
made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$program" explore --output "$made" >/dev/null
cmp "$made" "$kept" || stale "is not what \`treeline explore\` writes"
echo "docs/live.html is of these sources, and what \`treeline explore\` writes."
