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
estimate '--acceptance: geometric: is 1.8, but must lie between 0 and 1' --drafter eagle --acceptance 1.8
estimate 'say the same thing; give one' --drafter eagle --acceptance 0.8 --accept-length 3
estimate 'at most 6' --drafter eagle --accept-length 9
estimate 'chain 9: the drafter reaches 4 tokens ahead, not 9' --drafter medusa --acceptance 0.8 --draft-tokens 9
estimate 'there is no drafter' --draft-tokens 3
estimate 'speaks the vocabulary .gpt-neox-20b., target llama-3-8b speaks .llama-3.' --drafter pythia-70m --acceptance 0.8
estimate 'window' --drafter sparse-self --acceptance 0.8
expect 2 'no interconnect named .nvlonk.' estimate --model llama-3-8b --device h100-sxm --tensor-parallel 8 --interconnect nvlonk
expect 2 'no interconnect' estimate --model llama-3-8b --device generic-x86 --tensor-parallel 2
expect 2 '--target: .*did you mean "llama-3-8b"' estimate --model llama-3-8c --device h100-sxm
expect 2 'cannot be opened' estimate --model ./no-such-model.json --device h100-sxm

# A model that does not fit is a result, and says by how much.
expect 0 'does not fit at batch 1 .* too much' estimate --model llama-3-70b --device rtx-4090

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
expect 0 'Left out by conditions +1' sweep input.json

# Loads of a steady state
steady() { expect "$1" "$2" estimate --model llama-3-8b --device h100-sxm --stack vllm "${@:3}"; }
steady 0 'in flight: memory holds no more, [0-9]+ wait' --concurrency 5000 --prompt 2000 --output-tokens 500
steady 2 '500 requests/s are more than can be served: at most about [0-9.]+/s, with the [0-9]+ requests that memory holds' \
  --arrival-rate 500 --prompt 2000 --output-tokens 500
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
steady 0 'Batch +32 of 100 requests in flight: a step holds no more, 68 wait' --concurrency 100 --token-budget 128 --prompt 100 \
  --output-tokens 50 --drafter eagle --acceptance 0.7 --draft-tokens 3
expect 2 'caches travel between devices, and .* states no link' estimate --model llama-3-8b --device generic-x86 \
  --prefill disaggregated --concurrency 2 --prompt 100 --output-tokens 50

chat="--prompt 500 --output-tokens 200"
recommend() { expect "$1" "$2" recommend --target llama-3-8b --device h100-sxm --stack vllm --drafter eagle --acceptance 0.7 "${@:3}"; }
recommend 2 'concurrency: needs "output_tokens" above 0' --concurrency 8
recommend 2 'objective: is throughput, which is the same for all under an arrival rate' --arrival-rate 2 $chat --objective throughput
recommend 0 'No configuration .*cannot serve the load: 900 requests/s are more than can be served' --arrival-rate 900 $chat
recommend 0 'Requests waiting +[1-9]' --concurrency 4000 $chat
expect 2 'sets more than one of "batch", "concurrency" and "arrival_rate"' recommend \
  "$SOURCE/examples/llama-3.1-8b-h100-concurrency.json" --batch 4 --concurrency 8
expect 0 'Requests in service' recommend "$SOURCE/examples/llama-3.1-8b-h100-concurrency.json"
sweep ', "concurrency": [4]' '["batch < 4"]'
expect 2 'more than one of "batch", "concurrency" and "arrival_rate"' sweep input.json
with_json '{"axes": {"target": "llama-3-8b", "device": "h100-sxm", "stack": "vllm", "drafter": [{"kind": "eagle", "acceptance": {"geometric": 0.7}}],
            "draft_tokens": [0, 3], "concurrency": [8, 10000]}, "prompt_tokens": 500, "output_tokens": 200}'
expect 0 'Points +4' sweep input.json
with_json '{"axes": {"target": "llama-3-8b", "device": "h100-sxm", "stack": "vllm", "drafter": [{"kind": "eagle", "acceptance": {"geometric": 0.7}}],
            "draft_tokens": [0, 3], "arrival_rate": [0.5, 900]}, "prompt_tokens": 500}'
expect 2 'arrival_rate: needs "output_tokens" above 0' sweep input.json

# A sentence says what is wrong, and no more.
expect 2 'did you mean "qwen3-8b"( or|,) .*[?] `treeline models` lists all' recommend --target qwen3-8c --device l40s --drafter eagle --acceptance 0.7
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
other '--target: .*holds a workload, not a model.s description' estimate --model "$examples/starter.json" --device l40s
other '--device: .*holds a model.s description, not a device.s description: --target ' estimate --model qwen3-8b --device "$SOURCE/models/qwen3-8b.json"
other '--stack: .*holds a device.s description, not a software stack' estimate --model qwen3-8b --device l40s --stack "$SOURCE/hardware/gpu/l40s.json"
other '--drafter: .*holds a model.s description, not a published drafter' estimate --model qwen3-8b --device l40s --drafter "{\"published\": \"$SOURCE/models/qwen3-0.6b.json\"}"
"$TREELINE" estimate --model qwen3-8b --device l40s --format json --output answer.json || fail "estimate --format json"
other 'holds an answer of Treeline, not a workload' recommend answer.json

# A word for quantised weights leaves a cache alone that the model states in fewer bits.
expect 0 'Precision +weights fp8, embeddings bf16, activations bf16, recurrent' estimate --model deepseek-v4-flash --precision fp8 --device h200 --tensor-parallel 8

# Platforms that differ in prefill or token budget alone are told apart.
expect 0 'disaggregated prefill.*mixed prefill|mixed prefill.*disaggregated prefill' recommend --target qwen3-8b --device h100-sxm --stack vllm \
  --drafter none --concurrency 16 --prompt 1000 --output-tokens 200 --prefill mixed,disaggregated
expect 0 '2048 tokens a step.*8192 tokens a step|8192 tokens a step.*2048 tokens a step' recommend --target qwen3-8b --device h100-sxm --stack vllm \
  --drafter none --concurrency 16 --prompt 1000 --output-tokens 200 --token-budget 2048,8192

# What an accelerator's run does not know is not ignored.
expect 2 '--prompt: is not of a run of an accelerator' estimate --model mamba2-2.7b --design specmamba-vck190 --prompt 1000
expect 2 '--batch: is not of a run of an accelerator' estimate "$examples/fpga/specmamba-vck190.json" --batch 4
expect 2 '--prompt and --output-tokens: --cycles' estimate --model mamba2-2.7b --device specmamba-vhk158 --cycles --prompt 1000
expect 0 'Time to first token' estimate --model mamba2-2.7b --device specmamba-vhk158 --prompt 1000
finish
