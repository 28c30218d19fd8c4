# What an operator may follow blindly: the answer is about the server that runs, at the load that it has, against the best server without a drafter.
. "$(dirname "$0")/lib.sh"

# figure ROW COLUMN: a number of the small table of out.txt, whose cells two spaces or more keep apart.
figure() { awk -F '  +' -v row="$1" -v column="$2" '$1 == row || index($1, row ", ") == 1 { print $column; exit }' out.txt; }
# same WHAT A B
same() {
    checks=$((checks + 1))
    [ -n "$2" ] && [ "$2" = "$3" ] || fail "$1: $2 and $3"
}
# above WHAT A B: A is larger.
above() {
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a + 0 > b + 0) }' || fail "$1: $2 is not above $3"
}

# 1. One baseline: a server without the drafter, whose memory is free for requests.
small="--target qwen3-8b --device rtx-4090 --stack vllm --concurrency 12 --prompt 3600 --output-tokens 800"
expect 0 'qwen3-8b on rtx-4090' estimate $small
alone=$(figure plain 2)
expect 0 '0\.[0-9]+x the tokens/s of the +same server without the drafter.*speculation loses with' estimate $small --drafter qwen3-1.7b --acceptance 0.75 --draft-tokens 2
same "plain decoding with and without a drafter beside it" "$(figure plain 2)" "$alone"
expect 0 'Run qwen3-8b on rtx-4090 without a drafter' recommend $small --drafter qwen3-1.7b --acceptance 0.75
same "plain decoding of recommend and of estimate" "$(figure plain 2)" "$alone"

# 2. The verdict is about the load: requests that wait count.
expect 0 '0\.[0-9]+x the tokens/s of the +same server.*but 1[0-9.]+ ms per token instead of.*speculation loses with' estimate --target qwen3.5-4b --device h100-sxm --stack vllm \
    --drafter mtp --draft-tokens 7 --accept-length 3.5 --concurrency 512 --prompt 1000 --output-tokens 1000
above "requests that wait with the drafter" "$(figure "with the drafter" 5)" 100

# 3. Loads stand for themselves: what does not fit is capped there, and the rest is answered.
hybrid="--target qwen3.5-27b --device h100-sxm --stack vllm"
mtp="--drafter mtp --acceptance 0.75,0.58,0.45,0.34,0.26"
for batch in 1,8,24 1,8,28 1:0.5,8:0.49,32:0.01; do
    expect 0 'Run qwen3.5-27b on h100-sxm with mtp drafting [345] tokens: [12]\.[0-9]+x .*"num_speculative_tokens":[345].*Batch +draft tokens' \
        recommend $hybrid $mtp --context 8000 --batch $batch
done
# A server keeps room for the states of its longest draft, whatever it drafts: its schedule ends where they fill the memory.
expect 0 'At once run 1[0-9] of +batch 28, and the others wait: with [345] drafts memory holds 1[0-9] sequences at +context +8000; 30 without the drafter' \
    recommend $hybrid $mtp --context 8000 --batch 1,8,28
expect 0 '1 to 1[0-9] +[345] .*The drafter costs 1[0-9] of 30 sequences at context 8000 \(' recommend $hybrid $mtp --context 8000 --batch 1,8,28
expect 0 'without a drafter' recommend $hybrid $mtp --context 8000 --batch 28
expect 0 'Run qwen3.5-27b on h100-sxm with mtp .*"num_speculative_tokens"' recommend $hybrid $mtp --context 2000,60000 --batch 1,4
expect 0 'Run qwen3.5-27b on h100-sxm with mtp .*Excluded: pythia-70m .*vocabulary' recommend $hybrid --drafter pythia-70m --acceptance 0.5 $mtp --context 8000 --batch 8
expect 0 'num_speculative_tokens_per_batch_size|\[\[1, *[0-9]+, *[345]\]' recommend $hybrid $mtp --context 8000 --batch 1,8,28 --export vllm-batch-context
# A load that never happens changes nothing.
"$TREELINE" recommend $hybrid $mtp --context 8000 --batch 1:0.5,8:0.5 >without.txt
expect 0 'with mtp' recommend $hybrid $mtp --context 8000 --batch 1:0.5,8:0.5,28:0
checks=$((checks + 1))
cmp -s without.txt out.txt || fail "a load with a share of 0 changes the answer: $(diff without.txt out.txt)"

