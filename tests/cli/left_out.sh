# What a recommendation leaves out and why, and that two ways of asking give one answer.
. "$(dirname "$0")/lib.sh"

# A drafter that takes seats is excluded only where users wait longer for their first token.
expect 0 'Run llama-3\.1-8b on h100-sxm with (dflash|eagle3)-.*plain +[0-9]+ +[0-9.]+ ms +(2\.9|3\.0). s.*recommended +[0-9]+ +[0-9.]+ ms +[12]\.[0-9]+ s' recommend \
    --target llama-3.1-8b --device h100-sxm --engine sglang --concurrency 16 --prompt 30000 --output-tokens 500 --prefix-hit 0.95
expect 0 'Run llama-3\.3-70b on 2x h100-sxm with eagle3-' recommend --target llama-3.3-70b --device h100-sxm --tensor-parallel 2 \
    --stack vllm --concurrency 16 --prompt 2000 --output-tokens 500

# A drafter accepts the same, whoever names it.
on_5090="--target qwen3.8-27b --precision q4_k_m --device rtx-5090 --engine llama.cpp --batch 1 --context 8000"
expect 0 '^Run' recommend $on_5090
unnamed=$(grep -o '^Run.*' out.txt)
expect 0 '^Run' recommend $on_5090 --drafter dflash-qwen3.8-27b --drafter mtp-qwen3.8-27b
[ "$(grep -o '^Run.*' out.txt)" = "$unnamed" ] || fail "$(head -1 out.txt) instead of $unnamed"
for drafter in dflash-qwen3.8-27b mtp-qwen3.8-27b; do
    expect 0 'drafting [0-9]+ tokens: [0-9.]+x' recommend $on_5090 --drafter $drafter
    alone=$(tr '\n' ' ' <out.txt | grep -oE 'drafting +[0-9]+ tokens: +[0-9.]+x')
    expect 0 " ${alone##* } +the +speed" estimate $on_5090 --drafter $drafter --draft-tokens "$(grep -oE '[0-9]+' <<<"$alone" | head -1)"
done

# Prompts that cannot be are refused by whoever is asked.
served="--target llama-3.1-8b --device h100-sxm --stack vllm --concurrency 16 --output-tokens 100"
for lengths in "--prompt 200 --shared-prefix 5000" "--prompt 200 --prefix-hit 1" "--prompt 3000:0.5,200:0.5 --shared-prefix 1000"; do
    expect 2 'is longer than|below 1' estimate $served $lengths
    said=$(grep -o '[a-z_]*_prefix .*\|prefix_hit must.*' err.txt)
    for drafter in "--drafter none" "" "--drafter eagle3"; do
        expect 2 'is longer than|below 1' recommend $served $lengths $drafter
        [ "$(grep -o '[a-z_]*_prefix .*\|prefix_hit must.*' err.txt)" = "$said" ] || fail "recommend and estimate refuse differently: $(cat err.txt)"
    done
done

# A checkpoint that an engine does not load, as published or by name; of several engines it is left out.
huge="--target deepseek-r1 --device h200 --gpus 8 --concurrency 4 --prompt 3000 --output-tokens 1000"
expect 2 'fp8.*not a type of GGUF.*q4_k_m' recommend $huge --engine llama.cpp
expect 2 'fp8.*not a type of GGUF.*q4_k_m' recommend $huge --engine llama.cpp --precision fp8-block
expect 2 'fp8.*not a type of GGUF' estimate --target deepseek-r1 --device h200 --tensor-parallel 8 --engine llama.cpp --batch 1
expect 0 'llama\.cpp.*not a type of GGUF' recommend $huge --engine all --explain candidates
expect 0 '^Run deepseek-r1 .*llama-server' recommend $huge --engine llama.cpp --precision q4_k_m
# Nor what a device has no kernels for in that engine.
volta="--target qwen3-8b --engine vllm --device v100-sxm-32 --batch 1 --context 2000 --drafter none"
for precision in fp8 int8 nvfp4; do
    expect 2 'compute capability 7\.5, and v100-sxm-32 has 7\.0' recommend $volta --precision $precision
done
expect 0 'vllm serve' recommend $volta
expect 0 'vllm serve' recommend $volta --precision int4
expect 0 'vllm serve' recommend ${volta/v100-sxm-32/t4} --precision fp8
expect 2 'compute capability 8\.9, and a100-sxm-80 has 8\.0' estimate --target qwen3-8b --device a100-sxm-80 --engine tensorrt-llm --precision fp8
expect 0 'Excluded: v100.*compute +capability +7\.5' recommend ${volta/v100-sxm-32/v100-sxm-32,a100-sxm-80} --precision fp8

