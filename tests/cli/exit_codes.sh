# Exit codes and help: 0 for results, 2 for bad flags and names, 1 for what cannot be written.
. "$(dirname "$0")/lib.sh"

expect 0 '^treeline [0-9]+\.[0-9]+.* built with .*catalogue of (20[0-9-]+|a day)' --version
expect 0 'estimate' --help
expect 0 'treeline COMMAND --help' help
expect 0 'Configuration to check' help lint
expect 0 '^treeline [0-9]+\.[0-9]+.* built with' version
for command in models hardware estimate sweep recommend report; do
    expect 0 'Example' "$command" --help
done
expect 2 'a command is needed'
expect 2 'no command "estimat"; did you mean "estimate"' estimat
expect 2 'no command "zzzzzz"; the commands are recommend' zzzzzz
expect 2 'unknown flag "--batc"; did you mean "--batch"' estimate --batc 8 --model llama-3-8b --device h100-sxm
expect 2 'unexpected argument "second"' models first second
expect 2 '--format: must be table, json or csv, not "jsn"; did you mean "json"' models --format jsn
expect 2 'FILE' sweep
expect 2 'FILE' recommend
expect 2 'output' report "$SOURCE/examples/llama-3-8b-eagle-h100.json"
expect 2 '--threads: must be a whole number' recommend "$SOURCE/examples/llama-3-8b-eagle-h100.json" --threads many
expect 2 '--top: must be a whole number' sweep "$SOURCE/examples/spire-study.json" --top -1
expect 2 'did you mean "llama-3-8b"' models llama-3-8bb
expect 2 'did you mean "h100-sxm"' hardware h100-smx
# An abbreviation is answered with every name that it begins, as --device does.
expect 2 'did you mean "h100-nvl", "h100-pcie" or "h100-sxm"' hardware h100
expect 2 'does not hold the folders' models --catalogue "$WORK"
expect 0 'llama-3-70b' models
expect 0 'Llama|meta-llama' models llama-3-70b
expect 0 'qwen3.6-27b \(fp8\)' estimate --model Qwen/Qwen3.6-27B-FP8 --device h200
expect 2 'is int4, but Qwen/Qwen3.6-27B-FP8 is in fp8 by its name' estimate --model Qwen/Qwen3.6-27B-FP8 --precision int4 --device h200
expect 2 'is in mlx-4bit, a checkpoint of MLX.*q4_k_m' estimate --model qwen3-8b --device m3-ultra --engine llama.cpp --precision mlx-4bit
expect 2 'its stack is priced \(--stack mlx\)' estimate --model qwen3-8b --device m3-ultra --engine mlx
expect 2 'its stack is priced \(--stack mlx@0.31\)' estimate --model qwen3-8b --device m3-ultra --engine mlx@0.31
expect 0 'mlx-0.31 ' estimate --model qwen3-8b --device m3-ultra --stack mlx@0.31
expect 0 'NVIDIA H100' hardware
expect 0 'launch_factor' hardware vllm
expect 0 'memory_bandwidth' hardware h100-sxm
expect 0 'SPIRe' hardware "$SOURCE/examples/devices/spire-hoi-600.json"
expect 0 'decodes at batch 1' estimate --model llama-3-8b --device h100-sxm
for drafter in llama-3.2-1b eagle medusa ngram '{"kind": "sparse-self", "window": 512}' '{"kind": "spire", "layers": 2, "share": 0.1}'; do
    expect 0 'the speed of plain decoding' estimate --model llama-3-8b --device h100-sxm --drafter "$drafter" --acceptance 0.8 --draft-tokens 3
done
expect 0 'tokens per round with 5 drafts' estimate --model llama-3-8b --device h100-sxm --drafter eagle --accept-length 3.2
expect 0 'by position 0.8, 0.6' estimate --model llama-3-8b --device h100-sxm --drafter eagle --acceptance 0.8,0.6
expect 0 'hoi' estimate --explain inputs --model llama-3-8b --device h100-sxm --mode hoi --precision fp8 --context 0

# The folder of the catalogue: the flag wins over the environment.
checks=$((checks + 1))
TREELINE_DATA=$WORK "$TREELINE" models >/dev/null 2>err.txt
[ $? -eq 2 ] && grep -q TREELINE_DATA err.txt || fail "TREELINE_DATA is not looked at"
checks=$((checks + 1))
TREELINE_DATA=$WORK "$TREELINE" models --catalogue "$SOURCE" >/dev/null || fail "--catalogue does not win over TREELINE_DATA"
finish
