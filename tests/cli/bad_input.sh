# Bad input: one clear sentence for each problem, all of a file at once, exit code 2, never a crash.
. "$(dirname "$0")/lib.sh"

estimate() { expect 2 "$1" estimate --model llama-3-8b --device h100-sxm "${@:2}"; }

# Flags
estimate '--batch: must be a whole number, not "eight"' --batch eight
estimate '--batch: is -3, but must lie between 1' --batch=-3
estimate '--batch: is 0, but must lie between 1' --batch 0
estimate '--batch: is 1e\+?30, but must lie' --batch 1e30
estimate '--batch: must be a whole number, not "nan"' --batch nan
estimate '--context: is 10000000000, but must lie' --context 10000000000
estimate '--precision: must be .*bf16.*, not "bf61"; did you mean "bf16"' --precision bf61
estimate '--mode: must be roofline, calibrated or hoi, not "roofling"; did you mean "roofline"' --mode roofling
estimate '--rollback: must be .*, not "replai"; did you mean "replay"' --rollback replai
estimate 'keeps no recurrent state' --rollback replay
estimate '--stack: .*did you mean "vllm"' --stack vlm
estimate '--acceptance and --accept-length need a --drafter' --acceptance 0.8
estimate '--drafter: published: no eagle was published for llama-3-8b or its family, so state how many' --drafter eagle
estimate '--acceptance: rate: is 1.8, but must lie between 0 and 1' --drafter eagle --acceptance 1.8
estimate 'say the same thing; give one' --drafter eagle --acceptance 0.8 --accept-length 3
estimate 'at most 6' --drafter eagle --accept-length 9
estimate 'chain 9: the drafter reaches 4 tokens ahead, not 9' --drafter medusa --acceptance 0.8 --draft-tokens 9
estimate 'there is no drafter' --draft-tokens 3
estimate 'speaks the vocabulary .gpt-neox-20b., target llama-3-8b speaks .llama-3.' --drafter pythia-70m --acceptance 0.8
estimate 'window' --drafter sparse-self --acceptance 0.8
expect 2 'no interconnect named .nvlonk.' estimate --model llama-3-8b --device h100-sxm --tensor-parallel 8 --interconnect nvlonk
expect 2 'no interconnect' estimate --model llama-3-8b --device generic-x86 --tensor-parallel 2
expect 2 '--engine: is tensorrt-llm, but its kernels need compute capability 8\.0, and v100-sxm-32 has 7\.0' estimate --model llama-3-8b --device v100-sxm-32 --engine tensorrt-llm
expect 0 'decodes at batch 1' estimate --model llama-3-8b --device v100-sxm-32 --engine vllm
expect 2 '--target: is in mlx-4bit, a checkpoint of MLX' recommend --target llama-3-8b --device h100-sxm --engine sglang --precision mlx-4bit
expect 2 '--model: is in fp8, not a type of GGUF' estimate --model llama-3-8b --device h100-sxm --engine llama.cpp --precision fp8
expect 2 '--model: .*did you mean "llama-3-8b"' estimate --model llama-3-8c --device h100-sxm
expect 2 'cannot be opened' estimate --model ./no-such-model.json --device h100-sxm

estimate '--batch: is given more than once' --batch 8 --batch 16
expect 2 '--placement: layers: is 80, but llama-3-8b has 32 layers' estimate --model llama-3-8b --device rtx-4090 --placement weights:80
expect 2 '--draft-tokens: a run of an accelerator takes the length as --shape chain:8' estimate --design specmamba-vhk158 --draft-tokens 8

# Pipes and standard input are read like files.
with_json '{"target": "llama-3-8b", "platform": "h100-sxm"}'
expect 0 'llama-3-8b on h100-sxm' estimate <(cat input.json)
expect 0 'llama-3-8b on h100-sxm' estimate - <input.json
printf '{"target": "llama-3-8b", "platforms": ["h100-sxm"], "drafters": [], "traffic": {"batch": 1, "context": 1000}}' >workload.json
expect 0 'llama-3-8b on h100-sxm' recommend <(cat workload.json)
expect 0 'no findings' lint <(echo '{"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 3}')
expect 2 'is larger than 1048576 bytes' lint /dev/zero

# A model that does not fit is a result, and says by how much.
expect 0 'does not fit at batch 1 .* too much.*has room for 1[0-9]+ GB: --placement weights:[0-9]+' estimate --model llama-3-70b --device rtx-4090
expect 0 'does not fit' estimate --model llama-3-70b --device rtx-4090 --stack vllm --drafter eagle3 --draft-tokens 3
! grep -q 'confidence\|speculation pays' out.txt || fail "what does not fit has a gain: $(cat out.txt)"

