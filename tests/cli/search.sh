# Searches instead of enumerations: `sweep --search`, and `recommend` over any of several devices, up to so many of each; answers of
# `recommend` that a store keeps.
. "$(dirname "$0")/lib.sh"

cat >space.json <<'END'
{"title": "searched", "axes": {"target": ["llama-3-8b"], "device": ["h100-sxm", "l40s"], "tensor_parallel": [1, 2], "stack": ["vllm", "sglang"],
  "drafter": [{"name": "1B", "kind": "model", "model": "llama-3.2-1b", "acceptance": {"geometric": 0.8}}, {"name": "ngram", "kind": "ngram", "acceptance": {"geometric": 0.4}}],
  "draft_tokens": {"from": 0, "to": 6}, "batch": {"from": 1, "to": 96}, "context": {"from": 0, "to": 24000, "step": 500}}}
END

# seconds COMMAND...: the least processor time of three runs; its output in timed.txt.
seconds() {
    local best=1e9 one TIMEFORMAT='%U %S'
    for _ in 1 2 3; do
        { time "$@" >timed.txt 2>timed.err; } 2>times.txt
        one=$(awk '{print $1 + $2}' times.txt)
        best=$(awk -v a="$best" -v b="$one" 'BEGIN {print a < b ? a : b}')
    done
    echo "$best"
}
below() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a < b)}'; }

# The list of an enumeration, point for point.
for ask in '--by speedup' '--by tokens_per_s_device --where tpot_ms<=12' '--by energy_j_per_token --where tokens_per_s_user>=80' '--by memory_gb --ignore-memory'; do
    checks=$((checks + 1))
    "$TREELINE" sweep space.json --top 12 $ask --format csv >enumerated.csv
    "$TREELINE" sweep space.json --top 12 $ask --format csv --search 0 >searched.csv
    [ "$(wc -l <searched.csv)" -eq 13 ] && cmp -s enumerated.csv searched.csv || fail "--search $ask lists other points"
done
expect 0 'Points of the space +526,848.*Bounded away +[0-9,]+ by the bounds of [0-9,]+ boxes.*no other point of the space is better' sweep space.json --search 0
checks=$((checks + 1))
"$TREELINE" sweep space.json --search 0.02 --top 3 --by tokens_per_s_device --format json >gap.json
awk -v gap="$("$JSON_GET" gap.json /summary/search/gap)" 'BEGIN {exit !(gap >= 0 && gap <= 0.02)}' || fail "a gap beyond what was asked for"
expect 2 'must be a share from 0 to below 1' sweep space.json --search yes
expect 2 'give --group-by without it' sweep space.json --search 0 --group-by batch
expect 2 'give --store without it' sweep space.json --search 0 --store x.sqlite
sed 's/"batch"/"concurrency"/; s/^{"title"/{"prompt_tokens": 500, "output_tokens": 200, "title"/' space.json >loads.json
expect 2 'has an axis of concurrency' sweep loads.json --search 0

# A space of 2.7 million million points.
checks=$((checks + 1))
sed 's/"to": 96/"to": 100000/; s/"to": 24000, "step": 500/"to": 99999/; s/"to": 6/"to": 16/' space.json >large.json
took=$(seconds "$TREELINE" sweep large.json --search 0 --top 1 --by tokens_per_s_device --where 'tpot_ms<=15')
grep -q 'Points of the space *2,720,000,000,000' timed.txt && grep -q 'no other point of the space is better' timed.txt || fail "a large space: $(head -c 600 timed.txt timed.err)"
echo "2.7e12 points searched in $took s of processor time"
below "$took" 20 || fail "a search takes $took s"

