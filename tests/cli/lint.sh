# treeline lint, and --engine of recommend and report: exit codes, findings on standard output, and what is recommended is clean.
. "$(dirname "$0")/lib.sh"

# lints CODE PATTERN TEXT [ARGUMENT...]: the text on standard input; the pattern is looked for in both outputs.
lints() {
    local code=$1 pattern=$2 text=$3
    shift 3
    checks=$((checks + 1))
    printf '%s' "$text" | "$TREELINE" lint - "$@" >out.txt 2>&1
    local got=$?
    [ "$got" -eq "$code" ] || fail "lint '$text' $*: exit code $got instead of $code: $(head -c 400 out.txt)"
    tr '\n' ' ' <out.txt | grep -qE -- "$pattern" || fail "lint '$text' $*: nothing like \"$pattern\" in: $(head -c 600 out.txt)"
}

lints 0 'Read as JSON for vLLM 0.33: no findings' '{"method": "mtp", "num_speculative_tokens": 2}'
lints 1 '1 finding\..*unknown +num_speculative_token is unknown to vLLM 0.33; did you mean "num_speculative_tokens"\?' '{"method": "mtp", "num_speculative_token": 2}'
lints 1 'removed +--draft-max was removed; use --spec-draft-n-max' 'llama-server -m a.gguf --draft-max 8 --spec-type draft-mtp'
lints 1 'a command line for SGLang 0.5.11' '--speculative-algorithm EAGLE3' --engine sglang@0.5.11
lints 2 'treeline: .*not JSON' '{"method": '
lints 2 'there is no engine "vlm"; did you mean "vllm"' '{"method": "mtp"}' --engine vlm
lints 2 'newer than all known versions; known are 0.10' '{"method": "mtp"}' --engine vllm@9
lints 2 'is for vLLM, not for SGLang' '{"method": "mtp"}' --engine sglang
lints 2 'must be table, json, github or sarif' '{"method": "mtp"}' --format csv
lints 0 'Nothing is drafted: --speculative-config is not given' 'vllm serve m'
lints 0 'the command of a client of benchmarks' 'vllm bench serve --model m'
lints 1 'Read as 2 servers for vLLM 0.19.1 \(as 0.19\) and SGLang 0.5.9' 'services:
  a: {image: "vllm/vllm-openai:v0.19.1", command: "--speculative-config.method ngram --speculative-config.num_speculative_tokens 3"}
  b: {image: "lmsysorg/sglang:v0.5.9", command: "--model-path x --speculative-algorithm NGRM"}'
expect 2 'cannot be opened' lint none.txt
expect 0 'Example' lint --help

printf '{"method": "ngram", "model": "m"}' >config.json
checks=$((checks + 1))
"$TREELINE" lint config.json --format json >out.json
[ $? -eq 1 ] && [ "$("$JSON_GET" out.json /findings/0/kind)" = ignored ] && [ "$("$JSON_GET" out.json /findings/1/key)" = num_speculative_tokens ] ||
    fail "lint --format json: $(cat out.json)"

# A file that a command line names lies beside it.
printf '{"1": {"candidate_steps": [4]}}' >steps.json
printf -- '--speculative-algorithm EAGLE --speculative-draft-model-path d --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4 --speculative-adaptive --speculative-adaptive-config steps.json' >command.txt
checks=$((checks + 1))
"$TREELINE" lint command.txt >out.txt
[ $? -eq 1 ] && grep -q 'is 3, which is not a candidate' out.txt || fail "the adaptive config is not read: $(cat out.txt)"

# For continuous integration: annotations of a workflow, and SARIF; the exit codes stay.
printf -- '--speculative-algorithm EAGLE\n--speculative-draft-model-path d --speculative-num-steps 3 --speculative-eagle-topk 1\n--speculative-num-draft-tokens 4 --speculative-adaptive --speculative-adaptive-config steps.json\n' >'two: words.txt'
checks=$((checks + 1))
"$TREELINE" lint 'two: words.txt' --format github >out.txt
[ $? -eq 1 ] && grep -qE '^::error file=two%3A words\.txt,line=[0-9]+,title=treeline lint%3A [a-z]+::.*is 3, which is not a candidate' out.txt ||
    fail "--format github: $(cat out.txt)"
checks=$((checks + 1))
"$TREELINE" lint 'two: words.txt' --format sarif >out.json
[ $? -eq 1 ] && [ "$("$JSON_GET" out.json /version)" = 2.1.0 ] && grep -q 'is 3, which is not a candidate' out.json || fail "--format sarif: $(head -c 300 out.json)"
rule=$("$JSON_GET" out.json /runs/0/results/0/ruleId)
grep -q "\"id\": \"$rule\"" out.json || fail "SARIF: the rule $rule is not among those of the driver"
[ "$("$JSON_GET" out.json /runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri)" = two%3A%20words.txt ] || fail "SARIF: the file is not a URI"
checks=$((checks + 1))
echo '--spec-type ngram-simple --spec-draft-n-max 8' | "$TREELINE" lint - --format github >out.txt
! grep -q 'file=' out.txt || fail "standard input is no file to annotate"
expect 2 'must be table, json, github or sarif, not "sarf"; did you mean "sarif"' lint command.txt --format sarf

# A draft model of another vocabulary needs an engine that translates its tokens, and is told so.
translated='{"kind": "model", "model": "qwen3-0.6b", "translated": true, "acceptance": {"mean_length": 3.2, "draft_tokens": 4}}'
other=(--model llama-3.1-8b --device h100-sxm --batch 1 --context 1000)
expect 2 "speaks the vocabulary .*\"translated\": true" estimate "${other[@]}" --drafter "${translated/\"translated\": true, /}" --draft-tokens 4
expect 0 'qwen3-0.6b, translated drafting 4 tokens' estimate "${other[@]}" --stack vllm --drafter "$translated" --draft-tokens 4
expect 0 '"use_heterogeneous_vocab":true' recommend "${other[@]}" --stack vllm --drafter "$translated" --draft-tokens 4
expect 2 'SGLang 0\.5.* does not translate tokens' recommend "${other[@]}" --stack sglang --drafter "$translated" --draft-tokens 4