# Files
expect 2 'no-such-file.json: cannot be opened' estimate no-such-file.json
expect 2 'is a directory' recommend "$WORK"
with_json '{"target": "llama-3-8b", "platform": '
expect 2 'input.json: .*line 1' estimate input.json
with_json '[1, 2]'
expect 2 'must hold an object' estimate input.json
with_json ''
expect 2 'input.json' sweep input.json
head -c 17000000 /dev/zero | tr '\0' ' ' >huge.json
expect 2 'huge.json: is larger than' recommend huge.json
printf '%0.s[' $(seq 1 100000) >deep.json
expect 2 'deep.json: ' recommend deep.json
head -c 4096 /dev/urandom >noise.json
expect 2 'noise.json: ' recommend noise.json
with_json '{"target": "llama-3-8b", "target": "llama-3-70b", "platform": "h100-sxm"}'
expect 2 'target: this key appears twice' estimate input.json

# All problems of a file at once, each with its place.
with_json '{"target": {"model": "llama-3-8b", "precison": "fp8"}, "platform": {"device": "h100", "tensor_parallel": 0},
            "drafter": {"kind": "medusa", "heads": "four", "acceptance": {"geometric": 0.8, "curve": {"1": 1.5}}}, "batch": -1}'
expect 2 'target.precison: unknown key; did you mean "precision"' estimate input.json
expect 2 'platform.device: .*did you mean "h100-nvl", "h100-pcie" or "h100-sxm"' estimate input.json
expect 2 'platform.tensor_parallel: is 0' estimate input.json
expect 2 'drafter.heads: must be a whole number' estimate input.json
expect 2 'drafter.acceptance: gives geometric and curve' estimate input.json
expect 2 'batch: is -1' estimate input.json
[ "$(wc -l <err.txt)" -eq 6 ] || fail "six problems, but $(wc -l <err.txt) sentences"

# A description named by an input file: both files are in the sentence.
cat >device.json <<'JSON'
{"title": "Mine", "kind": "gpu",
 "memory": {"value": 80, "unit": "GB/s", "source": "here", "kind": "assumed"},
 "memory_bandwidth": {"value": -1, "unit": "TB/s", "source": "here", "kind": "assumed"},
 "peak": {"fp32": {"value": 50, "unit": "TFLOP/s", "source": "here", "kind": "guessed"}}}
JSON
with_json '{"target": "llama-3-8b", "platform": "device.json"}'
expect 2 'input.json: platform.device: device.json: memory.unit' estimate input.json
expect 2 'memory_bandwidth' estimate input.json
expect 2 'peak.fp32.kind' estimate input.json

# Workloads
workload() {
    with_json "{\"target\": \"llama-3-8b\", \"platforms\": [\"h100-sxm\"], \"drafters\": [{\"kind\": \"ngram\", \"acceptance\": {\"geometric\": 0.5}}],
               \"draft_tokens\": $1, \"traffic\": {\"batch\": $2, \"context\": $3} $4}"
}
workload '[]' '[1]' '[1024]' ''
expect 2 'draft_tokens: is empty' recommend input.json
workload '{"from": 8, "to": 1}' '[1]' '[1024]' ''
expect 2 'draft_tokens: runs backwards, from 8 to 1' recommend input.json
workload '{"from": 1, "to": 8, "step": 0}' '[1]' '[1024]' ''
expect 2 'draft_tokens.step: is 0' recommend input.json
workload '[1, 2, 2]' '[1]' '[1024]' ''
expect 2 'draft_tokens: holds 2 twice' recommend input.json
workload '[1]' '[{"value": 1, "share": -0.5}]' '[1024]' ''
expect 2 'traffic.batch\[0\].share: is -0.5' recommend input.json
workload '[1]' '[1]' '{"from": 0, "to": 90000000}' ''
expect 2 'traffic.context: holds 90000001 values' recommend input.json
workload '[1]' '[1]' '[1024]' ', "limits": {"tpot_s": 1}'
expect 2 'limits.tpot_s: unknown key; did you mean "tpot_ms"' recommend input.json
workload '[1]' '[1]' '[1024]' ', "objective": "speed"'
expect 2 'objective: must be throughput' recommend input.json
workload '[1]' '[1]' '[1024]' ', "rollback": ["replays"]'
expect 2 'rollback: must be .*did you mean "replay"' recommend input.json
with_json '{"target": "llama-3-8b", "platforms": ["h100-sxm"], "drafters": [], "draft_tokens": 1, "traffic": {"batch": 1, "context": 1}}'
expect 0 'without a drafter generates' recommend input.json  # a planner of plain decoding
# A candidate that cannot serve the target is excluded with its reason, not an error; so is one that breaks a limit.
with_json '{"target": "llama-3-8b", "platforms": ["h100-sxm"], "drafters": [{"kind": "model", "model": "pythia-70m", "acceptance": {"geometric": 0.5}}],
            "draft_tokens": [1, 2], "traffic": {"batch": [1], "context": [1024]}}'
expect 0 'Excluded: pythia-70m .*vocabulary' recommend input.json
with_json '{"target": "llama-3-70b", "platforms": ["rtx-4090"], "drafters": [{"kind": "ngram", "acceptance": {"geometric": 0.5}}],
            "draft_tokens": [1, 2], "traffic": {"batch": [1], "context": [1024]}}'
