#!/usr/bin/env bash
# documents.sh SOURCE: fails where a page links to a file that is not there, or names one in backticks.
set -euo pipefail
cd "$1"
failures=0

complain() {
    echo "$1: $2 does not exist"
    failures=$((failures + 1))
}

# Folders of this repository; pages also name files of engines and of users.
folders=$(git ls-files 2>/dev/null | sed -n 's,/.*,,p' | sort -u | paste -sd'|')
[ -n "$folders" ] || { echo "skipped: no history to list files from"; exit 77; }

for page in $(git ls-files '*.md'); do
    folder=$(dirname "$page")
    while read -r target; do
        case "$target" in http*://* | mailto:* | '#'* | '') continue ;; esac
        [ -e "$folder/${target%%#*}" ] || complain "$page" "the link $target"
    done < <(grep -oE '\]\([^) ]+\)' "$page" | sed 's/^](//; s/)$//')
    # Placeholders are written in capitals; a page on an engine names its files, too.
    [ "$page" != docs/engines.md ] || continue
    while read -r file; do
        [ -e "$file" ] || [ -e "$folder/$file" ] || complain "$page" "$file"
    done < <(grep -oE "\`($folders)/[A-Za-z0-9_./-]+\.(h|cpp|cu|md|json|sh|py|csv|inc)\`" "$page" | tr -d '\`' | grep -vE '[A-Z]{3,}' || true)
done
echo "$(git ls-files '*.md' | wc -l) pages, $failures broken references"
[ "$failures" = 0 ]
