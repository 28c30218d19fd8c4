#!/usr/bin/env bash
# docs/inputs.md with the tables that the program's own descriptions of its keys give: scripts/inputs_document.sh build/treeline
# prints the page. A table stands after its mark, <!-- keys: NAME -->; everything else is kept.
set -euo pipefail

[ $# -eq 1 ] && [ -x "$1" ] || { echo "Usage: scripts/inputs_document.sh PATH_OF_TREELINE" >&2; exit 2; }
page=$(dirname "$0")/../docs/inputs.md

awk '
    function is_mark(line) { return line ~ /^<!-- keys: .* -->$/ }
    NR == FNR { if (is_mark($0)) { mark = $0 } else { table[mark] = table[mark] $0 "\n" } next }
    is_mark($0) {
        if (!($0 in table)) { print "docs/inputs.md: no table for " $0 > "/dev/stderr"; failed = 1 }
        printf "%s\n\n%s", $0, table[$0]
        shown[$0] = 1
        inside = 1
        next
    }
    inside && (/^\|/ || (/^$/ && !of_table)) { of_table = /^\|/ || of_table; next }
    { inside = 0; of_table = 0; print }
    END {
        for (mark in table) { if (!(mark in shown)) { print "docs/inputs.md: no mark " mark > "/dev/stderr"; failed = 1 } }
        exit failed
    }' <("$1" inputs --markdown) "$page"