expect 0 'No configuration for llama-3-70b fits in memory and meets the limits' recommend input.json
expect 0 'No configuration' report input.json --output none.html

# Sweeps
sweep() {
    with_json "{\"axes\": {\"target\": \"llama-3-8b\", \"device\": [\"h100-sxm\", \"a10g\"], \"drafter\": [{\"kind\": \"ngram\", \"acceptance\": {\"geometric\": 0.5}}],
               \"draft_tokens\": [1, 2], \"batch\": [1], \"context\": [1024] $1}, \"conditions\": $2}"
}
sweep '' '[{"require": "batch * draft_token < 4"}]'
expect 2 'draft_token' sweep input.json
sweep '' '[{"require": "batch * ("}]'
expect 2 'input.json: ' sweep input.json
sweep '' '[{"when": {"device": "a100"}, "require": "batch < 4"}]'
expect 2 'conditions\[0\].when.device: "a100" is not on that axis' sweep input.json
sweep ', "contxt": [1]' '["batch < 4"]'
expect 2 'axes.contxt: unknown key; did you mean "context"' sweep input.json
sweep ', "tensor_parallel": [1, 2], "platform": ["h100-sxm"]' '["batch < 4"]'
expect 2 'already given by "platform"' sweep input.json
sweep '' '["batch < 4"]'
expect 0 'Points +4' sweep input.json
sweep '' '[{"when": {"device": "a10g"}, "require": "draft_tokens = 1"}]'
expect 2 'input.json: ' sweep input.json
sweep '' '[{"when": {"device": "a10g"}, "require": "draft_tokens == 1"}]'
expect 0 'Left out +1 .by conditions, or' sweep input.json

# Loads of a steady state
steady() { expect "$1" "$2" estimate --model llama-3-8b --device h100-sxm --stack vllm "${@:3}"; }
steady 0 '"queued": [1-9]' --concurrency 5000 --prompt 2000 --output-tokens 500 --format json
steady 0 '500 requests/s are more than can be served' --arrival-rate 500 --prompt 2000 --output-tokens 500 --format json
steady 2 'concurrency: needs "output_tokens" above 0' --concurrency 8
steady 2 'concurrency: needs "output_tokens" above 0' --concurrency 8 --prompt 100 --output-tokens 0
steady 2 'tokens: is 0, but must lie between 1' --batch 8 --prompt 100 --output-tokens 0:0.5,10:0.5
steady 2 'spread: is missing' --batch 8 --prompt 100 --output-tokens '{"mean": 100}'
steady 2 'give all values a share' --batch 8 --prompt 100 --output-tokens 10:0.5,20
steady 2 'more than one of "batch", "concurrency" and "arrival_rate"' --batch 8 --concurrency 8 --prompt 100 --output-tokens 10
steady 2 'prefill: must be mixed, alternating or disaggregated, not "mixt"' --prefill mixt
steady 2 'a round of 64 sequences with 4 tokens each exceeds the token budget of 128 for a step' --batch 64 --token-budget 128 \
  --drafter eagle --acceptance 0.7 --draft-tokens 3
steady 2 'one sequence of a round has 4 tokens, more than the token budget of 3 for a step' --token-budget 3 --drafter eagle \
  --acceptance 0.7 --draft-tokens 3
steady 0 '"queued": 68' --format json --concurrency 100 --token-budget 128 --prompt 100 \
  --output-tokens 50 --drafter eagle --acceptance 0.7 --draft-tokens 3
expect 2 'caches travel between devices, and .* states no link' estimate --model llama-3-8b --device generic-x86 \
  --prefill disaggregated --concurrency 2 --prompt 100 --output-tokens 50

chat="--prompt 500 --output-tokens 200"
recommend() { expect "$1" "$2" recommend --target llama-3-8b --device h100-sxm --stack vllm --drafter eagle --acceptance 0.7 "${@:3}"; }
recommend 2 'concurrency: needs "output_tokens" above 0' --concurrency 8
recommend 2 'objective: is throughput, which is the same for all under an arrival rate' --arrival-rate 2 $chat --objective throughput
recommend 0 '"requests_per_s_asked": 900' --arrival-rate 900 $chat --format json
recommend 0 '"queued": [1-9]' --concurrency 4000 $chat --format json
expect 2 'sets more than one of "batch", "concurrency" and "arrival_rate"' recommend \
  "$SOURCE/examples/llama-3.1-8b-h100-concurrency.json" --batch 4 --concurrency 8
expect 0 'Requests in service' recommend --explain loads "$SOURCE/examples/llama-3.1-8b-h100-concurrency.json"
sweep ', "concurrency": [4]' '["batch < 4"]'
expect 2 'more than one of "batch", "concurrency" and "arrival_rate"' sweep input.json
with_json '{"axes": {"target": "llama-3-8b", "device": "h100-sxm", "stack": "vllm", "drafter": [{"kind": "eagle", "acceptance": {"geometric": 0.7}}],
            "draft_tokens": [0, 3], "concurrency": [8, 10000]}, "prompt_tokens": 500, "output_tokens": 200}'