# Any of these devices, up to 8 of each, every cut, with three drafters of up to 8 tokens: in less than a second.
checks=$((checks + 1))
devices=h100-sxm,h200,b200,a100-sxm-80,l40s,rtx-4090,mi300x,jetson-agx-thor
any="--target llama-3.1-70b --device $devices --gpus up-to-8 --stack vllm --drafter eagle3 --acceptance 0.7 --drafter ngram --acceptance 0.3 --drafter llama-3.2-1b --acceptance 0.65 --draft-tokens 1-8 --batch 1,8,32 --context 4000"
took=$(seconds "$TREELINE" recommend $any --format json)
[ "$("$JSON_GET" timed.txt /format)" = treeline-recommendation ] || fail "any of these devices: $(head -c 400 timed.err)"
variants=$(grep -c '"label"' timed.txt)
echo "8 devices, up to 8 of each: $took s of processor time; $variants candidates and exclusions named"
below "$took" 1 || fail "a recommendation over any of these devices takes $took s"
grep -q '2x to 8x jetson-agx-thor' timed.txt || fail "numbers of devices without a cut are not named"
grep -q 'jetson-agx-thor has no interconnect' timed.txt || fail "why numbers of devices are left out is not said"
expect 0 'Excluded: eagle3 on b200: with 5 drafts it would gain' recommend --explain candidates $any  # the best of them first
expect 0 'Excluded: [^:]* on h100-sxm: with [0-9]+ drafts it needs [0-9.]+ GB of memory per device' recommend --explain candidates $any
expect 2 'is 4: no cut that vllm-[0-9.]+ offers shares llama-3.1-70b among so many jetson-agx-thor' recommend $(echo "$any" | sed "s/$devices/jetson-agx-thor/; s/up-to-8/4/")
expect 2 'up_to' recommend $(echo "$any" | sed 's/up-to-8/up-to-none/')
# Among several devices, those that the engine does not run on are left out with the reason; where none is left, it is a problem.
some="--target qwen3-8b --stack tensorrt-llm --drafter ngram --acceptance 0.3"
expect 0 'on l40s.*Excluded: m4-max: tensorrt-llm-[0-9.]+ does not run there: .*Metal' recommend $some --device m4-max,l40s --explain candidates
expect 2 'no device can run qwen3-8b: m4-max: tensorrt-llm-[0-9.]+ does not run there' recommend $some --device m4-max,mi300x
expect 2 '[-][-]stack: is tensorrt-llm-[0-9.]+, but ' recommend $some --device m4-max

# A store of recommendations.
checks=$((checks + 1))
"$TREELINE" recommend $any >plain.txt
"$TREELINE" recommend $any --store kept.sqlite >first.txt 2>log.txt && grep -q 'kept in kept.sqlite as run 1' log.txt || fail "the first time: $(cat log.txt)"
"$TREELINE" recommend $any --store kept.sqlite >again.txt 2>log.txt && grep -q 'answered from kept.sqlite as run 1' log.txt || fail "the second time: $(cat log.txt)"
cmp -s plain.txt first.txt && cmp -s plain.txt again.txt || fail "the store changes the answer"
"$TREELINE" recommend $any --store kept.sqlite --format json 2>/dev/null >again.json
"$TREELINE" recommend $any --format json | cmp -s - again.json || fail "the store changes the JSON"
expect 0 'a recommendation .*finished' results list --store kept.sqlite
for device in h100-sxm h200; do
    "$TREELINE" recommend --target qwen3-8b --device $device --stack vllm --drafter ngram --acceptance 0.4 --batch 8 --store titles.sqlite >out.txt 2>err.txt || fail "$(cat err.txt)"
done
expect 0 'decoding of qwen3-8b on h100-sxm, vllm.* decoding of qwen3-8b on h200, vllm' results list --store titles.sqlite
expect 0 'candidates +1 ' results show 1 --store kept.sqlite
expect 0 'Nothing has changed since run 1' results diff 1 --store kept.sqlite
expect 2 'a store does not keep' recommend $any --store kept.sqlite --export sglang-sps
checks=$((checks + 1))
cp -r "$SOURCE/models" "$SOURCE/hardware" .
sed -i 's/"value": 7.7, "unit": "TB\/s"/"value": 5.0, "unit": "TB\/s"/' hardware/gpu/b200.json
cmp -s hardware/gpu/b200.json "$SOURCE/hardware/gpu/b200.json" && fail "the test changes nothing of b200.json"
"$TREELINE" results diff 1 --store kept.sqlite --catalogue . >diff.txt 2>&1 || fail "results diff: $(cat diff.txt)"
grep -q 'Catalogue: ' diff.txt && grep -q 'the traffic .* -> ' diff.txt || fail "diff says: $(head -8 diff.txt)"

finish
