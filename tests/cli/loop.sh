# The closed loop: a run is imported (from files and from a live server), explained, fitted to, planned for and exported; bad input is
# a sentence, and nothing is half-imported.
. "$(dirname "$0")/lib.sh"

fixtures=$SOURCE/tests/runs/fixtures
served=(--model llama-3.1-8b --device h100-sxm --stack vllm --drafter eagle3)

# Import: a summary for people, a file for programs.
expect 0 'llama-3.1-8b-instruct|Llama-3.1-8B-Instruct.*2.500 ± 0.021.*0.750 ± ' \
    import "$fixtures/vllm_bench_plain.json" "$fixtures/vllm_bench_spec.json" --output my-run.json
grep -q '"format": "treeline-run"' my-run.json || fail "no run was written"
expect 0 'vllm' import my-run.json
expect 0 '^batch,draft_tokens,context,rounds' import my-run.json --format csv
"$TREELINE" import - <"$fixtures/requests.jsonl" >out.txt || fail "standard input is not read"
grep -q 'rounds' out.txt || fail "standard input gives no acceptance"

# Its acceptance in other commands, by flag and by key.
expect 0 '2\.50' estimate --model llama-3.1-8b --device h100-sxm --stack vllm --drafter eagle3 --acceptance my-run.json --draft-tokens 3 --batch 8
cat >point.json <<END
{"target": "llama-3.1-8b", "platform": {"device": "h100-sxm", "stack": "vllm"}, "draft_tokens": 3, "batch": 8,
 "drafter": {"kind": "eagle3", "acceptance": {"file": "my-run.json"}}}
END
expect 0 '2\.50' estimate point.json

# A look-up drafts in some rounds only. All rounds count, and are priced as such: 4,080 tokens in 3,846 rounds, 132 of which draft.
cat >ngram.txt <<END
============ Serving Benchmark Result ============
Successful requests:                     16
Maximum request concurrency:             1
Total input tokens:                      1600
Total generated tokens:                  4096
Mean TPOT (ms):                          18.17
Mean ITL (ms):                           19.17
Median ITL (ms):                         18.71
Drafts:                                  132
Draft tokens:                            792
Accepted tokens:                         234
==================================================
END
expect 0 '3,846 +1.061' import ngram.txt --drafter ngram --engine vllm --output ngram.json
looked_up=(--model llama-3.1-8b --device h100-sxm --stack vllm --drafter ngram)
expect 0 '1.06 tokens per round with 6 drafts in 3.43 % of the rounds' estimate "${looked_up[@]}" --acceptance ngram.json --draft-tokens 6 --batch 1 --format json
expect 0 '18.7.*at +most +at +0\.' diagnose ngram.json "${looked_up[@]}"

# Bad input.
head -c 400 "$fixtures/vllm_bench_spec.json" >cut.json
expect 2 'cut.json: ends in the middle of its JSON .*cut off' import cut.json --output half.json
[ -e half.json ] && fail "a truncated file left half an import"
expect 2 'is of the model qwen2.5-7b-instruct, but what was read before' import "$fixtures/vllm_bench_plain.json" "$fixtures/llama_cpp_plain.json"
expect 2 'none of the formats' import "$SOURCE/README.md"
expect 2 'needs files of a run, or a server' import
expect 2 'nowhere.json: cannot be opened' import nowhere.json
expect 2 '--from: http://127.0.0.1:9 does not answer' import --from http://127.0.0.1:9
expect 2 'must be the address of a server' import --from localhost
expect 2 'http://127.0.0.1:9 does not answer' import --from http://me:secret@127.0.0.1:9
! grep -q secret err.txt || fail "a password is repeated: $(cat err.txt)"
for address in 'http://127.0.0.1:9?token=secret' 'http://127.0.0.1:9/#secret' 'ftp://127.0.0.1?token=secret' 'host?token=me@secret'; do
    expect 2 '127.0.0.1|host' import --from "$address"
    ! grep -q secret err.txt || fail "a token is repeated: $(cat err.txt)"
done
expect 2 'needs --from' import my-run.json --seconds 3