expect 0 'Points +4' sweep input.json
with_json '{"axes": {"target": "llama-3-8b", "device": "h100-sxm", "stack": "vllm", "drafter": [{"kind": "eagle", "acceptance": {"geometric": 0.7}}],
            "draft_tokens": [0, 3], "arrival_rate": [0.5, 900]}, "prompt_tokens": 500}'
expect 2 'arrival_rate: needs "output_tokens" above 0' sweep input.json

# A sentence says what is wrong, and no more.
expect 2 'did you mean "qwen3-8b".*\? `treeline models` lists all' recommend --target qwen3-8c --device l40s --drafter eagle --acceptance 0.7
[ "$(wc -c <err.txt)" -lt 300 ] || fail "a misspelt model prints $(wc -c <err.txt) bytes"
expect 2 '`treeline models` lists all' models xyzzy
expect 2 '`treeline hardware` lists all' estimate --model qwen3-8b --device xyzzy
expect 2 '`treeline models --drafters` lists all' estimate --model qwen3-8b --device l40s --drafter eagle3-xyz
expect 2 'more than one of "batch"' recommend --target qwen3-8b --device l40s --drafter eagle --acceptance 0.7 --batch 4 --concurrency 4
! grep -q 'FILE' err.txt || fail "a load that is stated twice has nothing to do with FILE"

# A file of another kind says what it is and which command takes it.
other() { expect 2 "$1" "${@:2}"; [ "$(wc -l <err.txt)" -eq 1 ] || fail "treeline ${*:2}: $(wc -l <err.txt) sentences about a file of another kind"; }
examples="$SOURCE/examples"
other 'holds a sweep, not a workload: `treeline sweep .*spire-study.json`' recommend "$examples/spire-study.json"
other 'holds a sweep, not a workload' report "$examples/spire-study.json" --output page.html
other 'holds a sweep, not a workload' plan "$examples/spire-study.json"
other 'holds a sweep, not a design point' estimate "$examples/spire-study.json"
other 'holds a workload, not a sweep: `treeline recommend ' sweep "$examples/starter.json"
other 'holds a workload, not a design point' estimate "$examples/starter.json"
other 'holds a design point, not a workload: `treeline estimate ' recommend "$examples/estimate-spire.json"
other 'holds a design point, not a sweep' sweep "$examples/estimate-spire.json"
other 'holds a search of accelerator designs, not a run of an accelerator' estimate "$examples/fpga/explore-vck190.json"
other 'holds a run of an accelerator, not a search of accelerator designs' sweep "$examples/fpga/specmamba-vck190.json"
other 'holds a workload, not a study of choosing tree shapes' study bandit "$examples/starter.json"
other 'holds a study of traffic, not a study of policies' study policies "$examples/traffic/measured-table.json"
other 'holds a study of policies, not a study of traffic' study traffic "$examples/policies/measured-dfly-hy3-h20.json"
other 'holds a workload, not a comparison of a tree with a chain' study break-even "$examples/starter.json"
other 'holds a workload, not claims about an accelerator' study claims "$examples/starter.json"
other 'holds a workload, not a study of verification methods' study acceptance "$examples/starter.json"
other 'holds a workload, not a run of the real decoder' decode "$examples/starter.json"
other 'holds a workload, not a design point' tree search "$examples/starter.json"
other 'holds a workload, not a model.s description' models "$examples/starter.json"
other 'holds a workload, not a device.s description' hardware "$examples/starter.json"
other '--model: .*holds a workload, not a model.s description' estimate --model "$examples/starter.json" --device l40s
other '--device: .*holds a model.s description, not a device.s description: --target ' estimate --model qwen3-8b --device "$SOURCE/models/qwen3-8b.json"
other '--stack: .*holds a device.s description, not a software stack' estimate --model qwen3-8b --device l40s --stack "$SOURCE/hardware/gpu/l40s.json"
other '--drafter: .*holds a model.s description, not a published drafter' estimate --model qwen3-8b --device l40s --drafter "{\"published\": \"$SOURCE/models/qwen3-0.6b.json\"}"
"$TREELINE" estimate --model qwen3-8b --device l40s --format json --output answer.json || fail "estimate --format json"
other 'holds an answer of Treeline, not a workload' recommend answer.json

# A word for quantised weights leaves a cache alone that the model states in fewer bits.
expect 0 'weights fp8, embeddings bf16, activations bf16, recurrent state' estimate --explain inputs --model deepseek-v4-flash --precision fp8 --device h200 --tensor-parallel 8