# 4. The largest batch is that of each server: as many sequences decode, and one more waits.
capacity() {
    local where=$1 drafter=$2 plain drafting
    shift 2
    expect 0 'largest batch' recommend $where $drafter --context 8000 --batch 1 "$@"
    plain=$(figure plain 5) drafting=$(figure recommended 5)
    above "$where: sequences without the drafter" "$plain" "$drafting"
    expect 0 "The drafter costs $((plain - drafting)) of $plain sequences at context 8000" recommend $where $drafter --context 8000 --batch 1 "$@"
    expect 0 'tokens/s for each' estimate $where --context 8000 --batch "$plain"
    expect 0 'does not fit' estimate $where --context 8000 --batch $((plain + 1))
}
expect 0 'beyond batch 1[0-9] a server with the drafter is full at context 8000; one without it holds 30 ' report --output - --format json \
    $hybrid $mtp --context 8000 --batch 1
expect 0 'At once run 1[0-9] of batch 28, and the others wait' report --output - --format json $hybrid $mtp --context 8000 --batch 1,8,28
grep -q 'nothing fits' out.txt && fail "nothing is said to fit where plain decoding does"
capacity "$hybrid" "$mtp"
capacity "--target qwen3-8b --device rtx-4090 --stack vllm" "--drafter qwen3-0.6b --acceptance 0.7"
capacity "--target llama-3.1-8b --device h100-sxm --stack sglang" "--drafter eagle3 --acceptance 0.7,0.5"

# 5. Capacity is what the engine takes of a device, by engine: a share that a flag moves and the flags for the engine then state.
llama="--target llama-3.1-8b --device h100-sxm --context 8000 --batch 16"
expect 0 'of 77\.0 GB are' estimate $llama --stack vllm --explain memory  # 0.9 of 85.5 GB
vllm=$(figure plain 5)
expect 0 'largest batch' estimate $llama --stack vllm --memory-utilisation 0.95
above "sequences in a larger share" "$(figure plain 5)" "$vllm"
expect 0 'of 85\.5 GB are' estimate $llama --stack cuda-graph --explain memory
expect 0 '--gpu-memory-utilization 0\.95' recommend $llama --stack vllm --drafter eagle3 --acceptance 0.7,0.5 --memory-utilisation 0.95

# 6. Served traffic: prompts, TTFT and what waits are in the answer, and a drafter that makes users wait needs their word.
expect 0 'plain decoding at this +load.*waiting +largest batch' recommend --target qwen3-32b --device a100-sxm-80 --tensor-parallel 2 --stack vllm \
    --drafter eagle3 --acceptance 0.8,0.65,0.5 --concurrency 8 --prompt 5800 --output-tokens 400
full="--target qwen3.5-4b --device h100-sxm --stack vllm --drafter mtp --acceptance 0.9,0.8,0.7 --draft-tokens 3 --concurrency 300 --prompt 1000 --output-tokens 1000"
expect 0 'without a drafter.*the requests would wait for a place .--waiting [0-9.]+ allows that' recommend $full
grep -q '[Ss]peculation pays' out.txt && fail "speculation is said to pay, and not recommended"
# One client more at a full server turns no verdict over: it waits for half a second, and answers end sooner by seconds.
one="--target qwen3.5-27b --device h100-sxm --stack sglang --drafter mtp --prompt 2000 --output-tokens 500"
for clients in 15 16 17 18 20 32; do
    expect 0 'drafting 3 tokens: 1\.[4-7][0-9]x the' recommend $one --concurrency $clients
done
expect 0 'but the first token +comes after 9[0-9]+ ms instead of 4[0-9]+ ms, with 1 request waiting.*may come so late because answers end sooner' recommend $one --concurrency 16
expect 0 'without a drafter.*the requests +would wait for a place .--waiting 0\.07[0-9]* allows' recommend $one --concurrency 16 --waiting 0.05
expect 0 'without a drafter.*TTFT would be 2\.1[0-9]x as long .--ttft-growth 3 +allows' recommend $one --concurrency 16 --ttft-growth 2 --waiting 0.1
expect 0 'Run qwen3.5-4b on h100-sxm with mtp' recommend $full --waiting 1 --ttft-growth 10000 --minimum-gain 0.01

# 7. Flags of the engine that was priced; what it cannot express is refused.
expect 0 'SGLang 0\.[0-9.]+:.*--speculative-algorithm EAGLE3' recommend --target llama-3.1-8b --device h100-sxm --engine sglang --drafter eagle3 --acceptance 0.7,0.5 --batch 4
expect 0 'vllm serve meta-llama/Llama-3.1-8B-Instruct ' recommend --target llama-3.1-8b --device h100-sxm --engine vllm --drafter eagle3 --acceptance 0.7,0.5 --batch 4
expect 0 'llama-server' recommend --target mixtral-8x7b --device generic-x86 --drafter ngram --acceptance 0.3
grep -qE 'vllm serve|sglang|trtllm' out.txt && fail "a Xeon gets flags of an engine for GPUs"
expect 2 "sglang 5,4,32: the stack 'vllm-[0-9.]+' verifies chains only" estimate --target llama-3.1-8b --device h100-sxm --stack vllm --drafter eagle3 --acceptance 0.7 --shape sglang:5,4,32
expect 2 'has no module for multi-token prediction' recommend --target llama-3.1-8b --device h100-sxm --drafter mtp
expect 0 'Run deepseek-r1 on 8x h200 with mtp' recommend --target deepseek-r1 --device h200 --tensor-parallel 8 --stack sglang --drafter mtp --acceptance 0.85,0.6 \
    --concurrency 16 --prompt 1000 --output-tokens 500 --explain inputs