# A load that cannot be is refused by all that read runs, and rates that rise are said by them.
cell() {
    echo "{\"format\": \"treeline-run\", \"version\": 1, \"cells\": [{\"batch\": 8, \"draft_tokens\": 3, $1, \"round_ms\": {\"mean\": 9.5}}, {\"batch\": 8, \"draft_tokens\": 0, \"round_ms\": {\"mean\": 7.1}}]}"
}
everywhere() {
    expect "$1" "$2" import written.json
    expect "$1" "$2" diagnose written.json "${served[@]}"
    expect "$1" "$2" recommend "${served[@]}" --acceptance written.json --batch 8
}
cell '"stated_length": 5' >written.json
everywhere 2 'an accept length of 5.00 with 3 draft tokens, which is more than can be'
cell '"acceptance": {"drafts": 1000, "draft_tokens": 30000, "accepted_tokens": 20000}' >written.json
everywhere 2 'counts 21.00 tokens a round with 3 draft tokens'
cell '"stated_length": 0.5' >written.json
everywhere 2 'stated_length'
cell '"acceptance": {"drafts": 1000, "draft_tokens": 3000, "accepted_tokens": 1600, "accepted_by_position": [500, 800, 300]}' >written.json
rises='ater +drafts +are +accepted +more +often +than +earlier +ones'
expect 0 '0.500.*0.800.*0.300' import written.json
expect 0 "$rises" import written.json
expect 0 'draft +2 +is +accepted +in +80 +%' diagnose written.json "${served[@]}"
expect 0 '2.60 +tokens +per +round' recommend "${served[@]}" --acceptance written.json --batch 8
expect 0 "$rises" recommend "${served[@]}" --acceptance written.json --batch 8 --explain inputs
printf 'concurrency,k,tpot_us,AL\n1,0,6400,\n1,3,3500,2.4\n' >micro.csv
expect 0 '8.40 +ms' diagnose micro.csv "${served[@]}"
expect 2 '--draft-tokens: must be a number from 0' import my-run.json --draft-tokens many

# A live server: two scrapes whose counters grow.
cat >server.py <<'END'
import http.server, sys
drafts = 100
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global drafts
        moved = {"/near/metrics": "/metrics", "/away/metrics": f"http://u:secret@localhost:{self.server.server_port}/metrics",
                 "/round/metrics": "/round/metrics"}
        if self.path in moved:
            self.send_response(302)
            self.send_header("Location", moved[self.path])
            self.end_headers()
            return
        if self.path != "/metrics":
            self.send_error(404)
            return
        label = '{engine="0",model_name="m"}'
        body = "".join(f"vllm:{name}{label} {value}\n" for name, value in [
            ("num_requests_running", 8), ("spec_decode_num_drafts_total", drafts),
            ("spec_decode_num_draft_tokens_total", 3 * drafts), ("spec_decode_num_accepted_tokens_total", 1.5 * drafts)])
        drafts += 40
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
END
if command -v python3 >/dev/null; then
    python3 server.py >port.txt &
    server=$!
    for _ in $(seq 50); do [ -s port.txt ] && break; sleep 0.1; done
    expect 0 '3 +40 +2.500' import --from "http://127.0.0.1:$(cat port.txt)" --seconds 0.2 --output live.json
    expect 0 '3 +180 +2.500' import --from "http://127.0.0.1:$(cat port.txt)/"
    # Redirections are followed on the same server alone, and no message repeats a password.
    expect 0 '3 +220 +2.500' import --from "http://me:secret@127.0.0.1:$(cat port.txt)/near" --output again.json
    expect 2 'does not answer: it redirects to another server, http://localhost:[0-9]+/metrics; give' import --from "http://me:secret@127.0.0.1:$(cat port.txt)/away"
    ! grep -q secret err.txt again.json || fail "a password is repeated: $(cat err.txt)"
    expect 2 'redirects more than 5 times' import --from "http://127.0.0.1:$(cat port.txt)/round"
    kill "$server"
fi