# --engine: that engine alone, at that version; and what is recommended is clean.
# The engine takes the place of the file's stacks; without --engine flags are those of the stack that was priced.
workload=$SOURCE/examples/llama-3-8b-eagle-h100.json
expect 0 'vLLM 0\.19:' recommend "$workload" --engine vllm@0.19
grep -qE 'SGLang|TensorRT' out.txt && fail "--engine vllm@0.19 prints other engines"
expect 0 'vLLM 0\.33: +vllm serve meta-llama/Llama-3\.1-8B-Instruct ' recommend "$SOURCE/examples/llama-3.1-8b-h100.json"
grep -qE 'SGLang|TensorRT|llama-server' out.txt && fail "flags of engines that were not priced"
expect 0 'The stack cuda-graph is no engine.s, so there are no flags' recommend --target llama-3-8b --device h100-sxm --stack cuda-graph \
    --drafter eagle3 --acceptance 0.7 --batch 1
# All engines side by side: each on its own stack, with what it lacks left out.
expect 0 'vLLM 0\.33 +vllm-0\.26 .*SGLang 0\.5\.23 +sglang-0\.5\.15 .*TensorRT-LLM 1\.4 +tensorrt-llm-1\.2 .*llama.cpp b9987 +llama.cpp .*To run it: .*vllm serve' \
    recommend "$workload" --engine all
expect 0 '"format": "treeline-engines".*"engine": "SGLang 0.5.23"' recommend "$workload" --engine all --format json
expect 0 'TensorRT-LLM 1\.4: .*GPUs +of +NVIDIA' recommend "$workload" --device mi300x --engine all
expect 2 'the shape sglang 5,4,32 cannot run: vLLM 0\.33 drafts chains only' recommend "$workload" --engine vllm --shape sglang:5,4,32
expect 2 'is sglang, but the stack vllm-0\.26 is that of vllm' recommend "$workload" --engine sglang --stack vllm
expect 2 'has no module for multi-token prediction' recommend "$workload" --engine vllm --drafter mtp --acceptance 0.8
expect 2 'names several engines' plan "$workload" --engine all
expect 2 'vLLM "0.7" is older than all known versions; known are 0.10' recommend "$workload" --engine vllm@0.7
expect 0 'vLLM 0\.9 \(as 0\.10\):.*flags of versions before 0\.10 are not known' recommend "$workload" --engine vllm@0.9
expect 2 'there is no engine "vlmm"; did you mean "vllm"' report "$workload" --engine vlmm --output page.html
expect 0 'Report' report "$workload" --engine sglang --engine vllm@0.24 --output page.html
# One rule for an engine and for its stack.
expect 2 'TensorRT-LLM runs on GPUs of NVIDIA' recommend "$workload" --device mi300x --stack tensorrt-llm
expect 2 'it has no back end for Google TPU' recommend "$workload" --device tpu-v6e --stack sglang
# Where the slots for drafts would leave a step nothing, the flags say how many requests and tokens.
dflash=(--target qwen3-8b --device h100-sxm --drafter dflash --accept-length 15:6.5 --concurrency 8 --prompt 1000 --output-tokens 500)
expect 0 'max-num-seqs 64 --max-num-batched-tokens 9024.*keeps 13 tokens of a step' recommend "${dflash[@]}" --engine vllm@0.26
expect 0 '"method":"dflash"' recommend "${dflash[@]}" --engine vllm
grep -q 'max-num-batched-tokens' out.txt && fail "vLLM 0.33 keeps slots for one request alone"
# DSpark came with 0.25; PARD is a checkpoint of its own.
expect 0 '"method":"dspark"' recommend --target qwen3-8b --device h100-sxm --engine vllm@0.27 --drafter dspark --acceptance 0.8,0.7,0.6
expect 2 'vLLM 0\.24 does not draft with DSpark' recommend --target qwen3-8b --device h100-sxm --engine vllm@0.24 --drafter dspark --acceptance 0.8,0.7,0.6
expect 2 'whether SGLang 0\.5\.15 drafts with DSpark is not known: 0\.5\.11 does not, 0\.5\.23 does' recommend --target qwen3-8b --device h100-sxm --engine sglang@0.5.15 --drafter dspark --acceptance 0.8,0.7,0.6
expect 0 '"model":"PATH_OF_THE_DRAFTER","num_speculative_tokens":[0-9]+,"parallel_drafting":true.*llama-3.2-1b as trained for PARD' recommend --target llama-3.1-8b --device h100-sxm --engine vllm \
    --drafter '{"kind": "pard", "model": "llama-3.2-1b", "acceptance": {"rate": 0.8}}'
for engine in vllm@0.10 vllm@0.19 vllm@0.24 vllm@0.26 vllm sglang@0.5.9 sglang@0.5.11 sglang; do
    "$TREELINE" recommend "$workload" --engine "$engine" --format json --output answer.json
    text=$("$JSON_GET" answer.json /engine_flags/0/flags)
    file=$("$JSON_GET" answer.json /engine_flags/0/file_text)
    [ -n "$text" ] || fail "nothing to paste for $engine"
    [ -z "$file" ] || text="$text
# $("$JSON_GET" answer.json /engine_flags/0/file)
$file"
    lints 0 'no findings' "$text" --engine "$engine"
done
finish