grep -qE '(MTP|module)[^.]*left out' out.txt && fail "the module that was asked for is said to be left out"

# 8. Numbers side by side agree: an interval holds its gain, the schedule runs from least to greatest, and few ranges differ by something.
expect 0 'lies between' recommend --target qwen3.5-27b --device h100-sxm --stack vllm $mtp --concurrency 1,4,8 --prompt 2000 --output-tokens 500
read -r gain low high < <(tr '\n' ' ' <out.txt | sed -E 's/.*tokens: ([0-9.]+)x the.*lies +between +([0-9.]+)x +and +([0-9.]+)x.*/\1 \2 \3/')
above "the gain and the lower end of its interval" "$gain" "$low"
above "the upper end and the gain" "$high" "$gain"

# "Pays up to batch N" is judged as the verdict beside it is, by errors and acceptance: loads well below and above N say so.
series="recommend --target llama-3.1-8b --device h100-sxm --stack vllm --drafter eagle3 --acceptance 0.6,0.35,0.2 --context 500 --batch"
expect 0 'With 80 % confidence drafting pays up to batch' $series 4,1024 --explain trust
pays=$(tr '\n' ' ' <out.txt | grep -oE 'drafting pays +up +to +batch +[0-9]+' | grep -oE '[0-9]+$')
expect 0 'speculation pays with' $series $((pays * 3 / 4))
expect 0 'too close to call|without a drafter' $series $((pays * 4 / 3 + 1))

# Where memory takes draft lengths away, kernels and graphs are not the cause.
expect 0 'LOADS' recommend $hybrid $mtp --context 8000 --batch 1,8,28 --explain loads
grep -q 'kernels take rows in tiles' out.txt && fail "a full memory is put down to kernels: $(grep 'One more' out.txt)"

# Names stand on a page, whose reader typed none of the words.
expect 0 '"sentence": "Run llama-3.1-8b on NVIDIA H100 SXM 80 GB with EAGLE-3 drafting .*"label": "EAGLE-3 on NVIDIA H100 SXM 80 GB"' report --output - --format json \
    --target llama-3.1-8b --device h100-sxm --stack vllm --drafter eagle3 --acceptance 0.7,0.5 --batch 8
expect 0 '"unit_note": "one NVIDIA H100 SXM 80 GB, .*"label": "EAGLE-3 qwen3-[0-9a-z-]+ .measured with qwen3-[0-9a-z-]+. on NVIDIA H100 SXM 80 GB"' report --output - --format json \
    --target qwen3-32b --device h100-sxm --stack vllm --drafter eagle3 --batch 8
grep -qE 'on h100-sxm|one h100-sxm|"eagle3"|"eagle3-' out.txt && fail "a page has words of flags: $(grep -oE '.{40}(on h100-sxm|"eagle3").{20}' out.txt | head -3)"

# 9. Several values of a platform's key are tried; a load beyond capacity is answered.
l40s="--target qwen3-8b --device l40s --stack vllm --drafter eagle3 --acceptance 0.7,0.5,0.35 --prompt 2000 --output-tokens 400"
expect 0 'Run qwen3-8b on l40s' recommend $l40s --concurrency 8 --prefill mixed,disaggregated
expect 0 'Run qwen3-8b on l40s' recommend $l40s --concurrency 8 --token-budget 2048,8192
expect 0 'Run qwen3-8b on l40s .*50 requests/s are more than this can serve: plain +decoding +serves' recommend $l40s --arrival-rate 50

# A gain that measured speed-ups of its kind rather miss than reach is nothing to run.
expect 0 '^Run qwen3-32b on 2x a100-sxm-80 without a drafter.* +reaches 1\.[0-9]+x, +but +would +gain +with +[1-4][0-9] +% +only' \
    recommend --target qwen3-32b --device a100-sxm-80 --tensor-parallel 2 --stack vllm --drafter eagle3 --acceptance 0.7 \
    --concurrency 8,16,24,40 --prompt 5800 --output-tokens 400