# How fast a format is read is no habit of an engine that runs a model in another one.
for weights in bf16 fp4; do
    "$TREELINE" estimate --model qwen3-8b --device h100-sxm --stack vllm-0.26 --precision $weights --explain engine >$weights.txt
done
checks=$((checks + 1))
grep -q fp4_read_speed fp4.txt && ! grep -q fp4_read_speed bf16.txt || fail "fp4_read_speed: $(grep fp4_read_speed bf16.txt fp4.txt)"

# Platforms that differ in prefill or token budget alone are told apart.
expect 0 'disaggregated prefill.*mixed prefill|mixed prefill.*disaggregated prefill' recommend --explain candidates,inputs --target qwen3-8b --device h100-sxm --stack vllm \
  --drafter none --concurrency 16 --prompt 1000 --output-tokens 200 --prefill mixed,disaggregated
expect 0 '2048 tokens a step.*8192 tokens a step|8192 tokens a step.*2048 tokens a step' recommend --explain candidates,inputs --target qwen3-8b --device h100-sxm --stack vllm \
  --drafter none --concurrency 16 --prompt 1000 --output-tokens 200 --token-budget 2048,8192
expect 0 'h100-sxm, vllm-[0-9.]*, 0.[89] of the memory' recommend --explain candidates,inputs --target qwen3-8b --device h100-sxm --stack vllm \
  --drafter none --concurrency 16 --prompt 1000 --output-tokens 200 --memory-utilisation 0.8,0.9

# A slower host is dearer where passes of a draft model are launched layer by layer.
host="estimate --target llama-3.1-8b --drafter llama-3.2-1b --acceptance 0.7 --device h100-sxm --stack vllm-0.19"
expect 0 'at only 0.3[0-9]x' $host --host-speed 0.3
expect 0 'at only 0.9[0-9]x' $host --host-speed 1
expect 2 '--host-speed: is 100, but must lie between 0.05 and 20' $host --host-speed 100

# What an accelerator's run does not know is not ignored.
expect 2 '--prompt: is not of a run of an accelerator' estimate --model mamba2-2.7b --design specmamba-vck190 --prompt 1000
expect 2 '--batch: is not of a run of an accelerator' estimate "$examples/fpga/specmamba-vck190.json" --batch 4
expect 2 '--prompt and --output-tokens: --cycles' estimate --model mamba2-2.7b --device specmamba-vhk158 --cycles --prompt 1000
expect 0 'TTFT' estimate --model mamba2-2.7b --device specmamba-vhk158 --prompt 1000
# Files that others wrote: small ones that unfold to gigabytes, ones that nest without end, and names that are commands for a
# terminal. (All of them brought a command down once.)
levels() { head -c "$1" /dev/zero | tr '\0' "$2"; }
printf '{"format":"treeline-run","version":1,"cells":%s' "$(levels 40000 '[')" >deep-run.json
printf '{"benchmarks":%s%s}' "$(levels 40000 '[')" "$(levels 40000 ']')" >deep-benchmark.json
for command in import diagnose 'study acceptance'; do
    expect 2 'deep-run.json: nests deeper than 64 levels' $command deep-run.json
done
expect 2 'deep-run.json: nests deeper than 64 levels' calibrate --runs deep-run.json --model qwen3-8b --device h100-sxm --stack vllm
expect 2 'deep-benchmark.json: nests deeper than 64 levels' calibrate --from deep-benchmark.json --device h100-sxm
with_json '{"benchmarks": [{"name": [1], "real_time": 1}]}'
expect 2 'has an entry of a type that neither nvbench nor Google Benchmark writes *$' calibrate --from input.json --device h100-sxm
expect 2 'acceptance' estimate --model llama-3-8b --device h100-sxm --drafter eagle --acceptance "$(levels 40000 '[')"
{
    echo 'a: &a [x,x,x,x,x,x,x,x,x]'
    before=a
    for name in b c d e f g h i j; do
        echo "$name: &$name [*$before,*$before,*$before,*$before,*$before,*$before,*$before,*$before,*$before]"
        before=$name
    done
    echo 'speculative_config: *j'
} >bomb.yaml
checks=$((checks + 1))
(ulimit -v 1000000 && [ "${TREELINE##*/build-dev/}" = "$TREELINE" ] && exec "$TREELINE" lint bomb.yaml --engine tensorrt-llm) >out.txt 2>err.txt
[ $? -le 2 ] || fail "a bomb of aliases: $(cat err.txt)"
expect 2 'unfolds to more than 100000 values' lint bomb.yaml --engine tensorrt-llm
# Few values, whose texts are long: 300 * 300 times 50 bytes.
{
    printf 'a: &a "%s"\n' "$(levels 50 x)"
    printf 'b: &b [%s]\n' "$(for _ in $(seq 299); do printf '*a, '; done)*a"
    printf 'speculative_config: [%s]\n' "$(for _ in $(seq 299); do printf '*b, '; done)*b"
} >texts.yaml
expect 2 'unfolds to texts of more than 4 MiB' lint texts.yaml --engine vllm
expect 2 'texts.yaml' recommend --target qwen3-8b --device h100-sxm --drafter eagle --acceptance texts.yaml
# Readers take time in proportion to what they read: 2 s of processor for most of a megabyte of short lines each, which took
# from ten seconds to a minute. (Twenty times that under sanitizers.)
if [ "${TREELINE##*/build-dev/}" = "$TREELINE" ]; then
    for i in $(seq 60000); do echo "k$i: $i"; done >flat.yaml
    for i in $(seq 60000); do echo "- &a$i $i"; done >anchors.yaml
    for i in $(seq 20000); do echo "$i,abc,$((3 * i)),x"; done >rows.csv
    { for i in $(seq 40000); do echo "export A$i=1"; done; echo 'vllm serve m --speculative-config {}'; } >exports.sh
    { for i in $(seq 15000); do printf -- '- image: vllm/vllm-openai\n  args: --spec%s\n' $i; done; } >containers.yaml
    for i in $(seq 40000); do echo "k$i = 1"; done >flat.toml
    for command in 'lint --engine vllm flat.yaml' 'lint --engine tensorrt-llm flat.yaml' 'lint --engine vllm flat.toml' \
        'lint --engine vllm exports.sh' 'lint --engine vllm containers.yaml' 'import rows.csv' \
        'recommend --target qwen3-8b --device h100-sxm --drafter eagle --acceptance anchors.yaml'; do
        checks=$((checks + 1))
        (ulimit -t 6 && exec "$TREELINE" $command) >out.txt 2>err.txt
        [ $? -le 2 ] || fail "$command takes more than 6 s of processor time"
    done