# diagnosed EXAMPLE CAUSE [PLAIN]: what the source of the figures found, or shows, is among the first two causes.
diagnosed() {
    checks=$((checks + 1))
    "$TREELINE" diagnose "$SOURCE/examples/runs/$1.json" ${3:+"$SOURCE/examples/runs/$3.json"} \
        --input "$SOURCE/examples/runs/$1-point.json" --format json >found.json 2>err.txt || fail "diagnose $1: $(cat err.txt)"
    first=$("$JSON_GET" found.json /causes/0/cause) second=$("$JSON_GET" found.json /causes/1/cause 2>/dev/null)
    case "$first, $second" in *"$2"*) ;; *) fail "diagnose $1: not \"$2\", but \"$first\" and \"$second\"" ;; esac
}
diagnosed vllm-16035 "drafter not captured in a graph"
diagnosed vllm-16937 "drafter not captured in a graph"
diagnosed vllm-49548 "cost of zero drafts" vllm-49548-plain
diagnosed llama.cpp-27342 "slots decoded one after the other"
checks=$((checks + 1))
grep -q '"even a perfect drafter would lose"' found.json || fail "diagnose llama.cpp-27342 does not see the ceiling"
diagnosed strix-halo-53 "fixed time of a round"
diagnosed qwen3.8-27b-2xh20 "fixed time of a round"
diagnosed glm-4.7-awq-4xpro6000 "rounds not captured in a graph"
diagnosed qwen3-8b-ngram-h100 "fixed time of a round"
diagnosed qwen3.8-27b-m3-ultra "acceptance below break-even"
diagnosed kimi-k2.6-8xpro6000 "acceptance below break-even"
expect 0 'Likeliest: ' diagnose "$SOURCE/examples/runs/vllm-16035.json" --input "$SOURCE/examples/runs/vllm-16035-point.json" --html page.html
grep -q 'waterfall' page.html || fail "the page has no waterfall"
# What the log says of the deployment is priced where no flag says it: two ranks, the engine, the cache's format.
cat >told.log <<'END'
[2026-11-20 10:00:00] server_args=ServerArgs(model_path='Qwen/Qwen3-8B', tp_size=2, kv_cache_dtype='fp8_e4m3', speculative_algorithm='EAGLE3', speculative_num_steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens=4)
[2026-11-20 10:00:11 TP0] Decode batch, #running-req: 8, #token: 9120, token usage: 0.11, accept len: 2.85, accept rate: 0.62, cuda graph: True, gen throughput (token/s): 2912.40, #queue-req: 0,
[2026-11-20 10:00:12 TP0] Decode batch, #running-req: 8, #token: 9420, token usage: 0.11, accept len: 2.81, accept rate: 0.60, cuda graph: True, gen throughput (token/s): 2905.40, #queue-req: 0,
END
expect 0 'qwen3-8b \(.*fp8.*\) on 2 x h100-sxm .*sglang' diagnose told.log --model qwen3-8b --device h100-sxm --drafter eagle3
expect 0 'qwen3-8b .*on 2 x h100-sxm .*vllm' diagnose told.log --model qwen3-8b --precision '{"checkpoint": "bf16", "kv_cache": "bf16"}' --device h100-sxm --stack vllm --drafter eagle3
# A defect that counts alone show is an answer: vLLM, issue 41789, 0.7 % of first drafts accepted. What drafts must be known.
printf '%s\n' 'INFO 05-06 06:10:21 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 1.01, Accepted: 2 tokens, Drafted: 1196 tokens, Per-position acceptance rate: 0.007, 0.000, 0.000, 0.000' >defect.log
expect 0 'gemma-4-31b on rtx-pro-6000.*Likeliest: drafter that looks defective. Costs cannot be told' diagnose defect.log --model gemma-4-31b --device rtx-pro-6000 --stack vllm --drafter mtp
expect 0 '"cause": "drafter that looks defective"' diagnose defect.log --model gemma-4-31b --device rtx-pro-6000 --stack vllm --drafter mtp --format json
expect 2 'does not say with what; --drafter says it' diagnose defect.log --model gemma-4-31b --device rtx-pro-6000 --stack vllm
expect 2 'needs .*drafter|drafter' diagnose my-run.json --model llama-3.1-8b --device h100-sxm
# Without a measured step of plain decoding the speed-up is over a predicted one, in the mode of the log.
expect 0 'It runs at [0-9.]+x of plain decoding as predicted \([0-9.]+ ms a step\), and at most' diagnose told.log --device h100-sxm
cat >eager.log <<'END'
INFO 11-20 10:00:00 [core.py:93] Initializing a V1 LLM engine (v0.12.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', speculative_config=SpeculativeConfig(method='eagle3', model='yuhuili/EAGLE3-LLaMA3.1-Instruct-8B', num_spec_tokens=3), tensor_parallel_size=1, enforce_eager=True
INFO 11-20 10:00:10 [loggers.py:257] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 390.0 tokens/s, Running: 8 reqs, Waiting: 0 reqs, GPU KV cache usage: 5.2%, Prefix cache hit rate: 0.0%
INFO 11-20 10:00:10 [metrics.py:100] SpecDecoding metrics: Mean acceptance length: 2.42, Accepted throughput: 228.80 tokens/s, Drafted throughput: 483.60 tokens/s, Accepted: 2288 tokens, Drafted: 4836 tokens, Per-position acceptance rate: 0.700, 0.450, 0.270, Avg Draft acceptance rate: 47.3%
INFO 11-20 10:00:20 [loggers.py:257] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 398.6 tokens/s, Running: 8 reqs, Waiting: 0 reqs, GPU KV cache usage: 5.2%, Prefix cache hit rate: 0.0%
INFO 11-20 10:00:20 [metrics.py:100] SpecDecoding metrics: Mean acceptance length: 2.42, Accepted throughput: 233.80 tokens/s, Drafted throughput: 494.40 tokens/s, Accepted: 2338 tokens, Drafted: 4944 tokens, Per-position acceptance rate: 0.700, 0.450, 0.269, Avg Draft acceptance rate: 47.3%
END
expect 0 'of plain decoding as predicted \([0-9.]+ ms a step without graphs\).*vLLM --enforce-eager.*over the predicted one' diagnose eager.log --device h100-sxm --stack vllm-0.12
# A second run with drafts is one to compare acceptance with; one that holds neither these nor plain steps is none.
expect 0 'Acceptance of the deployments that are compared' diagnose my-run.json "$fixtures/requests.jsonl" "${served[@]}"
printf '%s' '{"format":"treeline-run","version":1,"cells":[{"batch":1,"draft_tokens":3,"context":500,"round_ms":{"mean":80}}]}' >times.json
expect 2 'holds neither a timed step of plain decoding' diagnose my-run.json times.json "${served[@]}"
expect 0 'From the run.s files: model Qwen/Qwen3-8B, .*drafter eagle3' diagnose told.log --device h100-sxm

# Fit this deployment, and use the fit.
expect 0 'fitted to 4 measured steps of .*Written to my-stack.json' \
    calibrate --runs "$SOURCE/examples/runs/vllm-16937.json" --model llama-3.1-8b --device h100-sxm --stack vllm-0.8 --drafter eagle --context 512 --output my-stack.json
expect 0 'fitted' hardware ./my-stack.json
expect 2 'give one of them' calibrate --runs a.json --serving b.csv --device h100-sxm

# own_loads EXAMPLE FLAGS...: a stack that was fitted to a run predicts that run's loads within 3 %, however little its numbers
# can follow them.
own_loads() {
    run=$1
    shift
    checks=$((checks + 1))
    "$TREELINE" calibrate --runs "$SOURCE/examples/runs/$run.json" "$@" --format json >own.json 2>err.txt || fail "calibrate $run: $(cat err.txt)"
    awk -v worst="$("$JSON_GET" own.json /errors/fitted/worst)" 'BEGIN {exit !(worst != "" && worst < 0.03)}' ||
        fail "$run: its own loads are missed by $("$JSON_GET" own.json /errors/fitted/worst)"
}
# left_out_below WORST: a fit to the other batches of that run misses none by more.
left_out_below() {
    checks=$((checks + 1))
    awk -v left="$("$JSON_GET" own.json /errors/left_out/worst)" -v most="$1" 'BEGIN {exit !(left != "" && left < most)}' ||
        fail "$run: batches left out are missed by up to $("$JSON_GET" own.json /errors/left_out/worst)"
}
own_loads glm-4.7-awq-4xpro6000 --model glm-4.7 --precision int4 --device rtx-pro-6000 --tensor-parallel 4 --stack vllm --drafter mtp --context 640
own_loads kimi-k2.6-8xpro6000 --model kimi-k2.6 --precision int4 --device rtx-pro-6000 --tensor-parallel 8 --stack vllm --drafter eagle3 --context 131072
left_out_below 0.4 # 0.91 by numbers alone
own_loads llama.cpp-27342 --model qwen3.5-27b --precision q4_k_m --device strix-halo --stack llama.cpp --drafter mtp --context 600
own_loads qwen3-8b-ngram-h100 --model qwen3-8b --device h100-sxm --stack vllm --drafter ngram --context 256
left_out_below 0.11 # 0.118
own_loads qwen3.8-27b-2xh20 --model qwen3.5-27b --precision fp8 --device h20 --tensor-parallel 2 --stack sglang --drafter mtp --context 384
own_loads qwen3.8-27b-m3-ultra --model qwen3.5-27b --precision q6_k --device m3-ultra --stack llama.cpp --drafter mtp
own_loads vllm-16937 --model llama-3.1-8b --device h100-sxm --stack vllm-0.8 --drafter eagle --context 512
# The same through the files: what a load was measured to take is what `estimate` answers, and says so.
kimi=(--model kimi-k2.6 --precision int4 --device rtx-pro-6000 --tensor-parallel 8 --context 131072)
expect 0 'Written to kimi.json' calibrate --runs "$SOURCE/examples/runs/kimi-k2.6-8xpro6000.json" "${kimi[@]}" --stack vllm --drafter eagle3 --output kimi.json
drafts='{"kind": "eagle3", "acceptance": {"mean_length": 1.633, "draft_tokens": 3}}'
checks=$((checks + 1))
"$TREELINE" estimate "${kimi[@]}" --stack ./kimi.json --drafter "$drafts" --draft-tokens 3 --batch 2 --format json >at.json 2>err.txt || fail "estimate: $(cat err.txt)"
awk -v tpot="$("$JSON_GET" at.json /speculative/tpot_ms)" -v plain="$("$JSON_GET" at.json /plain/tpot_ms)" \
    'BEGIN {exit !(tpot > 0.999 * 2000 / 78.7 && tpot < 1.001 * 2000 / 78.7 && plain > 0.999 * 2000 / 83.6 && plain < 1.001 * 2000 / 83.6)}' ||
    fail "a measured load is not answered as measured: $("$JSON_GET" at.json /speculative)"
[ "$("$JSON_GET" at.json /measured_load/how)" = measured ] || fail "measured_load: $("$JSON_GET" at.json /measured_load)"
expect 0 'Measured: rounds with 3 drafts were measured at this load: 0\.52 times .*; steps of plain decoding were measured at this load' estimate "${kimi[@]}" --stack ./kimi.json --drafter "$drafts" --draft-tokens 3 --batch 2
lookups=(--model qwen3-8b --device h100-sxm --drafter ngram --context 256)
expect 0 'Written to lookups.json' calibrate --runs "$SOURCE/examples/runs/qwen3-8b-ngram-h100.json" "${lookups[@]}" --stack vllm --output lookups.json
expect 0 'rounds with 3 drafts were measured at batch 8 and 32, interpolated here' estimate "${lookups[@]}" --stack ./lookups.json --accept-length 3:2.03 --draft-tokens 3 --batch 16
expect 0 'the nearest load measured is batch 2' estimate "${kimi[@]}" --stack ./kimi.json --drafter "$drafts" --draft-tokens 3 --batch 16

# Plan and export.
expect 0 'synthetic_acceptance_rates' plan "$SOURCE/examples/starter.json" --engine vllm --format json
expect 0 'SGLANG_SIMULATE_ACC_LEN' plan "$SOURCE/examples/starter.json" --engine sglang --format json
expect 0 'TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS' plan "$SOURCE/examples/starter.json" --engine tensorrt-llm --format json
expect 0 'would raise the expected gain by .*interval then' plan "$SOURCE/examples/starter.json" --engine vllm
tensor_parallel=(--target llama-3.1-8b --device h100-sxm --tensor-parallel 2 --engine vllm --drafter eagle3 --batch 8 --context 4096)
expect 0 '--model llama-3.1-8b --device h100-sxm --tensor-parallel 2 --stack vllm-[0-9.]+ --drafter eagle3' plan "${tensor_parallel[@]}"
read -ra calibrate < <("$TREELINE" plan "${tensor_parallel[@]}" 2>/dev/null | grep -o 'calibrate --runs.*')
expect 0 'Written to my-stack.json' "${calibrate[@]}"
expect 0 'real requests, [0-9]+ draft tokens' plan "$SOURCE/examples/trees-llama-3-8b-h100.json" --engine sglang
for form in vllm-batch-context sglang-sps sglang-sps-model aisimulate check-vllm check-guidellm check-aiperf; do
    [[ $form == sglang-* ]] && engine=sglang || engine=vllm
    expect 0 'num_speculative_tokens|nextn_accepted|sample_steps_per_sec|alpha_seconds|max-concurrency|concurren' \
        recommend "$SOURCE/examples/llama-3.1-8b-h100.json" --engine $engine --export "$form"
done
expect 2 '--export sglang-sps: the times are those of vLLM [0-9.]+; --engine sglang prices its own' \
    recommend "$SOURCE/examples/llama-3.1-8b-h100.json" --export sglang-sps
expect 2 '--export: must be .*did you mean "sglang-sps"' recommend "$SOURCE/examples/llama-3.1-8b-h100.json" --export sglang-spt

# Where plain decoding is far from its prediction, the deployment is doubted before its rounds are.
printf 'vanilla: 40 tok/s\nk=3: 90 tok/s accept length: 2.5\n' >said.md
expect 0 '1 +3 ' import said.md --batch 1 --output said.json
expect 0 'Plain +decoding +itself +is +off +by +-7[0-9] +%: .*Nothing +else +stands +out' diagnose said.json --model llama-3.1-8b \
    --device h100-sxm --stack vllm --drafter eagle3
finish