# 10. Slips of the pen get one sentence about what is wrong; a file says what it is; what a model file states is kept.
qwen="--target qwen3-8b --device h100-sxm"
expect 2 '^treeline: estimate: unknown flag "--devic"; did you mean "--device"\? *$' estimate --target qwen3-8b --devic h100-sxm
expect 2 '^treeline: recommend: unknown flag "--tp"; here it is --tensor-parallel *$' recommend $qwen --tp 2
expect 2 '"--isl"; here it is --prompt.*"--max-num-seqs"; here it is --concurrency' recommend $qwen --isl 100 --max-num-seqs 8
expect 2 '^treeline: sweep: unknown flags "--target", "--device" and "--stack"; see treeline sweep --help *$' \
    sweep --target qwen3-8b --device h100-sxm --stack vllm
expect 2 '^treeline: --device: is missing *$' estimate --target qwen3-8b
expect 2 'model "qwen3-8bb" is not in the catalogue; did you mean "qwen3-8b"' recommend --target qwen3-8bb --device h100-sxm
expect 2 'model "zzzzz" is not in the catalogue; `treeline models` lists all' recommend --target zzzzz --device h100-sxm
checks=$((checks + 1))
[ "$(wc -c <err.txt)" -lt 300 ] || fail "a misspelt model prints $(wc -c <err.txt) bytes"
expect 2 '--drafter: there is no drafter "eagl3"; did you mean .*"eagle3"' recommend $qwen --drafter eagl3 --acceptance 0.7
expect 0 'with eagle3' estimate $qwen --drafter eagle-3 --accept-length 4:2.5
expect 2 'nor is it a published drafter or a kind of drafter; did you mean "eagle3-llama-3.1-8b.*inputs drafter` all kinds' \
    estimate $qwen --drafter EAGLE3-LLaMA --acceptance 0.7
expect 2 'model "foo" is not in the catalogue.*nor is it a published drafter.*`treeline models --drafters` lists all published ones' \
    estimate $qwen --drafter foo --acceptance 0.7
expect 2 'no software stack "ollama": ollama runs llama.cpp, so give "llama.cpp"' estimate $qwen --stack ollama
expect 2 'no software stack "mlx_lm": mlx_lm runs mlx, so give "mlx"' estimate $qwen --stack mlx_lm
for engine in tgi exllama lmdeploy; do
    expect 2 "no software stack \"$engine\".*engines that are known are llama.cpp, mlx, sglang, .*tensorrt-llm and vllm" \
        estimate $qwen --stack $engine
done
expect 0 'tensorrt-llm' estimate $qwen --stack TRT-LLM
expect 2 'million-points.json: holds a sweep, not a workload: `treeline sweep ' recommend "$SOURCE/examples/sweeps/million-points.json"
expect 2 'holds a workload, not a design point: `treeline recommend ' estimate "$SOURCE/examples/llama-3.1-8b-h100.json"
for precision in "" "--precision fp8"; do
    expect 0 'key-value cache' estimate --target deepseek-v4-flash --device h200 --tensor-parallel 4 $precision --batch 64 --context 32000 --explain memory
    cache=$(awk -F '  +' '/key-value cache/ { print $2; exit }' out.txt)
    same "the cache that the model file states in fp8, ${precision:-as published}" "$cache" "${stated:=$cache}"
done
expect 0 'plain' estimate --target mamba2-2.7b --device specmamba-vhk158 --prompt 2000
longer=$(figure plain 4)
expect 0 'plain' estimate --target mamba2-2.7b --device specmamba-vhk158 --prompt 200
checks=$((checks + 1))
[ "$(figure plain 4)" != "$longer" ] || fail "an accelerator's TTFT does not depend on the prompt: $longer"
expect 0 'TTFT' estimate --target mamba2-2.7b --device specmamba-vhk158 --prompt 2000
# 12. More requests than can be served: no figure pretends that the wait ends, in text and in JSON, and what was asked for and cannot be had is said.
overload="--target gpt-oss-20b --device rtx-5090 --arrival-rate 40 --prompt 2000 --output-tokens 400"
expect 0 'Note: 40 requests/s are more than can be served' estimate $overload --stack sglang
checks=$((checks + 2))
grep -q 'TTFT' out.txt && fail "a time to the first token of a server that never catches up: $(cat out.txt)"
"$TREELINE" estimate $overload --stack sglang --format json >overload.json
[ "$("$JSON_GET" overload.json /plain/ttft_ms)" = null ] && "$JSON_GET" overload.json /notes/0 | grep -q 'more than can be served' ||
    fail "the JSON of an overloaded server: $("$JSON_GET" overload.json /plain/ttft_ms), $("$JSON_GET" overload.json /notes)"
expect 0 'requests wait ever longer, +so it is +for +throughput +instead +of +latency.*No +configuration +keeps +TTFT +below +1 +s' \
    recommend $overload --engine sglang --objective latency --drafter eagle3 --acceptance 0.9 --max-ttft-ms 1000
