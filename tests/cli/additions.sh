# What HACKING.md says takes one file takes one: a device, a stack, a model and a published drafter are added to a copy of the
# catalogue, and everything that lists, prices and recommends knows them.
. "$(dirname "$0")/lib.sh"

mkdir -p data
cp -r "$SOURCE/models" "$SOURCE/hardware" data/
export TREELINE_DATA="$PWD/data"

# A device: the ten lines that its README shows.
sed -n '/^## A device in ten lines/,/^## /{/^```json/,/^```/p}' "$SOURCE/hardware/README.md" | grep -v '^```' >data/hardware/gpu/fake-gpu.json
expect 0 'fake-gpu' hardware
expect 0 'on fake-gpu' estimate --model llama-3.1-8b --device fake-gpu --stack ideal --mode roofline

# A stack: a copy of another one with a host time of its own, which the price of a step must show.
sed 's/"title": "[^"]*"/"title": "A fake engine"/; /"host_per_pass"/s/"value": [0-9.]*/"value": 5000/' \
    "$SOURCE/hardware/stacks/vllm-0.10.json" >data/hardware/stacks/fake-stack.json
expect 0 'fake-stack' hardware
expect 0 'fake-stack' estimate --model llama-3.1-8b --device h100-sxm --stack fake-stack --format json
slow=$("$JSON_GET" out.txt /plain/tpot_ms)
expect 0 'vllm-0.10' estimate --model llama-3.1-8b --device h100-sxm --stack vllm-0.10 --format json
fast=$("$JSON_GET" out.txt /plain/tpot_ms)
checks=$((checks + 1))
awk -v slow="$slow" -v fast="$fast" 'BEGIN { d = slow - fast; exit !(d > 4 && d < 5) }' ||
    fail "5 ms of host time change a step from $fast to $slow ms, not by 5 - 0.344"

# The same in three lines, as a file of the user's.
cat >mine.json <<END
{"title": "Mine", "extends": "vllm-0.10", "host_per_pass": {"value": 5000, "unit": "us", "source": "measured here", "kind": "measured"}}
END
expect 0 'Mine' hardware ./mine.json
expect 0 'mine.json' estimate --model llama-3.1-8b --device h100-sxm --stack ./mine.json --format json
checks=$((checks + 1))
[ "$("$JSON_GET" out.txt /plain/tpot_ms)" = "$slow" ] || fail "a stack that extends another one is not as fast as a copy with the same change"

# A model: another one's file with 12 layers of its 36; its parameters are no longer those published.
sed -e 's/"name": "qwen3-8b"/"name": "fake-model"/' -e 's/"repeat": 36/"repeat": 12/' -e '/"published_parameters"/,/^  }/d' \
    -e 's/"math": "bf16"},/"math": "bf16"}/' "$SOURCE/models/qwen3-8b.json" >data/models/fake-model.json
expect 0 'fake-model' models
expect 0 'fake-model on fake-gpu' estimate --model fake-model --device fake-gpu --stack fake-stack --mode roofline

# A published drafter of it, by name, with its acceptance.
cat >data/models/drafters/eagle3-fake-model.json <<END
{"title": "EAGLE-3 for a fake model", "target": "fake-model", "drafter": {"kind": "eagle3"},
 "measured": [{"category": "chat", "draft_tokens": 3, "accept_length": 2.5, "source": "nobody"}]}
END
expect 0 'fake-model.*EAGLE-3' recommend --target fake-model --device fake-gpu --stack fake-stack --mode roofline \
    --drafter eagle3-fake-model --batch 1,8 --context 1000
expect 2 'eagle3-fake-model.*fake-model' estimate --model qwen3-8b --device fake-gpu --stack fake-stack --mode roofline \
    --drafter eagle3-fake-model --draft-tokens 3

# A drafter's file that cannot be read is said to be so, not left out of what is tried.
printf '{' >data/models/drafters/eagle3-broken.json
expect 2 'eagle3-broken.json' models --drafters
expect 2 'eagle3-broken.json' recommend --target fake-model --device fake-gpu --stack fake-stack --mode roofline --batch 1 --context 1000
rm data/models/drafters/eagle3-broken.json

# A folder that holds a config.json is a model, beside which way it is written.
mkdir folder
cat >folder/config.json <<END
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22,
 "num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 32000, "torch_dtype": "float32"}
END
for path in ./folder folder/ ./folder/config.json "$PWD/folder"; do
    expect 0 'TPOT' estimate --target "$path" --device fake-gpu --stack fake-stack --mode roofline --batch 1 --context 500
done
expect 0 'stored +in +fp32, +which +engines +load +in +16 +bits' models ./folder
sed 's/"vocab_size"/"num_experts": 8, "vocab_size"/' folder/config.json >experts.json
expect 2 'num_experts: is 8, but Llama is known as a dense architecture' models ./experts.json

# A wrong name is still told the nearest one, the new one among them.
expect 2 'did you mean "fake-gpu"' estimate --model fake-model --device fake-gpuu --stack fake-stack
finish
