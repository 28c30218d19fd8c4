# `treeline calibrate --serving`: from a CSV of a deployment's own speeds to a stack file, and with it to a recommendation; bad
# input is a sentence.
. "$(dirname "$0")/lib.sh"

eagle='{"kind": "one-layer", "draft_vocabulary": 32000, "input_features": 3}'
served=(--model qwen3-8b --device h100-sxm --stack vllm --drafter "$eagle")

# value FILE POINTER: a number of a JSON file.
value() { "$JSON_GET" "$1" "$2"; }
# below A B WHAT: A < B.
below() {
    checks=$((checks + 1))
    awk -v a="$1" -v b="$2" 'BEGIN {exit !(a != "" && b != "" && a + 0 < b + 0)}' || fail "$3: $1 is not below $2"
}

# The three commands of a newcomer: fit, see, recommend.
cp "$SOURCE/examples/serving/qwen3-8b-h100-vllm.csv" my.csv
expect 0 'The stack vllm-[0-9.]+ fitted to 8 measured steps of qwen3-8b on h100-sxm .*Written to my-stack.json. Use it: --stack my-stack.json' \
    calibrate --serving my.csv "${served[@]}" --output my-stack.json
grep -q '"kind": "fitted"' my-stack.json || fail "no number of the stack is marked as fitted: $(cat my-stack.json)"
grep -q '8 measured steps of qwen3-8b on h100-sxm' my-stack.json || fail "the fitted numbers do not say what they rest on"
expect 0 'fitted' hardware ./my-stack.json
cat >workload.json <<END
{"target": "qwen3-8b", "platforms": [{"device": "h100-sxm", "stack": "my-stack.json"}],
 "drafters": [{"name": "EAGLE-3", "kind": "one-layer", "draft_vocabulary": 32000, "input_features": 3,
   "acceptance": {"mean_length": 2.37, "draft_tokens": 3, "source": "measured with the speeds"}}],
 "draft_tokens": {"from": 1, "to": 3}, "traffic": {"batch": [8, 64], "context": [256]}}
END
expect 0 'Run qwen3-8b on h100-sxm with EAGLE-3 drafting' recommend workload.json

# The fit foretells the batches that it did not see, and better than the stack to begin with.
for engine in vllm sglang; do
    "$TREELINE" calibrate --serving "$SOURCE/examples/serving/qwen3-8b-h100-$engine.csv" --model qwen3-8b --device h100-sxm \
        --stack $engine --drafter "$eagle" --format json >$engine.json
    below "$(value $engine.json /errors/left_out/median)" "$(value $engine.json /errors/before/median)" "$engine, batches left out"
    below "$(value $engine.json /errors/left_out/median)" 0.06 "$engine, median of batches left out"
    below "$(value $engine.json /errors/fitted/median)" 0.04 "$engine, median of the fit"
done

# A stack that the simulator measured is found again through the files: times by estimate, fit, the same times by estimate.
sed 's/"host_per_pass": {"value": [0-9.]*/"host_per_pass": {"value": 700/; s/"host_per_round": {"value": [0-9.]*/"host_per_round": {"value": 3000/' \
    "$SOURCE/hardware/stacks/vllm-0.12.json" >truth.json
point() { "$TREELINE" estimate --model llama-3-8b --device h100-sxm --stack "$1" --drafter llama-3.2-1b --accept-length 2.5 --context 1024 \
    --batch "$2" --draft-tokens 3 --format json; }
echo batch,draft_tokens,context,accept_length,tpot_ms >made.csv
for batch in 1 8 64; do
    point ./truth.json $batch >point.json
    echo "$batch,3,1024,2.5,$(value point.json /speculative/tpot_ms)" >>made.csv
    echo "$batch,0,1024,,$(value point.json /plain/tpot_ms)" >>made.csv
done
expect 0 'Written to found.json' calibrate --serving made.csv --model llama-3-8b --device h100-sxm --stack vllm-0.12 --drafter llama-3.2-1b \
    --output found.json
below 699 "$(value found.json /host_per_pass/value)" "host_per_pass"
below "$(value found.json /host_per_pass/value)" 701 "host_per_pass"
below 2999 "$(value found.json /host_per_round/value)" "host_per_round"
below "$(value found.json /host_per_round/value)" 3001 "host_per_round"