expect 0 '77\.[0-9]+ ms per token; +of +40 +requests/s +it +serves +[0-9.]+, +and +the +others +wait +ever +longer\.' recommend $overload --engine sglang --drafter none
expect 0 'Time to first token \(TTFT\) +grows +grows.*Requests waiting +grows +grows' recommend $overload --engine sglang --drafter eagle3 --acceptance 0.9 --explain loads
expect 0 '"ttft_ms": null' recommend $overload --engine sglang --drafter eagle3 --acceptance 0.9 --format json
# 13. A batch that memory does not hold waits, whether anything is drafted or not.
expect 0 'At +once +run +[0-9]+ +of +batch +128, +and +the +others +wait: +memory +holds +[0-9]+ +sequence' \
    recommend --target qwen3.5-9b --device rtx-4090 --engine vllm --batch 128 --context 65536 --drafter none
# 14. SGLang leaves as much to activations and graphs as it does on a device of this size: an 8B model runs on 24 GB.
expect 0 'on rtx-3090, sglang' estimate --target llama-3.1-8b --device rtx-3090 --stack sglang --batch 1 --context 2048
checks=$((checks + 1))
grep -q 'does not fit' out.txt && fail "llama-3.1-8b on 24 GB: $(cat out.txt)"
# 15. What a flag asks for is on the first screen, and a head of another model is refused.
expect 0 'Training pays: it saves [0-9.]+ of 1000; net of training' estimate --target llama-3.1-8b --device h100-sxm --stack vllm --drafter eagle3 --acceptance 0.8 --draft-tokens 3 \
    --decoding-budget 1000 --draft-training 100
expect 2 '"8xH200" is 8 devices: give one, "h200-sxm"|"8xH200" is 8 devices: give one, "h200"' estimate --target qwen3-8b --device 8xH200
"$TREELINE" validate >said.txt 2>&1
checks=$((checks + 1))
for named in $(grep -oE 'treeline [a-z]+' said.txt | cut -d' ' -f2 | sort -u); do
    "$TREELINE" "$named" --help >/dev/null 2>&1 || fail "validate names a command that there is not: $named"
done
# Under arrivals and on full servers the gain may lie outside of the table of equal numbers of requests, and the answer says why.
arrivals=(--target qwen3-30b-a3b --device h100-sxm --tensor-parallel 2 --engine sglang --prompt 1000 --output-tokens 300)
expect 0 'this +load +keeps +[0-9.]+ +of +them +running, +and +[0-9.]+ +in +plain +decoding' recommend "${arrivals[@]}" --arrival-rate 3
checks=$((checks + 1))
"$TREELINE" recommend "${arrivals[@]}" --concurrency 8 | grep -q 'this load keeps' && fail "equal numbers of requests differ"
expect 0 'this +load +keeps +[0-9]{4} +of +them +running, +and +[0-9]{4} +in +plain +decoding' recommend --target deepseek-r1 --device h200 --gpus 8 --engine sglang --arrival-rate 200 --prompt 3000 --output-tokens 800

# Several cuts, of which the first does not hold the model: servers that are always full are those that do.
expect 0 'of 60 requests/s it +serves [0-9]{2}' recommend --target qwen3-next-80b-a3b --device h100-sxm --gpus up-to-8 --engine vllm --arrival-rate 60 --prompt 4000 --output-tokens 500 --drafter mtp --acceptance 0.8,0.6
# Contexts: vLLM is told of a shorter one only where estimate says that one whole context has no room, whatever else waits or idles.
told_of_contexts() {
    local model=$1 whole=$2 told=0 room=1 prompt
    shift 2
    "$TREELINE" estimate --model "$model" "$@" --draft-tokens 4 --batch 1 --context "$whole" --format json >whole.json 2>err.txt || room=0
    [ "$room" -eq 1 ] && room=$(awk -v n="$("$JSON_GET" whole.json /configuration/largest_batch)" 'BEGIN { print (n == "" ? "unknown" : n >= 1) }')
    for prompt in 500 2000 10000; do
        checks=$((checks + 1))
        "$TREELINE" recommend --target "$model" "$@" --concurrency 1 --prompt $prompt --output-tokens 1000 >out.txt 2>err.txt || fail "recommend $model: $(cat err.txt)"
        told=$(grep -c -e --max-model-len out.txt)
        [ "$told" -ne "$room" ] || fail "$model at $prompt tokens: one whole context fits ($room), and flags say ($told): $(grep serve out.txt)"
    done
}
chain='{"kind":"eagle3","acceptance":{"per_position":[0.75,0.55,0.4,0.3]}}'
told_of_contexts nemotron-3-nano-30b-a3b 262144 --stack vllm --device h100-sxm --drafter "$chain"
told_of_contexts granite-4.0-h-small 131072 --stack vllm --device h100-sxm --drafter "$chain"
told_of_contexts qwen3-8b 40960 --stack vllm --device rtx-4090 --drafter "$chain"
told_of_contexts llama-3.1-8b 131072 --stack vllm --device rtx-4090 --drafter "$chain"