# A limit that nothing meets: what comes closest, of all cuts and lengths.
expect 0 'meets +the +limits; the +nearest, .* reaches +a +TPOT +of +12\.[0-9]+ +ms; +6\.00 +ms' recommend --target qwen3-32b --device h100-sxm \
    --gpus up-to-4 --stack vllm --concurrency 64 --prompt 3000 --output-tokens 500 --objective cost --max-tpot-ms 6

# A checkpoint's own module for multi-token prediction is tried as modules elsewhere are.
expect 0 'mtp +.measured +with +other +models' recommend --target mimo-7b --device h100-sxm --stack vllm --batch 1 --context 2000 --explain candidates
expect 0 'mtp +.measured +with +other +models' recommend --target qwen3-next-80b-a3b --device h100-sxm --gpus 4 --stack vllm --concurrency 32 \
    --prompt 3000 --output-tokens 1000 --explain candidates

# Devices in other formats are said to be.
fpga="--target mamba2-2.7b --device specmamba-vhk158,rtx-4090 --drafter mamba2-370m --acceptance 0.76 --batch 1 --objective energy"
expect 0 'formats +differ: +specmamba-vhk158 +has +weights +of +4\.05 +bits.*rtx-4090 +has +weights +in +bf16.*formats' recommend $fpga --explain devices
expect 0 'rtx-4090 +has +weights +in +int4' recommend $fpga --precision int4
# A stack is for the GPU beside an accelerator; alone it is refused.
expect 0 'rtx-4090' recommend $fpga --stack vllm --explain devices
expect 2 'specmamba-vhk158 is an accelerator' recommend ${fpga/specmamba-vhk158,rtx-4090/specmamba-vhk158} --stack vllm

# Ranks of the drafter, however the devices are counted; a cut that they do not divide is left out.
pair="--model qwen3-235b-a22b --device h200 --stack vllm --drafter qwen3-30b-a3b --acceptance geometric:0.8 --draft-tokens 4 --batch 8"
for ranks in 1 2 8; do
    expect 0 'TPOT' estimate $pair --gpus 8 --draft-tensor-parallel $ranks
    cp out.txt gpus.txt
    expect 0 'TPOT' estimate $pair --tensor-parallel 8 --draft-tensor-parallel $ranks
    cmp -s out.txt gpus.txt || fail "--gpus 8 and --tensor-parallel 8 differ with $ranks ranks of the drafter"
done
expect 0 'on 4x h200' recommend --target llama-3.3-70b --device h200 --gpus 4 --stack vllm --drafter eagle3-llama-3.3-70b --batch 8 --draft-tensor-parallel 4
expect 0 'Excluded: 2 x h200.*does +not +divide +tensor_parallel 2' recommend --target llama-3.3-70b --device h200 --tensor-parallel 2,4 --stack vllm --drafter eagle3-llama-3.3-70b --batch 8 \
    --draft-tensor-parallel 4 --explain candidates

# llama.cpp caches in f16 unless it is told otherwise; a drafter's file is called as llama.cpp calls it.
cpp="--target llama-3.1-8b --device rtx-4090 --engine llama.cpp --batch 1 --context 4000"
expect 0 'drafter +priced +in +q4_k_m' recommend $cpp --precision q4_k_m --drafter llama-3.2-1b --draft-precision q4_k_m --acceptance 0.9
grep -q 'it has no flag' out.txt && fail "llama.cpp is said to lack a flag for its default"
expect 0 '^llama-3\.1-8b .q4_k_m, key-value cache int8. on rtx-4090' estimate $cpp --precision '{"checkpoint":"q4_k_m","kv_cache":"int8"}'

# Every face counts the described values that an answer rests on.
expect 0 'Inputs: [1-9][0-9] described values' estimate --model mamba2-2.7b --device specmamba-vhk158 --cycles

# Plain decoding is swept whatever state the target keeps, and shapes that nobody drafts are no matter of conditions.
cat >sweep.json <<'JSON'
{"axes": {"target": "mamba2-2.7b", "device": ["specmamba-vhk158", "rtx-4090"], "drafter": ["none", {"kind": "model", "model": "mamba2-370m",
 "acceptance": {"rate": 0.76}}], "draft_tokens": [0, 4], "batch": [1, 4], "context": 2048}}
JSON
expect 0 'none on rtx-4090.*chain 0' sweep sweep.json --top 40
grep -q 'Excluded: none' out.txt && fail "plain decoding of a recurrent target is excluded"
expect 0 'Left out +[1-9][0-9]* .shapes that the drafter cannot draft' sweep sweep.json

# The drafter that gains most may be one that cannot be loaded by name.
expect 0 'No repository of dflash-llama-3\.1-8b is known here; +the best drafter that can be loaded by name is +eagle3-llama-3\.1-8b' recommend \
    --target llama-3.1-8b --device h100-sxm --stack vllm --batch 1 --context 2000

finish
