# treeline acceptance: figures from flags and files, the fit to measured lengths, bad input.
. "$(dirname "$0")/lib.sh"
quick="--rounds 400"

# json_value POINTER ARGUMENT...: one value of the JSON output.
json_value() {
    local pointer=$1
    shift
    "$TREELINE" study acceptance "$@" $quick --format json >value.json || fail "treeline study acceptance $*"
    "$JSON_GET" value.json "$pointer"
}

# near VALUE EXPECTED MARGIN WHAT
near() {
    checks=$((checks + 1))
    awk -v a="$1" -v b="$2" -v m="$3" 'BEGIN { exit !(a - b <= m && b - a <= m) }' || fail "$4: $1 is not within $3 of $2"
}

# A perfect drafter has all four drafts accepted, and the bonus token comes on top.
near "$(json_value /trees/0/methods/0/temperatures/0/accept_length --shape chain:4 --mismatch 0 --temperature 0.7)" \
    5 1e-9 "perfect drafter"
# The fit gives the measured length back; at temperature 0 in steps.
near "$(json_value /measured/points/0/fitted_accept_length --shape chain:4 --measured 0.8:2.2 --temperature 1)" 2.2 1e-3 "fit"
stree=$SOURCE/examples/acceptance/stree-temperatures.json
near "$(json_value /measured/points/1/fitted_accept_length "$stree" --temperature 1)" 1.55 0.01 "fit of two"
# STree's tree, not fitted: 2.03 published at temperature 1 (multi-step), 1.47 (naive).
near "$(json_value /trees/1/methods/0/temperatures/0/accept_length "$stree" --temperature 1)" 2.03 0.10 "STree, multi-step"
near "$(json_value /trees/1/methods/2/temperatures/0/accept_length "$stree" --temperature 1)" 1.47 0.22 "STree, naive"

expect 0 'Accept length of chain 4 \(4 nodes, 4 levels\).*token-wise.*block' study acceptance --shape chain:4 $quick
expect 0 'stree-mil \(12 nodes, 4 levels\).*multi-step .*not a measurement' study acceptance $quick
expect 0 'Fitted to +2.040 at T = 0 .*chain 4, token-wise' study acceptance "$stree" $quick
expect 0 'independent-drafts' study acceptance --shape sequences:3x4 $quick
expect 0 'Drafter +at temperature 0 throughout' study acceptance --drafter-temperature 0 $quick
# Eight siblings: the closed form without replacement takes too long, decoding does not.
expect 0 'multi-step  *\([0-9.]+ to [0-9.]+\) *multi-step-replacement  *[0-9.]+ \(' \
    study acceptance --shape widths:8 --temperature 1 $quick
checks=$((checks + 1))
# Two trees, five methods each, two temperatures, a title.
[ "$("$TREELINE" study acceptance --temperature 0,1 $quick --format csv | wc -l)" -eq 21 ] || fail "CSV lines"
[ "$("$TREELINE" study acceptance $quick)" = "$("$TREELINE" study acceptance $quick)" ] || fail "two runs differ"
expect 0 'Accept length' study acceptance --shape chain:2 $quick --html page.html
grep -q '</html>' page.html || fail "the page is not whole"

# Bad input
expect 2 '--shape: there is no kind of tree "chian"' study acceptance --shape chian:5
expect 2 '--shape: the best tree depends on the acceptance of each rank' study acceptance --shape optimal:5,5
expect 2 '--shape: has 1000 nodes; synthetic models are decoded with 1 to 512' study acceptance --shape chain:1000
expect 2 '--shape: widths 40 has nodes with 40 children, but the vocabulary has 32 tokens' study acceptance --shape widths:40
expect 2 '--temperature: must be comma-separated numbers' study acceptance --temperature 0,x
expect 2 '--temperature: .*is -1' study acceptance --temperature=-1
expect 2 '--vocabulary: is 1, but must lie between 2 and 256' study acceptance --vocabulary 1 --shape chain:4
expect 2 '--worlds: must be a whole number' study acceptance --worlds 1.5
expect 2 '--measured: must be comma-separated temperature:length' study acceptance --measured 2.04
expect 2 '--measured: is 9, but must lie between 1 and 5' study acceptance --shape chain:4 --measured 0:9
expect 2 '--measured: gives two accept lengths for one temperature' study acceptance --measured 0:2,0:2.5
expect 2 '--measured: holds 3 points' study acceptance --measured 0:2,0.5:2,1:2
expect 2 '--mismatch: is given together with measured' study acceptance --measured 0:2 --mismatch 1
expect 2 '--caution: is given together with two measured' study acceptance --measured 0:2,1:1.5 --caution 1
expect 2 '--measured: no such models accept 1.001 tokens per round at temperature 1' study acceptance --measured 1:1.001
expect 2 '--measured-method: block verification is for chains' \
    study acceptance --measured 0:2 --measured-shape stree-mil --measured-method block
expect 2 '--measured-method: must be .*; did you mean "token-wise"' study acceptance --measured 0:2 --measured-method tokenwise
expect 2 'acceptance: unknown flag "--temprature"; did you mean "--temperature"' study acceptance --temprature 1
with_json '{"shapes": ["chain:3"], "measured": {"points": [{"temperature": 1, "accept_length": 2, "per_position": [0.5, 0.3, 0.2]}]}}'
expect 2 'input.json: measured.points.0.: gives accept_length and per_position' study acceptance input.json
with_json '{"shapes": ["chain:3"], "measured": {"points": [{"temperature": 1, "per_position": [0.5, 0.6, 0.2]}]}}'
expect 2 'input.json: measured.points.0..per_position: ' study acceptance input.json
with_json '{"shapes": ["chain:3"], "measured": {"points": [{"temperature": 1, "per_position": [0.6, 0.4, 0.3]}]}}'
expect 0 'Fitted to +2.300 at T = 1' study acceptance input.json $quick
with_json '{"shape": ["chain:3"]}'
expect 2 'input.json: shape: unknown key; did you mean "shapes"' study acceptance input.json
with_json '{"temperatures": []}'
expect 2 'input.json: temperatures' study acceptance input.json
finish