# A drafter whose parts state what is accepted is the same as a flag and in a file.
parts='{"kind":"lookup-first","lookup":{"kind":"suffix","hit_rate":0.4,"acceptance":{"rate":0.8}},"otherwise":{"kind":"eagle3","acceptance":{"per_position":[0.7,0.5,0.3]}}}'
with_json '{"target":"llama-3.1-8b","platforms":[{"device":"h100-sxm","stack":"tensorrt-llm"}],"drafters":['"$parts"'],"draft_tokens":[3],"traffic":{"concurrency":[16]},"prompt_tokens":2000,"output_tokens":500}'
expect 0 'with lookup-first drafting 3 tokens' recommend input.json
cp out.txt of_file.txt
expect 0 'with lookup-first drafting 3 tokens' recommend --target llama-3.1-8b --device h100-sxm --stack tensorrt-llm --drafter "$parts" --draft-tokens 3 \
    --concurrency 16 --prompt 2000 --output-tokens 500
checks=$((checks + 1))
cmp -s of_file.txt out.txt || fail "a drafter of parts differs as a flag: $(diff of_file.txt out.txt)"

# Where a limit leaves loads out, the flags let no more requests run than are served.
expect 0 'max-num-seqs [0-9]+.*Left out' recommend --target qwen3-8b --device h100-sxm --stack vllm --drafter eagle3 --acceptance 0.7,0.5,0.3 \
    --concurrency 4:0.5,256:0.5 --prompt 2000 --output-tokens 500 --max-tpot-ms 8

# What the command needs to do what was priced is said, however much else there is to say.
for prompt in 30000 110000; do
    expect 0 'vllm serve Qwen/Qwen3-32B-FP8 ' recommend --target qwen3-32b --device h100-sxm --tensor-parallel 2 --stack vllm --precision fp8 --drafter eagle3 \
        --concurrency 8 --prompt $prompt --output-tokens 500
done
expect 0 'is made for 40,960 tokens' recommend --target qwen3-32b --device h100-sxm --tensor-parallel 2 --stack vllm --precision fp8 --drafter eagle3 \
    --concurrency 8 --prompt 110000 --output-tokens 500

# A command starts as it is printed: the checkpoint in the format that is priced, and no longer a context than the memory holds
# (262,144 tokens x 65.5 kB are 17.2 GB, and 5.6 GB are left beside the weights).
expect 0 "vllm serve 'Qwen/Qwen3.6-27B stored as int4' .*--max-model-len 3072" recommend --target Qwen/Qwen3.6-27B --device "RTX 4090" \
    --stack vllm --precision int4 --concurrency 1 --prompt 2000 --output-tokens 500
expect 0 "vllm serve 'Qwen/Qwen3.6-27B stored as int4' " recommend --target qwen3.6-27b --device rtx-4090 --stack vllm --precision int4 \
    --concurrency 1 --prompt 2000 --output-tokens 500
expect 0 '--speculative-algorithm EAGLE --speculative-num-steps' recommend --target deepseek-v4-pro --device b200 --tensor-parallel 8 \
    --engine sglang --concurrency 128 --prompt 8000 --output-tokens 1000
# 810 GB are what vLLM's recipe asks for Mistral Large 3 in the FP8 that it is published in; GLM-5.2 is published in 16 bits.
expect 0 'Run mistral-large-3 on 8x b200' recommend --target mistral-large-3 --device b200 --tensor-parallel 8 --engine vllm \
    --concurrency 16 --prompt 2000 --output-tokens 500
expect 0 'it fits with --precision fp8 or on 16 devices' recommend --target glm-5.2 --device b200 --tensor-parallel 8 --engine vllm \
    --concurrency 16 --prompt 2000 --output-tokens 500
