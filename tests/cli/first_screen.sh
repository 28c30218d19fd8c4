# The first screen of recommend and estimate: short, one verdict, one interval, and the rest behind --explain.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

# short LINES WORDS ARGUMENT...: so many lines and words at most; at most one interval, one verdict and three notes.
short() {
    local lines=$1 words=$2
    shift 2
    checks=$((checks + 1))
    "$TREELINE" "$@" >screen.txt 2>err.txt || fail "treeline $*: $(head -c 300 err.txt)"
    [ "$(wc -l <screen.txt)" -le "$lines" ] || fail "treeline $*: $(wc -l <screen.txt) lines"
    [ "$(wc -w <screen.txt)" -le "$words" ] || fail "treeline $*: $(wc -w <screen.txt) words"
    local text verdicts intervals notes
    text=$(tr '\n' ' ' <screen.txt)
    verdicts=$(grep -oE "[Ss]peculation (pays|loses) with|whether speculation pays" <<<"$text" | wc -l)
    intervals=$(grep -oE "lies between" <<<"$text" | wc -l)
    notes=$(grep -cE '^(Note|Excluded):' screen.txt)
    [ "$verdicts" -le 1 ] && [ "$intervals" -le 1 ] && [ "$notes" -le 3 ] ||
        fail "treeline $*: $verdicts verdicts, $intervals intervals, $notes notes"
    grep -qE 'worlds|predictions missed|no drafter gains|would do as well' screen.txt && fail "treeline $*: $(cat screen.txt)"
}

qwen="--target qwen3-32b --device a100-sxm-80 --tensor-parallel 2 --drafter eagle3 --acceptance 0.8,0.65,0.5"
served="--concurrency 8:0.3,16:0.4,40:0.3 --prompt 5800 --output-tokens 400"
short 25 250 recommend $qwen $served --stack vllm
short 25 250 recommend $qwen $served --stack sglang
short 25 250 recommend $qwen --stack vllm --batch 8,16,40 --context 6000
short 25 250 recommend --target gpt-oss-20b --device l40s --stack vllm --drafter ngram --accept-length 3:1.6 --batch 1,8,32 --context 4096
short 25 250 recommend --target deepseek-r1 --device h200 --tensor-parallel 8 --stack sglang --drafter mtp --acceptance 0.85,0.6 \
    --concurrency 1-64 --prompt 4000 --output-tokens 500
short 25 250 recommend --target llama-3.1-8b --device rtx-4090 --stack llama.cpp --drafter llama-3.2-1b --acceptance 0.7
short 25 250 recommend "$SOURCE/examples/llama-3.1-8b-h100.json"
short 25 250 recommend --target llama-3-70b --device rtx-4090 --drafter ngram --acceptance 0.3
point="--target qwen3-8b --device rtx-4090 --stack vllm --drafter qwen3-1.7b --acceptance 0.75 --draft-tokens 2"
short 20 200 estimate $point --concurrency 4 --prompt 3600 --output-tokens 800
short 20 200 estimate $point --batch 1
short 20 200 estimate --target qwen3-8b --device rtx-4090 --batch 4

# Flags are those of the engine that was priced; of another one only if it is named.
expect 0 'SGLang 0\.5\.[0-9]+: .*--tp-size 2 .*--speculative-algorithm EAGLE3' recommend $qwen $served --stack sglang
grep -q 'vLLM' out.txt && fail "SGLang was priced, and flags of vLLM are printed"

# Arrivals: where both keep up, what a user sees counts; where plain decoding does not, what can be served, and no ratio of times.
arrives="--target qwen3-8b --device l40s --stack vllm --drafter eagle3 --acceptance 0.7,0.5,0.35 --prompt 2000 --output-tokens 400"
expect 0 'at 1 requests/s: [0-9.]+x the speed of the same server .* per token instead of .*gain in time per token' estimate $arrives --draft-tokens 3 --arrival-rate 1
expect 0 'this load is too much without the drafter; at most it serves 1\.[0-9]+x the +requests .*gain in +requests that can be served' estimate $arrives --draft-tokens 3 --arrival-rate 3
expect 0 'plain decoding cannot serve these arrivals, and +this +can; at most it serves 1\.[0-9]+x .*at +most +about +3\.[0-9]+ +requests/s can +be +served' recommend $arrives --arrival-rate 1,3,40
expect 0 'answer is +about +servers that are always full' recommend $arrives --arrival-rate 40