fi
printf 'm:\n  1: 1.8\nx: %s%s\n' "$(levels 300 '[')" "$(levels 300 ']')" >deep.yaml
expect 2 'nests deeper than 64 levels' lint deep.yaml --engine tensorrt-llm

with_json '{"format":"treeline-run","version":1,"title":"\u001b[31mT","engine":"vllm","model":"\u001b]0;x\u0007m\u009b1m\u202e","cells":[{"batch":1,"draft_tokens":0,"context":100,"tokens_per_s":{"mean":46.1}}]}'
expect 0 'model +.x1b\]0;x.x07m.x9b1m.u202e' import input.json
with_json '{"title": "\u001b[31mRED\u0007", "target": "llama-3.1-8b", "platforms": [{"device": "h100-sxm"}], "drafters": [{"kind": "ngram", "name": "\u001b[2J@x", "acceptance": {"geometric": 0.5}}], "draft_tokens": [2], "traffic": {"batch": [1], "context": 2048}}'
expect 0 '.x1b.2J@x' recommend input.json
expect 2 '.x1b.2J' recommend $'\e[2J.json'
checks=$((checks + 1))
! grep -q $'\e' out.txt err.txt || fail "a control character reaches the terminal"
for command in "sweep $SOURCE/examples/spire-study.json --top 1 --by tokens_per_s_user" "recommend $SOURCE/examples/starter.json"; do
    checks=$((checks + 1))
    "$TREELINE" $command --store $'kept\e[31m.db' >out.txt 2>err.txt || fail "$command: $(cat err.txt)"
    grep -q 'kept.x1b.31m.db' err.txt && ! grep -q $'\e' out.txt err.txt || fail "a store's name reaches the terminal: $(cat err.txt)"
done

# In JSON, on a terminal or not, they are escapes, with which the value is the same.
printf '{"method": "\xc2\x9b31m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f", "num_speculative_tokens": 3}' >input.json
for form in json sarif; do
    checks=$((checks + 1))
    "$TREELINE" lint input.json --engine vllm --format $form >out.txt 2>err.txt
    [ $? -eq 1 ] && grep -qF '\u009b31m\u202e\u2066\u200f' out.txt && ! grep -qP '\xc2\x9b|\xe2\x80\xae' out.txt ||
        fail "a control character in $form: $(cat out.txt err.txt)"
done

# Bytes that are not text.
printf 'id,backend,backend_version,model,system,precision,isl,osl,batch_size,tp,tpot_ms\n\xff1,trtllm,1.3.0rc1,Qwen/Qwen3-32B,gb200,bf16,2000,500,1,2,8.07\n' >bytes.csv
expect 0 '"measured_rows"' validate --serving bytes.csv --no-papers --format json

# One bad row: the others are shown, and the exit code says that something was left out.
printf 'id,backend,model,system,precision,isl,osl,batch_size,tp,tpot_ms\na,vllm,Qwen/Qwen3-32B,h100_sxm,bf16,2000,500,1,2,14.2\nb,vllm,Qwen/Qwen3-32B,h100_sxm,bf16,2000,500,0,2,14.2\n' >one-bad.csv
checks=$((checks + 1))
"$TREELINE" validate --serving one-bad.csv --no-papers >out.txt 2>err.txt
[ $? -eq 2 ] && grep -q '1 of 1 runs without speculation are predicted' out.txt && grep -q 'row 2 (line 3): batch_size' err.txt ||
    fail "one bad row: $(cat out.txt err.txt)"
