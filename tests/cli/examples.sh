# Every file of examples/ runs, and gives the same for any number of threads.
. "$(dirname "$0")/lib.sh"
ran=0
for file in "$SOURCE"/examples/*.json; do
    ran=$((ran + 1))
    "$JSON_GET" "$file" /title >/dev/null && "$JSON_GET" "$file" /source >/dev/null || fail "$file: no title or source"
    if grep -q '"axes"' "$file"; then
        expect 0 'Points' sweep "$file"
        "$TREELINE" sweep "$file" --format json --threads 1 >one.txt && "$TREELINE" sweep "$file" --format json --threads 3 >three.txt
    elif grep -q '"traffic"' "$file"; then
        expect 0 '^Run ' recommend "$file"
        expect 0 'Report: report.html' report "$file" --output report.html
        grep -q '</html>' report.html || fail "$file: the report is not a whole page"
        "$TREELINE" recommend "$file" --format json --threads 1 >one.txt && "$TREELINE" recommend "$file" --format json --threads 3 >three.txt
    else
        expect 0 '(plain decoding|without the drafter|decodes at)' estimate "$file"
        continue
    fi
    cmp -s one.txt three.txt || fail "$file: the number of threads changes the result"
done
[ "$ran" -ge 5 ] || fail "only $ran examples"

# SPIRe, figure 4 and section 4 (arXiv 2504.06419): 1.76 (vanilla, batch 1, context 32), 2.05 and 2.78 (MagicDec and SPIRe at batch 64,
# context 512). Columns: drafter 10, batch 15, context 16, speed-up 17.
"$TREELINE" sweep "$SOURCE/examples/spire-study.json" --format csv >spire.csv
figure() {
    checks=$((checks + 1))
    local got
    got=$(awk -F, -v d="$1" -v b="$2" -v s="$3" '$10 == d && $15 == b && $16 == s {printf "%.2f", $17}' spire.csv)
    [ "$got" = "$4" ] || fail "SPIRe $*: $got"
}
figure vanilla 1 32 1.76
figure MagicDec 64 512 2.05
figure SPIRe 64 512 2.78

# Its cost analysis: 6.40 and 5.12 units of target training saved by SPIRe and MagicDec, 6.15 left after training SPIRe's drafter.
expect 0 'Decoding saved +6.40 of 10 +Net of training +6.15' estimate --explain round "$SOURCE/examples/estimate-spire.json"
# (The paper rounds the multiplier to 2.05 first and prints 5.12; unrounded it is 5.13. tests/sim/spire_test.cpp repeats its arithmetic.)
expect 0 'Decoding saved +5.13 of 10' estimate --explain round "$SOURCE/examples/estimate-spire.json" --draft-training 0 \
    --drafter '{"kind": "sparse-self", "share": 0.125, "sink": 1, "acceptance": {"mean_length": 3.891, "draft_tokens": 4}}'
# Every command that the list of examples prints runs, in the folder of the examples. Those of minutes are run by other scripts: real
# decoders, and studies of policies and of sampling.
"$TREELINE" examples --format csv >list.csv
"$TREELINE" examples | grep -oE 'treeline [a-z].*' | sort -u | grep -vE '^treeline (decode|study acceptance) |policies/(dspark-qwen3|eagle3)|examples NAME' >commands.txt
[ "$(wc -l <commands.txt)" -ge 40 ] || fail "the list of examples prints few commands: $(cat commands.txt)"
while read -r _ words; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # words of a command
    (cd "$SOURCE/examples" && "$TREELINE" $words) >out.txt 2>err.txt || fail "treeline examples prints \"treeline $words\", which ends with $?: $(head -c 300 err.txt)"
done <commands.txt
expect 0 '"command": "treeline diagnose runs/vllm-49548.json runs/vllm-49548-plain.json --input runs/vllm-49548-point.json"' examples --format json
! grep -E '^runs/' list.csv | grep -vq 'treeline diagnose runs/' || fail "an example of runs/ has another command: $(grep '^runs/' list.csv)"

# What lies beside a copied example already is in the way only where it holds something else.
checks=$((checks + 2))
"$TREELINE" examples fits/break-even-fitted-law --output copies/law.json || fail "an example is not copied"
"$TREELINE" examples fits/break-even-stree-8b --output copies/beams.json || fail "an example is not copied beside a file that holds the same"
echo changed >>copies/stree-repository-runs.csv
expect 2 'stree-repository-runs.csv is there already, and is not replaced' examples fits/break-even-stree-8b --output copies/more.json

# A drafter as --drafter takes it in JSON may stand in a file.
printf '{"kind": "eagle3"}' >draft.json
setup=(--target llama-3.1-8b --device h100-sxm --draft-tokens 3 --batch 1 --context 1000)
"$TREELINE" estimate "${setup[@]}" --drafter '{"kind": "eagle3"}' >inline.txt
expect 0 'eagle3' estimate "${setup[@]}" --drafter draft.json
cmp -s inline.txt out.txt || fail "--drafter draft.json differs from its JSON: $(diff inline.txt out.txt | head -5)"
expect 2 'holds a drafter, not a design point: --drafter draft.json takes it' estimate draft.json
expect 2 'training.draft_training: is missing' estimate "$SOURCE/examples/estimate-mamba2-2.7b.json" --decoding-budget 3
finish
