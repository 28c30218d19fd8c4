#!/usr/bin/env bash
# additions.sh SOURCE: are the lists of HACKING.md, "Add …", complete? For each kind of thing one that is there stands for a new
# one: every source file that knows it by name must be named in the paragraph on its kind. Are engines and kinds of drafters still
# added in few places?
set -euo pipefail
cd "$1"
failures=0 files=0

# paragraph TITLE: the text from "**TITLE.**" to the next bold title.
paragraph() {
    awk -v title="**$1.**" 'index($0, title) == 1 { inside = 1; print; next } /^\*\*|^## / { inside = 0 } inside' HACKING.md
}

# names TEXT FILE: whether the text names the file: itself, its name alone, its folder, or a pattern with * or NAME.
names() {
    local word
    while read -r word; do
        word=${word//NAME/*}
        # shellcheck disable=SC2053  # a pattern
        if [[ $2 == $word || ${2##*/} == $word || ( $word == */ && $2 == $word* ) ]]; then
            return 0
        fi
    done < <(grep -oE '`[^`]+`' <<<"$1" | tr -d '`')
    return 1
}

# complete TITLE PATTERN: the pattern is how code names the thing that is there.
complete() {
    local text file found=0
    text=$(paragraph "$1")
    [ -n "$text" ] || { echo "HACKING.md has no paragraph \"$1\""; failures=$((failures + 1)); return; }
    while read -r file; do
        found=$((found + 1))
        names "$text" "$file" || { echo "$file knows $2, but \"$1\" does not name it"; failures=$((failures + 1)); }
    done < <(grep -rlE --include='*.cpp' --include='*.h' --include='*.inc' --include='*.cu' --exclude-dir=tests --exclude-dir='build*' \
        --exclude-dir=out --exclude-dir=node_modules --exclude-dir=.git -- "$2" . | sed 's,^\./,,')
    [ "$found" -gt 0 ] || { echo "nothing knows $2, the example of \"$1\""; failures=$((failures + 1)); }
    files=$((files + found))
}

# at_most COUNT TITLE: whether a paragraph names no more places than that: paths in backticks, tests apart.
at_most() {
    local places
    places=$(paragraph "$2" | grep -v '^- Tests:' | grep -oE '`[A-Za-z_.-]+/[A-Za-z_/.-]*`' | sort -u)
    local count
    count=$(grep -c . <<<"$places")
    [ "$count" -le "$1" ] || { printf '"%s" is added in %d places, more than %d:\n%s\n' "$2" "$count" "$1" "$places"; failures=$((failures + 1)); }
}

complete 'A drafter kind' 'CascadeDrafter|"cascade"'
complete 'A policy while decoding' '\bada_edl\b'
complete 'A rollback policy' 'Rollback::joint|plan_joint|^ +joint, |\{joint, "joint"'
complete 'An engine' 'EngineName::llama_cpp|\bllama_cpp::|namespace llama_cpp|engines/llama_cpp/'
complete 'A kernel' '\bRepeatHeads\b|repeat_heads'
complete 'A cause of a diagnosis' 'idle_drafter'
complete 'A format of a run' 'run_formats_of::sglang_log|sglang_log\(\)'
complete 'A file of measured acceptance' '\brank_vector\b'
at_most 6 'An engine'
at_most 8 'A drafter kind'
echo "$files files named by 8 examples, $failures missing"
[ "$failures" = 0 ]