# What is said to fit does, asked with just those flags: all degrees are named, and the devices are as many as they make.
fits_as_told() {
    local ways told
    checks=$((checks + 1))
    "$TREELINE" recommend "$@" --concurrency 2 --prompt 1000 --output-tokens 500 >out.txt
    ways=$(tr '\n' ' ' <out.txt | grep -oE 'on [0-9]+ devices +\([^)]*\)' | tr -s ' ')
    read -ra told < <(grep -oE '\([^)]*\)' <<<"$ways" | tr -d '()')
    "$TREELINE" recommend "${told[@]}" "${@:3}" --concurrency 2 --prompt 1000 --output-tokens 500 >fits.txt 2>&1
    [ -n "$ways" ] && tr -s ' \n' ' ' <fits.txt | grep -qE "${ways/ devices*/}x " || fail "recommend $*: said to fit $ways: $(head -c 300 fits.txt)"
}
fits_as_told --gpus 3 --target qwen2.5-32b --device l4 --engine vllm
fits_as_told --pipeline-parallel 4 --target llama-3.3-70b --device rtx-4090 --engine vllm
fits_as_told --tensor-parallel 1 --target qwen2.5-32b --device l4 --engine vllm
fits_as_told --tensor-parallel 1 --target llama-3.1-8b --device h100-sxm --engine vllm --max-memory-gb 12
expect 0 'on 8 devices \(--tensor-parallel 2 --attention-data-parallel 4 +--expert-parallel 8\)' recommend --target qwen3-235b-a22b \
    --device h100-sxm --attention-data-parallel 4 --expert-parallel 4 --engine vllm --concurrency 2 --prompt 1000 --output-tokens 500
expect 0 'Run qwen3-235b-a22b on 8x +h100-sxm' recommend --target qwen3-235b-a22b --device h100-sxm --tensor-parallel 2 \
    --attention-data-parallel 4 --expert-parallel 8 --engine vllm --concurrency 2 --prompt 1000 --output-tokens 500

# A load that plain decoding cannot serve is served by what can, however its TTFT compares.
gemma="--target gemma-4-31b --device h100-sxm --stack vllm --prompt 1500 --output-tokens 400 --drafter mtp"
expect 0 'plain decoding cannot serve these +arrivals, and this can' recommend $gemma --arrival-rate 2
checks=$((checks + 1))
[ "$(figure recommended 5)" = 0 ] && [ "$(figure recommended 2)" = 800 ] || fail "2 requests/s are 800 tokens/s: $(cat out.txt)"
expect 0 'plain decoding cannot serve these +arrivals, and this can' recommend $gemma --arrival-rate 0.5:0.5,2:0.5

# Nobody waits for a place that another cut of the devices has, with drafts or without; the plain row names its cut.
for clients in 32 64; do
    expect 0 'plain, tensor [24], attention data [24] ' recommend --target qwen3-235b-a22b --device h100-sxm --gpus 8 --stack vllm \
        --concurrency $clients --prompt 2000 --output-tokens 800 --objective latency
    checks=$((checks + 1))
    [ "$(figure plain 5)" = 0 ] && [ "$(figure recommended 5)" = 0 ] || fail "somebody waits: $(cat out.txt)"
    checks=$((checks + 1))
    awk -F '  +' '$1 ~ /^plain,/ { exit !($6 >= '$clients') } END { exit 0 }' out.txt || fail "the plain row's largest batch: $(cat out.txt)"
done
expect 0 'more of the requests wait than where plain +decoding holds most; --waiting allows 5 %' recommend --target qwen3-32b \
    --device h100-sxm,h200 --stack vllm --concurrency 48 --prompt 4000 --output-tokens 500 --objective latency --explain candidates

# Trees are tried beside chains; a flag that undoes drafts faster is named.
expect 0 'drafting 6 tokens: 2\.' recommend --target llama-3.1-8b --device h100-sxm --stack sglang --concurrency 4 --prompt 1000 \
    --output-tokens 500 --drafter eagle3 --shape sglang:5,4,16
expect 0 'with +--enable-linear-replayssm-spec \(--rollback ring\) this is 1\.[0-9]+x\.' estimate --target qwen3.5-27b --device h100-sxm \
    --stack sglang --drafter mtp --acceptance 0.8 --concurrency 12 --prompt 4000 --output-tokens 500 --draft-tokens 5

# Published acceptance of heads far beyond where it was measured.
# silent PATTERN ARGUMENT...: the answer holds nothing like it.
silent() {
    checks=$((checks + 1))
    "$TREELINE" "${@:2}" >out.txt 2>err.txt && [ -s out.txt ] || fail "treeline ${*:2}: $(cat err.txt)"
    ! tr '\n' ' ' <out.txt | grep -qE -- "$1" || fail "treeline ${*:2}: \"$1\" in $(cat out.txt)"
}
far="--target llama-3.1-8b --device h100-sxm --engine vllm --concurrency 2 --output-tokens 500"
expect 0 'Acceptance is taken to be the same at 100250 tokens of +context' recommend $far --prompt 100000 --drafter eagle3
silent 'taken to be the same at' recommend $far --prompt 2000 --drafter eagle3
silent 'taken to be the same at' recommend $far --prompt 100000 --drafter eagle3 --acceptance 0.7

# The table's plain decoding is what is recommended without a drafter, on a cut that keeps the limits.
r1="--target deepseek-r1 --device h200 --gpus 8 --engine vllm --arrival-rate 5 --prompt 2000 --output-tokens 1000 --max-ttft-ms 300"
for drafter in "--drafter none" ""; do
    "$TREELINE" recommend $r1 $drafter >out.txt
    checks=$((checks + 1))
    awk -F '  +' '$1 ~ /^plain/ { found = 1; exit !($4 + 0 <= 300) } END { exit !found }' out.txt || fail "a baseline that breaks the limit: $(figure plain 4)"