# Bad input: one sentence each.
# bad PATTERN CSV-TEXT
bad() {
    printf "$2" >bad.csv
    expect 2 "$1" calibrate --serving bad.csv "${served[@]}"
}
# bad_row PATTERN CSV-TEXT: the same of a row, which is left out; the rest is fitted.
bad_row() {
    printf "$2" >bad.csv
    checks=$((checks + 1))
    "$TREELINE" calibrate --serving bad.csv "${served[@]}" >out.txt 2>err.txt
    [ $? -eq 2 ] && grep -q 'fitted to 1 measured step' out.txt && [ "$(wc -l <err.txt)" -eq 1 ] && grep -qE "$1.*; this row is left out" err.txt ||
        fail "a bad row: nothing like \"$1\" in $(cat out.txt err.txt)"
}
bad 'bad.csv: lacks the column draft_tokens \(0 for plain decoding\)' 'batch,tpot_ms\n1,7\n8,8\n'
bad 'bad.csv: lacks the column batch' 'draft_tokens,tpot_ms\n0,7\n'
bad 'lacks a measured column: one of tpot_ms' 'batch,draft_tokens\n1,0\n'
bad 'holds tpot_ms and itl_ms; keep one of them' 'batch,draft_tokens,tpot_ms,itl_ms\n1,0,7,7\n'
bad 'unknown column "tpot"; did you mean "tpot_ms"' 'batch,draft_tokens,tpot\n1,0,7\n2,0,7\n'
bad_row 'line 2: tpot_ms must be a bare number, not "7.1ms"' 'batch,draft_tokens,tpot_ms\n1,0,7.1ms\n8,0,8\n'
bad 'line 3: says 8.00 us per round, but the model says .*check the unit' 'batch,draft_tokens,tpot_ms\n1,0,7.1\n8,0,0.008\n'
bad_row 'line 3: drafts 3 tokens, but its accept_length is not given' 'batch,draft_tokens,tpot_ms\n1,0,7.1\n1,3,4\n'
bad_row 'line 2: accept_length must be a number from 1 to 4, not 4.5' 'batch,draft_tokens,accept_length,tpot_ms\n1,3,4.5,4\n1,0,,7\n'
bad_row 'line 2: batch must be a whole number from 1 to' 'batch,draft_tokens,tpot_ms\n0,0,7.1\n8,0,8\n'
bad_row 'line 3: has 2 fields, but the header has 3' 'batch,draft_tokens,tpot_ms\n1,0,7.1\n8,0\n'
bad_row 'line 2: leaves tpot_ms empty' 'batch,draft_tokens,tpot_ms\n1,0,\n8,0,8\n'
bad 'line 2: batch must be a whole number from 1 to.*' 'batch,draft_tokens,tpot_ms\n0,0,7.1\n'
bad 'semicolons; use commas' 'batch;draft_tokens;tpot_ms\n1;0;7,1\n'
bad 'holds a header and no rows' 'batch,draft_tokens,tpot_ms\n'
bad 'is empty; a header' ''
printf 'batch,draft_tokens,accept_length,tpot_ms\n1,0,,7.1\n1,3,2.5,4\n' >good.csv
expect 2 'line 3: drafts tokens, so --drafter must name their drafter' calibrate --serving good.csv --model qwen3-8b --device h100-sxm --stack vllm
expect 2 'needs --stack: the software stack to start from' calibrate --serving good.csv --model qwen3-8b --device h100-sxm
expect 2 'needs --model' calibrate --serving good.csv --device h100-sxm --stack vllm
expect 2 'none.csv: cannot be opened' calibrate --serving none.csv "${served[@]}"
expect 2 'they need --serving FILE' calibrate --device h100-sxm --stack vllm
expect 2 'are for kernels; run them separately' calibrate --serving good.csv "${served[@]}" --quick
expect 0 'Nothing was written' calibrate --serving good.csv "${served[@]}"
# One step gives one factor on all times.
printf 'batch,draft_tokens,tpot_ms\n8,0,9.3\n' >one.csv
expect 0 'time_factor +1.000 ' calibrate --serving one.csv "${served[@]}" --output one.json
above_zero=$(value one.json /time_factor/value)
below 0.2 "$above_zero" "time_factor of one step"
below "$above_zero" 5 "time_factor of one step"
# Steps of plain decoding alone, with a drafter or without one named: every command reads the stack.
printf 'batch,draft_tokens,tpot_ms\n1,0,7.1\n8,0,9.3\n32,0,12\n' >plain.csv
for drafter in "" "--drafter eagle3"; do
    # shellcheck disable=SC2086
    expect 0 'Written to plain.json' calibrate --serving plain.csv --model qwen3-8b --device h100-sxm --stack vllm $drafter --output plain.json
    expect 0 'measured at this load' estimate --model qwen3-8b --device h100-sxm --stack plain.json --batch 8
    expect 0 'fitted' hardware ./plain.json
done
# Rounds themselves need no accept length.
printf 'batch,draft_tokens,round_ms\n1,0,7.1\n1,3,9\n8,3,10\n' >rounds.csv
expect 0 'fitted to 3 measured steps' calibrate --serving rounds.csv "${served[@]}"