# What is one family of each kind makes no interval; a row that no stack can run says why; a time in seconds is a slip of the unit.
one_row() {
    printf 'id,backend,backend_version,model,system,precision,isl,osl,batch_size,tp,tpot_ms\na,vllm,0.12.0,llama-3.1-8b,h100-sxm,bf16,1000,200,%s\n' "$1" >one-row.csv
}
one_row 8,1,7.4
expect 0 'is not determined by deployment, model, device, engine: there are no others' validate --serving one-row.csv --no-papers
expect 0 '"covered": null, +"by_batch": \[\], +"width": null' validate --serving one-row.csv --no-papers --format json
one_row 8,3,7.4
expect 0 'one-row.csv: row 1: cannot be priced: [a-z]' validate --serving one-row.csv --no-papers
one_row 8,1,0.0074
checks=$((checks + 1))
"$TREELINE" validate --serving one-row.csv --no-papers >out.txt 2>err.txt
[ $? -eq 2 ] && grep -q 'row 1: faster than the device multiplies: check the unit of tpot_ms, the batch and the model; this row is left out' err.txt ||
    fail "tpot_ms in seconds: $(cat out.txt err.txt)"
mkdir -p no-experiments
checks=$((checks + 1))
"$TREELINE" validate --experiments no-experiments >out.txt 2>err.txt
[ $? -eq 2 ] && grep -q 'no-experiments: holds no experiments' err.txt || fail "an empty folder is silence: $(cat err.txt)"
for devices in 2.5 1e9; do
    printf '[{"id":"a","series":"s","engine":"sglang","target_model":"Qwen3-8B","drafter_type":"eagle3","gpu":"H200","metric":"tok_s_per_user","is_pair":true,"speedup":1.5,"draft_tokens":3,"batch_or_concurrency":1,"n_gpus":1},{"id":"b","series":"s","engine":"sglang","target_model":"Qwen3-8B","drafter_type":"eagle3","gpu":"H200","metric":"tok_s_per_user","is_pair":true,"speedup":1.5,"draft_tokens":3,"batch_or_concurrency":1,"n_gpus":%s}]' $devices >devices.json
    checks=$((checks + 1))
    "$TREELINE" validate --speculation devices.json --no-papers >out.txt 2>err.txt
    [ $? -eq 2 ] && grep -q 'row 2: n_gpus: .*this row is left out' err.txt || fail "n_gpus $devices: $(cat err.txt)"
done
sed 's/"n_gpus":1e9/"n_gpus":0/' devices.json >host.json
expect 0 'n_gpus is 0 beside a device that is no processor' validate --speculation host.json --no-papers
printf 'batch,draft_tokens,accept_length,tpot_ms\n1,0,,8\n8,0,,x\n8,0,,9\n64,0,,14\n' >one-bad.csv
checks=$((checks + 1))
"$TREELINE" calibrate --serving one-bad.csv --model qwen3-8b --device h100-sxm --stack vllm >out.txt 2>err.txt
[ $? -eq 2 ] && [ -s out.txt ] && grep -q 'one-bad.csv: line 3: tpot_ms must be a bare number, not "x" (units belong in the header); this row is left out' err.txt ||
    fail "one bad row of serving: $(cat out.txt err.txt)"
printf 'tokens,time_ms\n1,10\n2,11\n4,x\n8,12\n16,13\n' >one-bad.csv
checks=$((checks + 1))
"$TREELINE" study fit one-bad.csv >out.txt 2>err.txt
[ $? -eq 2 ] && [ -s out.txt ] && grep -q 'line 4: time_ms must be a number, not "x"; this row is left out' err.txt || fail "one bad row of times: $(cat out.txt err.txt)"
printf '[{"tokens":1,"time_ms":10},{"tokens":2,"time_ms":11},{"tokens":4},{"tokens":8,"time_ms":12}]' >one-bad.json
checks=$((checks + 1))
"$TREELINE" study fit one-bad.json >out.txt 2>err.txt
[ $? -eq 2 ] && [ -s out.txt ] && grep -q 'rows\[2\]: needs one of time_s.*; this row is left out' err.txt || fail "one bad row of JSON: $(cat out.txt err.txt)"
# Thousands of bad rows are said in a page, and no sentence is a book.
{
    echo id,backend,model,system,precision,isl,osl,batch_size,tp,tpot_ms
    for i in $(seq 3000); do echo "$i,vllm,m,h100_sxm,bf16,2000,500,0,2,14.2"; done
} >bad-rows.csv
expect 2 'there are 2950 more such problems' validate --serving bad-rows.csv --no-papers
[ "$(wc -l <err.txt)" -eq 51 ] || fail "$(wc -l <err.txt) lines of errors"
printf '{"target": "%s"}' "$(levels 300000 x)" >input.json
expect 2 'target' recommend input.json
[ "$(wc -c <err.txt)" -lt 5000 ] || fail "$(wc -c <err.txt) bytes of errors"