done
# A first token that comes seven times later than the table's is for the user to ask for.
expect 0 'makes the TTFT [3-9][0-9.]* times that of plain +decoding; +--ttft-growth allows 2' recommend --target deepseek-r1 --device h100-sxm --gpus 16 \
    --engine vllm --concurrency 8 --prompt 2000 --output-tokens 1000

# A load that is left out is told of by what comes nearest, in as many digits as tell it from the limit.
expect 0 'Left +out, .*: +dflash-llama-3.1-8b +on +h100-sxm: +with +5 +drafts +it +reaches +a +TPOT +of +12\.003 +ms; +12\.000 +ms +are +allowed' recommend \
    --target llama-3.1-8b --device h100-sxm --engine vllm --concurrency 8:0.5,64:0.5 --prompt 2000 --output-tokens 300 --max-tpot-ms 12

# One length is one length: in the sentence, in the table and in the flags.
one_length="--target llama-3.3-70b --device h100-sxm --gpus 8 --engine vllm --concurrency 64 --prompt 4000 --output-tokens 500 --objective latency"
expect 0 'drafting [0-9]+ tokens' recommend $one_length
length=$(tr '\n' ' ' <out.txt | grep -oE 'drafting [0-9]+' | tr -dc 0-9)
expect 0 "\"num_speculative_tokens\":$length\}.* 1 to 64 +$length " recommend $one_length

# Engines beside each other: which share of the load each serves, and at which rate.
shares="--target llama-3.1-8b --device h100-sxm --drafter eagle3-llama-3.1-8b-specforge --concurrency 4:0.5,64:0.5 --prompt 1000 --output-tokens 300 --max-ttft-ms 60"
expect 0 'load served.*vLLM.* 100\.0 %.*SGLang.* 50\.0 %.*SGLang [0-9.]+: Left out' recommend $shares --engine sglang,vllm
expect 0 'load_served.*vLLM [^ ]+,1,.*SGLang [^ ]+,0\.5,' recommend $shares --engine sglang,vllm --format csv
expect 0 '"load_served": 1\.0.*"load_served": 0\.5' recommend $shares --engine sglang,vllm --format json
most="--target llama-3.1-8b --device h100-sxm --arrival-rate most --max-tpot-ms 20 --prompt 1000 --output-tokens 300"
expect 0 'requests/s.*vLLM [^|]* [0-9]+\.[0-9] +1\.[0-9]+x' recommend $most --engine vllm,sglang
expect 0 'requests_per_s.*vLLM [^ ]+,1,[0-9]+\.[0-9]+,1\.' recommend $most --engine vllm,sglang --format csv
expect 0 '"requests_per_s": [0-9]+\.' recommend $most --engine vllm,sglang --format json

# What the measured errors make the less likely outcome is not the advice.
expect 0 'Run qwen3-8b on l40s without a drafter.*but would gain with [1-4][0-9] % only' recommend --target qwen3-8b --device l40s \
    --stack vllm --drafter eagle3 --acceptance 0.1,0.01 --concurrency 32 --prompt 500 --output-tokens 500
# The accept length of one tree, as for `estimate`.
expect 0 'Run qwen3-30b-a3b|without a drafter' recommend --model qwen3-30b-a3b --device h100-sxm --tensor-parallel 2 --engine sglang@0.5.6 \
    --precision bf16 --batch 1 --drafter eagle3 --shape sglang:3,3,4 --accept-length 1.99
expect 0 '--kv-cache-dtype fp8' recommend --target qwen3-8b --device h100-sxm --stack vllm --kv-cache fp8 --concurrency 8 --prompt 2000 \
    --output-tokens 500
expect 0 '--kv-cache-dtype fp8' recommend --target qwen3-8b --device h100-sxm --stack vllm --precision fp8 --kv-cache fp8 --concurrency 8 \
    --prompt 2000 --output-tokens 500
expect 0 'llama-server' recommend --target qwen3-8b --device strix-halo --batch 1
expect 0 'flags of versions before b9987 are not known' recommend --target qwen3-8b --device h100-sxm --engine llama.cpp@b6077 \
    --concurrency 1 --prompt 2000 --output-tokens 500
expect 0 'vllm-0.23 \(as vllm-0.14\)' estimate --target qwen3-8b --device h100-sxm --engine vllm@0.23 --batch 16 --context 2000 --drafter eagle3
expect 0 'qwen3.6-27b' models
expect 0 'qwen3.8-27b' completions --names models

finish