# Where one more sequence costs a step, the recommendation says so, and estimates on both sides show it.
steps=(--target llama-3-70b --precision fp8 --device h200 --stack vllm --context 100)
expect 0 'One more sequence can cost a step: the speed-up falls from' recommend --explain loads "${steps[@]}" --batch 1,64 --drafter eagle3 --acceptance 0.7,0.5 --draft-tokens 2
"$TREELINE" recommend "${steps[@]}" --batch 1,64 --drafter eagle3 --acceptance 0.7,0.5 --draft-tokens 2 --format json >steps.json
batch=$(value steps.json /schedule/steps/0/batch)
speedup_at() { # BATCH
    "$TREELINE" estimate "${steps[@]}" --drafter eagle3 --acceptance 0.7,0.5 --draft-tokens 2 --batch "$1" --format json >point.json
    value point.json /speedup
}
before=$(speedup_at "$batch") after=$(speedup_at "$((batch + 1))")
checks=$((checks + 1))
awk -v b="$before" -v a="$after" -v said="$(value steps.json /schedule/steps/0/speedup_before)" \
    'BEGIN { exit !(a < 0.97 * b && (said - b) ^ 2 < 1e-12) }' || fail "at $batch the speed-up is $before, with one more $after"
expect 0 'Accept length' recommend --explain loads "$SOURCE/examples/llama-3.1-8b-h100.json"
grep -q 'One more sequence' out.txt && fail "a step is reported where none is"

# The largest rate within limits: it is served, a little more is not; one headline, table, JSON and page.
most=(--target qwen3-8b --device l40s --stack vllm --drafter eagle3 --acceptance 0.7,0.5,0.35 --prompt 2000 --output-tokens 400)
expect 0 'it serves at most [0-9.]+ requests/s within 30.0 ms per token, [0-9.]+x the [0-9.]+ requests/s of plain decoding\..*gain in requests +that can be served lies between.*requests/s +tokens/s/device.*Beyond [0-9.]+ requests/s the TPOT limit breaks' \
    recommend "${most[@]}" --arrival-rate most --max-tpot-ms 30
expect 0 'it serves at most [0-9.]+ requests/s, ' recommend "${most[@]}" --arrival-rate most
expect 2 'the largest rate within the limits is asked for' recommend "${most[@]}" --arrival-rate most --objective cost
expect 0 'qwen3-8b on l40s without a drafter: it serves at most' recommend --target qwen3-8b --device l40s --stack vllm --drafter none --prompt 2000 --output-tokens 400 --arrival-rate most
expect 2 'a question for treeline recommend' estimate --target qwen3-8b --device l40s --stack vllm --prompt 2000 --output-tokens 400 --arrival-rate most
expect 0 'serves at most' report "${most[@]}" --arrival-rate most --max-tpot-ms 30 --output most.html
"$TREELINE" recommend "${most[@]}" --arrival-rate most --max-tpot-ms 30 --format json >most.json
checks=$((checks + 1))
[ "$(value most.json /most_rate/held_by)" = tpot ] || fail "held by $(value most.json /most_rate/held_by)"
drafts=$(value most.json /recommendation/draft_tokens) rate=$(value most.json /most_rate/requests_per_s_recommended)
tpot_at() { # FACTOR
    "$TREELINE" estimate --target qwen3-8b --device l40s --stack vllm --drafter eagle3 --acceptance 0.7,0.5,0.35 --prompt 2000 \
        --output-tokens 400 --draft-tokens "$drafts" --arrival-rate "$(awk -v r="$rate" -v f="$1" 'BEGIN { printf "%.9f", r * f }')" \
        --format json >point.json
    value point.json /speculative/tpot_ms
}
checks=$((checks + 1))
awk -v at="$(tpot_at 1)" -v more="$(tpot_at 1.01)" 'BEGIN { exit !(at <= 30.001 && more > 30) }' ||
    fail "at the largest rate a token takes $(tpot_at 1) ms, at one per cent more $(tpot_at 1.01)"

# What is said to be the most is served.
for served_most in 'qwen3-8b l40s vllm 2000 400' 'llama-3.1-8b h100-sxm sglang 355 740'; do
    read -r model device stack prompt output <<<"$served_most"
    ask=(estimate --target "$model" --device "$device" --stack "$stack" --prompt "$prompt" --output-tokens "$output" --arrival-rate)
    said=$("$TREELINE" "${ask[@]}" 1000 | tr '\n' ' ' | sed -E 's/.*at +most +about +([0-9.]+)\/s.*/\1/')
    checks=$((checks + 1))
    "$TREELINE" "${ask[@]}" "$said" | grep -q 'more than can be' && fail "$model: $said requests/s are said to be the most, and are refused"
done

# SGLang runs up to 48 requests where it drafts; a drafter that recommend names is taken by that name.
deployed=(--target qwen3-32b --device h100-sxm --tensor-parallel 2 --drafter model-qwen3-0.6b-on-qwen3-8b)
expect 0 'running requests +as memory holds' estimate "${deployed[@]:0:6}" --engine sglang --explain engine
expect 0 'running requests +up to 48' estimate "${deployed[@]}" --engine sglang --explain engine
expect 0 'with model-qwen3-0.6b-on-qwen3-8b .measured with qwen3-8b.' estimate "${deployed[@]}" --engine vllm

finish