# Decoding alone is called so in the first sentence, with the flags that change it; a load is not.
alone='decoding alone .served traffic: --concurrency N --prompt P --output-tokens O.\.'
expect 0 "^Run [^.]*(\.[0-9][^.]*)*$alone" recommend $qwen --stack vllm --batch 8 --context 6000
expect 0 "$alone" estimate $point --batch 1
"$TREELINE" recommend $qwen $served --stack vllm | grep -q 'decoding alone' && fail "served traffic is called decoding alone"

# The schedule gives the least and the greatest gain of each range, and stays within the load that was asked.
"$TREELINE" recommend $qwen $served --stack vllm --format json >answer.json || fail "recommend --format json"
"$TREELINE" recommend $qwen $served --stack vllm >screen.txt
checks=$((checks + 1))
awk '/^Running requests/ { on = 1; next } on && /^[0-9]/ { split($0, gains, /  +/); n = split(gains[3], ends, " to "); seen = 1
     if (n == 2 && ends[1] + 0 > ends[2] + 0) exit 1 } END { exit !seen }' screen.txt || fail "a range is printed from greatest to least: $(cat screen.txt)"

# A drafter or a cut that the engine does not run is priced, and the screen says so.
expect 0 'Note: SGLang [0-9.]+ does not draft with Medusa.*; it is priced as if it did' estimate --target llama-3.1-8b --device h100-sxm --engine sglang --drafter medusa --acceptance 0.6
"$TREELINE" estimate --target llama-3.1-8b --device h100-sxm --engine vllm --drafter medusa --acceptance 0.6 | grep -q 'as if it did' && fail "vLLM runs Medusa heads"

# Longer requests than the model was made for are priced, and the screen says what engines do.
long='llama-2-7b is made for 4,096 tokens .*this asks for'
expect 0 "Note: $long 8,000" recommend --target llama-2-7b --device h100-sxm --engine vllm --drafter eagle3 --accept-length 4:2.5 --context 8000
expect 0 "Note: $long 4,100" estimate --target llama-2-7b --device h100-sxm --prompt 4000 --output-tokens 100 --concurrency 2
"$TREELINE" estimate --target llama-2-7b --device h100-sxm --prompt 4000 --output-tokens 96 --concurrency 2 | grep -q 'made for' && fail "4,096 tokens are too many"

# Sections.
expect 0 '[Rr]un .*CANDIDATES .*Runner-up.*TRUST ' recommend $qwen $served --stack vllm --explain candidates,trust
grep -q 'TPOT .*TTFT' out.txt && fail "--explain candidates prints the whole first screen"
for all in "--explain" "--explain all"; do
    expect 0 'More: .*CANDIDATES .*PARETO .*SENSITIVITY .*TRUST .*LOADS .*MEMORY .*OPERATIONS .*DEVICES .*ENGINE .*INPUTS ' recommend $qwen $served $all
    expect 0 'More: .*ROUND .*MEMORY .*OPERATIONS .*INPUTS ' estimate $point $all
done
expect 2 '^treeline: --explain: there is no section "memry"; write candidates, .* or all' recommend $qwen $served --explain memry
expect 2 '^treeline: --explain: there is no section "pareto"; write round, engine, memory, operations, inputs or all' estimate $point --explain pareto
expect 2 '^treeline: --explain belongs to the table' recommend $qwen $served --explain trust --format json
expect 2 '^treeline: --explain belongs to the table' estimate $point --explain round --format csv
expect 2 '^treeline: --explain needs the answer itself' recommend $qwen $served --explain trust --store kept.sqlite
finish
