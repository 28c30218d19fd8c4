# Questions of a newcomer, each one command line that README and --help suggest, and an answer in its first lines.
. "$(dirname "$0")/lib.sh"

# (a) Qwen3-32B on two A100 with vLLM and an EAGLE head, 8 to 40 users at 6k context: what was measured is recommended, no more.
a="--target qwen3-32b --device a100-sxm-80 --tensor-parallel 2 --stack vllm --drafter eagle3 --acceptance 0.8,0.65,0.5 \
   --batch 8:0.3,16:0.4,40:0.3 --context 6000"
expect 0 '[Rr]un qwen3-32b on 2x a100-sxm-80 with eagle3 drafting 3 tokens: [0-9.]+x the tokens/s .*"method":"eagle3".*num_speculative_tokens' recommend $a
expect 0 'ms per token' recommend $a --objective latency --max-tpot-ms 40 --minimum-gain 1.1
expect 0 'No configuration .* meets the limits.*Excluded: .* ms; ' recommend $a --max-tpot-ms 2

# (b) DeepSeek-R1 from its config.json (Hugging Face, deepseek-ai/DeepSeek-R1: the keys that its cost depends on) on eight H200 with MTP.
mkdir model
cat >model/config.json <<'JSON'
{"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168,
 "intermediate_size": 18432, "kv_lora_rank": 512, "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 8, "n_routed_experts": 256,
 "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128,
 "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "tie_word_embeddings": false,
 "topk_method": "noaux_tc", "torch_dtype": "bfloat16", "v_head_dim": 128, "vocab_size": 129280, "quantization_config": {"activation_scheme":
 "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]}}
JSON
expect 0 'Run [^ ]+ on 8x h200 with mtp drafting [12] tokens?: [0-9.]+x the tokens/s' \
    recommend --target model/config.json --device h200 --tensor-parallel 8 --stack sglang --drafter mtp --acceptance 0.85,0.6 --batch 1-64 --context 4096
expect 0 'Run deepseek-r1 on 8x h200' recommend --target deepseek-r1 --device h200 --tensor-parallel 8 --drafter mtp --acceptance 0.85

# (c) gpt-oss-20b on an L40S with n-gram.
expect 0 'Run gpt-oss-20b on l40s with (ngram|n-gram) drafting .*"method":"ngram"' \
    recommend --target gpt-oss-20b --device l40s --stack vllm --drafter ngram --accept-length 3:1.6 --batch 1,8,32 --context 4096

# (d) A hybrid on an H100: tree or chain, and which rollback.
expect 0 'Run qwen3.5-27b on h100-sxm with mtp .*Rollback +verification .*(packed|unrolled)' \
    recommend --explain candidates --target qwen3.5-27b --device h100-sxm --drafter mtp --acceptance '{"per_rank": [0.75, 0.1, 0.05]}' \
    --draft-tokens 1-4 --shape branching:2,2,1 --shape sglang:3,2,8 --batch 1,4

# (i) A tree on SGLang with what is published of the head alone: further than that was measured, which is said.
expect 0 'in the tree sglang 5,4,32: [12]\.[0-9]+x .*--speculative-num-steps 5 --speculative-eagle-topk 4.*\(extrapolated\)' \
    recommend --target qwen3-8b --device h100-sxm --engine sglang --drafter eagle3 --shape sglang:5,4,32 --batch 4

# (e) Mixtral on a CPU: its own stack, and a justified no where nothing gains.
expect 0 'Platform +generic-x86, cpu ' recommend --explain inputs --target mixtral-8x7b --device generic-x86 --drafter ngram --acceptance 0.3
expect 0 'Run mixtral-8x7b on generic-x86 without a drafter: [0-9.]+ tokens/s per device.*; the best that drafts, ngram with chain 1, reaches 0\.[0-9]+x' recommend --target mixtral-8x7b --device generic-x86 --drafter ngram --acceptance 0.3

# (h) A GPU that is not in the catalogue: the ten lines of hardware/README.md.
sed -n '/^## A device in ten lines/,/^## /{/^```json/,/^```/p}' "$SOURCE/hardware/README.md" | grep -v '^```' >my-gpu.json
expect 0 'Run llama-3.1-8b on [^ ]*my-gpu with eagle drafting' recommend --target llama-3.1-8b --device my-gpu.json --drafter eagle --acceptance 0.7,0.5,0.35
expect 2 '--device: there is no device "h100"; did you mean' recommend --target llama-3.1-8b --device h100 --drafter eagle --acceptance 0.7

# (i) Does a tree pay with SGLang at batch 4? Chains are tried beside it.
i="--target llama-3.1-8b --device h100-sxm --stack sglang --drafter eagle --draft-tokens 1-5"
expect 0 'Run .* in the tree sglang 5,4,32: .*truncate +unrolled ' recommend --explain candidates $i --acceptance '{"per_rank": [0.7, 0.12, 0.05]}' --shape sglang:5,4,32 --batch 4
expect 0 'siblings of trees as with +Sequoia.s demo' recommend --explain inputs $i --acceptance 0.7 --shape sglang:5,4,32 --batch 4
expect 0 'siblings of trees as with Sequoia' estimate --target llama-3.1-8b --device h100-sxm --stack sglang --drafter eagle --acceptance 0.7 --shape sglang:5,4,32 --batch 4

# (j) Two GPUs for the money.
expect 0 'Device .*\$/M tokens .*is the best device for price per token' \
    recommend --explain devices --target qwen3-8b --device h100-sxm,l40s --stack vllm --drafter eagle --acceptance 0.7,0.5,0.35 --batch 16 --objective cost

expect 0 'l40s .*\$0\.[0-9]+' recommend --explain devices --target qwen3-8b --device h100-sxm,l40s --price h100-sxm:2.5,l40s:0.9 --drafter none --batch 16 --objective cost
expect 2 '--price: no --device is called "l40"' recommend --target qwen3-8b --device h100-sxm,l40s --price l40:0.9 --drafter none --batch 16

# Nothing but a model, a device and a load: what the catalogue knows is tried, and said.
zero="--target qwen3-32b --device h100-sxm --concurrency 32 --prompt 2000 --output-tokens 500"
expect 0 'qwen3-32b on h100-sxm .*measured with qwen3-' recommend $zero
expect 0 'Note: no drafter is named, so 0 published for qwen3-32b and [0-9]+ measured with other models are tried.*Note: no engine is named.*cuda-graph' \
    recommend --explain inputs $zero
expect 0 'ngram-qwen3-8b \(measured with qwen3-8b\)' recommend --explain candidates $zero
expect 0 '"drafters": "known"' recommend $zero --print-input
expect 0 'qwen3-32b on h100-sxm without a drafter generates [0-9.]+ tokens/s per device.* per token; the first token comes after' recommend $zero --drafter none
expect 0 '8x h100-sxm' recommend --explain devices $zero --drafter none --gpus up-to-8
expect 0 'without a drafter' report $zero --drafter none --output plain.html
expect 0 'eagle3-qwen3-14b +qwen3-14b +7 .*ngram-qwen3-8b +qwen3-8b +3 +1\.44 ' models qwen3-32b
expect 0 'n-gram look-up for qwen3-8b: 1\.44 tokens per +round with 3 drafts' recommend $zero
# What a limit keeps out is named, the best that exists first, with what it would gain and the flag that lets it in.
expect 0 'Excluded: [a-z0-9.-]+ .measured with [^ ]+ on h100-sxm: with [0-9] drafts it +would +gain +[12]\.[0-9]+x, but holds .*--waiting +allows +5 %' recommend $zero
expect 0 'eagle3-gpt-oss-20b +gpt-oss-20b' models --drafters
expect 0 '"measured_with": "qwen3-14b"' models qwen3-32b --format json

# The tasks of an operator with the form that help shows first.
served="--concurrency 8:0.3,16:0.4,40:0.3 --prompt 5800 --output-tokens 400"
expect 0 'qwen3-32b on 2x a100-sxm-80' recommend --target qwen3-32b --device a100-sxm-80 --tensor-parallel 2 --stack vllm --drafter eagle3 $served
expect 0 'no acceptance of ngram is stated, so what was published counts' \
    recommend --explain inputs --target gpt-oss-20b --device l40s --stack vllm --drafter ngram --concurrency 16 --prompt 2000 --output-tokens 500
expect 0 'qwen3.5-27b on h100-sxm' recommend --target qwen3.5-27b --device h100-sxm --drafter mtp --shape branching:2,2,1 --concurrency 4 --prompt 4000 --output-tokens 500
expect 0 'with qwen3-0.6b drafting 4 tokens' estimate --target qwen3-8b --device rtx-4090 --stack llama.cpp --precision q4_k_m \
    --drafter qwen3-0.6b --draft-precision q8_0 --acceptance 0.7 --draft-tokens 4 --batch 1 --context 2000
expect 2 '--draft-precision needs a --drafter' estimate --target qwen3-8b --device rtx-4090 --draft-precision q8_0
expect 0 'Throughput|Tokens/s' estimate --target mamba2-2.7b --device specmamba-vhk158 --cycles

# One paper alone; neighbours left out of the best points.
expect 0 'STree' validate --paper stree
grep -q SPIRe out.txt && fail "validate --paper stree shows SPIRe"
expect 2 '--paper: there is no published "strea"; there are .*stree' validate --paper strea
expect 0 'The best 3 by' sweep "$SOURCE/examples/spire-study.json" --top 3 --by tokens_per_s_device --distinct drafter
[ "$("$TREELINE" sweep "$SOURCE/examples/spire-study.json" --top 3 --by tokens_per_s_device --distinct drafter --format csv | tail -n +2 | cut -d, -f10 | sort -u | wc -l)" -eq 3 ] ||
    fail "--distinct drafter lists a drafter twice"
expect 0 'neighbours of one another; --distinct device,drafter,shape' sweep "$SOURCE/examples/sweeps/million-points.json" --top 5 --by tokens_per_s_device
expect 0 'The best 5 by' sweep "$SOURCE/examples/sweeps/million-points.json" --top 5 --by tokens_per_s_device --distinct device,drafter,shape
grep -q neighbours out.txt && fail "the best of each configuration are called neighbours"
expect 2 '--distinct: a sweep has no axis "drafters"; did you mean "drafter"' sweep "$SOURCE/examples/spire-study.json" --distinct drafters

# Flags and the file that they mean are one workload.
"$TREELINE" recommend $a --print-input >printed.json || fail "--print-input"
"$TREELINE" recommend $a --format json >flags.json && "$TREELINE" recommend printed.json --format json >file.json || fail "recommend"
cmp -s flags.json file.json || fail "the file that --print-input writes gives another answer than its flags"
"$TREELINE" recommend printed.json --print-input | cmp -s - printed.json || fail "--print-input changes what it prints"
expect 0 '"stack": "sglang".*"batch": 4' recommend printed.json --stack sglang --batch 4 --print-input
expect 0 'Report: page.html' report $a --output page.html
"$TREELINE" report $a --output also.json --print-input || fail "report --print-input"
cmp -s also.json printed.json || fail "report --print-input prints another workload"

# A file may lie elsewhere: its paths are relative to it, those of flags to here.
mkdir -p elsewhere && cp my-gpu.json elsewhere/its-gpu.json
sed 's/"a100-sxm-80"/"its-gpu.json"/; s/, "tensor_parallel": 2//; s/qwen3-32b/llama-3.2-3b/; s/6000/1000/' printed.json >elsewhere/workload.json
expect 0 'on [^ ]*its-gpu with' recommend elsewhere/workload.json
expect 0 'on [^ ]*its-gpu with' recommend elsewhere/workload.json --batch 2
expect 0 'on [^ ]*my-gpu with' recommend elsewhere/workload.json --device my-gpu.json

# What flags leave open is said.
expect 2 'give a FILE .*--target and --device' recommend
expect 2 '--device: is missing' recommend --target qwen3-8b
expect 2 '--drafter: no eagle was published for qwen3-8b or its family, so state how many of its drafts are accepted' recommend --target qwen3-8b --device l40s --drafter eagle
expect 2 'the checkpoint of qwen3-32b has no module for multi-token prediction' recommend --target qwen3-32b --device h100-sxm --drafter mtp
expect 2 '--acceptance: is missing: state how many drafts of qwen3-1.7b are accepted' recommend --target qwen3-8b --device l40s --drafter qwen3-1.7b
expect 2 'model "lookahead" is not in the catalogue; .*nor is it a published drafter or a kind of drafter' recommend --target qwen3-8b --device l40s --drafter lookahead
# A draft model of which something was measured for this target is taken as measured, and said so.
expect 0 'No acceptance of it is stated, so what was measured of model-qwen3-0.6b-on-qwen3-8b counts' recommend --target qwen3-8b --device l40s --drafter qwen3-0.6b --explain all

# What people write elsewhere: the address of a model's page, thousands, rates in percent, other words for a flag.
expect 0 'Run qwen3-8b on l40s' recommend --target https://huggingface.co/Qwen/Qwen3-8B --device l40s
expect 0 'Run qwen3-8b on l40s' recommend --target huggingface.co/Qwen/Qwen3-8B/tree/main --device l40s
expect 0 'qwen3-8b' models https://huggingface.co/Qwen/Qwen3-8B
expect 2 '"5,800" would be a list of lengths; write 5800 without a comma' recommend --target qwen3-8b --device l40s --prompt 5,800 --output-tokens 300 --concurrency 4
expect 2 '"128,000" would be a list' recommend --target qwen3-8b --device l40s --prompt 128,000 --output-tokens 300 --concurrency 4
expect 0 'Run qwen3-8b' recommend --target qwen3-8b --device l40s --prompt 64,512 --output-tokens 300 --concurrency 4
expect 2 '--acceptance: rates are shares with commas between them: 0.8,0.6,0.5, not "0.8 0.6 0.5"' recommend --target qwen3-8b --device l40s --drafter eagle3 --acceptance '0.8 0.6 0.5'
expect 2 '--acceptance: rates are shares with commas between them: 0.8, not "80%"' recommend --target qwen3-8b --device l40s --drafter eagle3 --acceptance 80%
expect 2 '0.8,0.65, not "80%,65%"' recommend --target qwen3-8b --device l40s --drafter eagle3 --acceptance 80%,65%
expect 2 'unknown flag "--goal".*--objective' recommend --target qwen3-8b --device l40s --goal cost
expect 2 '--objective: is cost, but the description of mi50 does not state a price: .*--price' recommend --target qwen3-8b --device mi50 --objective cost
expect 2 '"eagle3-llama-3.1-8b" is a drafter, not a model: .*models --drafters' models eagle3-llama-3.1-8b
expect 0 'the shares of concurrency sum to 0.700, not 1' recommend --target qwen3-8b --device l40s --concurrency 8:0.3,16:0.4 --prompt 1000 --output-tokens 300 --explain all
expect 0 'at least 100 draft tokens are asked for, and none of the drafters was measured with more' recommend --target qwen3-8b --device l40s --draft-tokens 100 --explain all
# A device on which nothing runs is named, on the first screen and among the devices.
expect 0 'l40s is left out: .*GB of memory' recommend --target qwen3-32b --device h100-sxm,l40s
expect 0 'l40s is left out: .*GB of memory' recommend --target qwen3-32b --device h100-sxm,l40s --explain devices
expect 0 'on 16 devices \(--gpus 16\)' recommend --target deepseek-r1 --device h100-sxm --gpus 8
expect 0 'Run qwen3-32b .*No such head is known for qwen3-32b: one would have to be trained' recommend --target qwen3-32b --device h100-sxm --drafter eagle3
# Modules that were not measured accept as those of the nearest model of the family.
expect 0 'mtp-deepseek-r1 \(measured with deepseek-r1\)' recommend --target deepseek-v3.1 --device h200 --gpus 8 --drafter mtp
expect 2 '--drafter none: means that nothing drafts' recommend --target qwen3-8b --device l40s --drafter none --drafter ngram
expect 2 '--drafter none: takes no acceptance' recommend --target qwen3-8b --device l40s --drafter none --acceptance 0.5
expect 2 'accept-length: say for how many draft tokens' recommend --target qwen3-8b --device l40s --drafter eagle --accept-length 2.5
expect 2 '--batch: give all values a share' recommend --target qwen3-8b --device l40s --drafter ngram --acceptance 0.3 --batch 8:0.3,16
expect 2 'belong to the preceding --drafter' recommend "$SOURCE/examples/starter.json" --acceptance 0.5
expect 0 'with ngram' recommend "$SOURCE/examples/starter.json" --drafter ngram --acceptance 0.6
finish
