# What the README shows is what the program prints: every line of its example, in this order; and its other command runs.
. "$(dirname "$0")/lib.sh"

# The block that begins with its command, whose lines end in a backslash but for the last; output follows.
sed -n '/^\$ treeline recommend --target/,/^```$/p' "$SOURCE/README.md" | sed '$d' >example.txt
sed -n '1,/[^\]$/p' example.txt | sed 's/\\$//' | tr '\n' ' ' | sed 's/^\$ treeline //' >command.txt
sed '1,/[^\]$/d' example.txt >shown.txt
checks=$((checks + 1))
grep -q -- '--concurrency' command.txt || fail "the README's command was not found: $(cat command.txt)"
# shellcheck disable=SC2046
expect 0 'Run llama-3.1-8b on h100-sxm' $(cat command.txt)
cp out.txt printed.txt
lines=0 at=1
while IFS= read -r line; do
    text=${line%...}  # of a line that ends so, the rest is left out
    text=${text% }
    [ -n "$text" ] || continue
    lines=$((lines + 1)) checks=$((checks + 1))
    found=$(tail -n +"$at" printed.txt | grep -nF -- "$text" | head -1 | cut -d: -f1) || true
    if [ -z "$found" ]; then
        fail "the README shows a line that recommend does not print there: $text"
    else
        at=$((at + found))
    fi
done <shown.txt
[ "$lines" -ge 15 ] || fail "only $lines lines of the README's example were found"

"$TREELINE" recommend "$SOURCE/examples/llama-3.1-8b-h100.json" --explain pareto >printed.txt || fail "--explain pareto"
# The plot is a picture; its caption has what it shows, which the Pareto set prints: drafts, batch and speed-up.
caption=$(grep "^\*The report's plot" "$SOURCE/README.md")
plot_shows() {
    local batch=$1 shown drafts speed_up
    shown=$(grep -oE "$2 [0-9]+( drafts of EAGLE-3)? \([0-9.]+x\)" <<<"$caption")
    drafts=$(grep -oE "[0-9]+" <<<"${shown#"$2"}" | head -1) speed_up=$(grep -oE "[0-9.]+x" <<<"$shown")
    checks=$((checks + 1))
    grep -qE "^EAGLE-3 on h100-sxm +$drafts +$batch .* $speed_up\$" printed.txt ||
        fail "the README's plot is stale (HACKING.md, Documents): at batch $batch its caption says $drafts drafts and $speed_up"
}
plot_shows 1 "One request gains most with"
plot_shows 128 "128 requests with"

# How many drafters it says are published.
said=$(grep -oE 'published for [0-9]+ drafters' "$SOURCE/README.md" | grep -oE '[0-9]+')
known=$(find "$SOURCE/models/drafters" -name '*.json' | wc -l)
checks=$((checks + 1))
[ "$said" -eq "$known" ] || fail "the README says that $said drafters are published, and there are $known"
finish