# A law that leaves its measurements downwards does not predict a negative time.
printf 'tokens,time_ms\n1,10\n2,8\n4,5\n8,1\n' >falling.csv
expect 2 'at 1000 tokens the linear law gives -1.15' study fit falling.csv --law linear --at 1000
expect 0 '1000 +6.00 ms +0 s to 12.2 ms +0 s to 19.9 ms' study fit falling.csv --law constant --at 1000

# Nor does one that falls below zero between its measurements, and no interval of a time does.
printf 'tokens,time_ms\n2,5.41\n16,1.21\n64,13.21\n128,32.41\n256,70.81\n' >dip.csv
expect 0 '[0-9]' study fit dip.csv --format csv
cut -d, -f4,5,7 out.txt | grep -q -- - && fail "a time below zero: $(cat out.txt)"
expect 2 'a linear law fitted to these times gives -.* ms at 2 tokens, within the measurements' study fit dip.csv --law linear
expect 0 'a0 +24.6 ms +12.7 ms +0 s to' study fit dip.csv --law constant

# A model that no kernel can run is refused where it is read; one that does not fit is refused before it is made.
decodes() {
    printf '{"target": %s, "drafter": {"kind": "first-layers", "layers": 1}, "shape": "chain:1", "rollback": "truncate", "acceptance": {"greedy": true}, "tokens": 4}' "$1" >input.json
}
decodes '{"name": "m", "source": "s", "kind": "assumed", "vocabulary": "none", "vocabulary_size": 100, "width": 64, "tied_embeddings": false, "norm": "rms", "layers": {"decoder": {"blocks": [{"mixture_of_experts": {"experts": 4, "active": 2, "hidden": 64, "shared_gate": true}}]}}, "order": [{"repeat": 2, "layers": ["decoder"]}]}'
expect 2 'shared_gate scales a shared expert' decode input.json
decodes '"llama-3.1-405b"'
expect 2 'weights and caches take at least [0-9.]+ GB, but the device has [0-9.]+ GB free' decode input.json

# Little memory: a sentence, or an answer.
if [ "${TREELINE##*/build-dev/}" = "$TREELINE" ]; then
    for kilobytes in 65536 100000 200000 320000; do
        checks=$((checks + 1))
        (ulimit -v $kilobytes && timeout 20 "$TREELINE" --version) >out.txt 2>err.txt || fail "--version in $kilobytes kB: $(cat err.txt)"
        (ulimit -v $kilobytes && timeout 20 "$TREELINE" recommend "$SOURCE/examples/starter.json") >out.txt 2>err.txt
        code=$?
        [ $code -eq 0 ] || { [ $code -eq 1 ] && grep -q '^treeline: ' err.txt; } || fail "recommend in $kilobytes kB: $code $(cat err.txt)"
    done
fi
# Flags that would change nothing, and errors that another one brings about.
point=(estimate --model llama-3.1-8b --device h100-sxm --stack vllm)
expect 2 '--drafters: lists the published drafters of all models; give it or llama-3.1-8b, not both' models --drafters llama-3.1-8b
expect 2 '^treeline: --temperature: .*there is no drafter *$' "${point[@]}" --temperature 0.7
expect 2 '^treeline: --categories: .*there is no drafter *$' "${point[@]}" --categories chat:1
expect 2 '--expert-pool: is of mixtures of experts, and llama-3.1-8b is none' "${point[@]}" --expert-pool 0.5
expect 0 'The acceptance is stated, and holds whatever categories is asked for' \
    "${point[@]/estimate/recommend}" --drafter eagle3 --acceptance 0.8 --categories chat:1
expect 2 '^treeline: [^ ]*: is 1000000000.0, but must lie between 0 and 100000000 *$' "${point[@]}" --concurrency 4 --output-tokens 1e9
expect 2 '^treeline: --concurrency: has no share above 0 *$' "${point[@]/estimate/recommend}" --drafter eagle3 --concurrency 8:0,16:0 --prompt 100 --output-tokens 100
drafts=("${point[@]}" --drafter eagle3)
expect 2 '--acceptance: curve: falls from 1.9 at 1 draft tokens' "${drafts[@]}" --acceptance '{"curve": {"1": 1.9, "2": 1.5}}'
expect 2 '--accept-length: rises from 1.6 at 1 draft tokens to 4.6 at 4' "${drafts[@]}" --accept-length 1:1.6,4:4.6 --draft-tokens 1
expect 0 '1.80 at 1 \(evened out to 1.83\), 3.50 at 3' "${drafts[@]}" --accept-length 1:1.8,3:3.5 --draft-tokens 1
expect 2 'curve.1: this key appears twice' "${drafts[@]}" --acceptance '{"curve": {"1": 1.8, "1": 1.9}}'

finish
