# treeline study bandit, policies and traffic: examples, reproducible results, bad input.
. "$(dirname "$0")/lib.sh"
bandits=$SOURCE/examples/bandit
traffics=$SOURCE/examples/traffic

# value POINTER EXPECTED ARGUMENT...: one value of the JSON output.
value() {
    local pointer=$1 expected=$2
    shift 2
    checks=$((checks + 1))
    "$TREELINE" "$@" --format json >value.json || fail "treeline $*"
    local got
    got=$("$JSON_GET" value.json "$pointer")
    [ "$got" = "$expected" ] || fail "treeline $*: $pointer is $got instead of $expected"
}

# same COMMAND FILE: neither threads nor a second run change the result; another seed does.
same() {
    checks=$((checks + 1))
    "$TREELINE" "$1" "$2" --format json --threads 1 >one.txt || fail "$1 $2 --format json"
    "$TREELINE" "$1" "$2" --format json --threads 3 >three.txt
    cmp -s one.txt three.txt || fail "$1 $2 --format json: the number of threads changes the result"
    "$TREELINE" "$1" "$2" --format csv >one.txt
    "$TREELINE" "$1" "$2" --format csv --seed 2 >two.txt
    cmp -s one.txt two.txt && fail "$1 $2: the seed changes nothing"
}

for command in 'study bandit' 'study traffic'; do
    expect 0 'Example' $command --help
done
for file in "$bandits"/*.json; do
    expect 0 'The bandit decodes .* tokens/s.*Source' study bandit "$file"
    same bandit "$file"
done
expect 0 'Example' study policies --help
block_drafter=$SOURCE/examples/policies/dspark-qwen3-14b-h100.json  # a simulation of seconds: run once
for file in "$SOURCE"/examples/policies/*.json; do
    [ "$file" = "$block_drafter" ] || expect 0 'the best fixed.*adaptive-verification.*Source' study policies "$file"
done
# A block drafter's verification costs time at large batches, and confidence saves part of it; the page is whole.
expect 0 'adaptive-verification gains +\+[0-9.]+ % +over fixed.*the best fixed.*Source' study policies "$block_drafter" --html policies.html
cp out.txt policies.txt
checks=$((checks + 1))
grep -q '</html>' policies.html || fail "the page of policies is not whole"
with_json '{"design_point": {"target": "llama-3-8b", "platform": "h100-sxm", "drafter": {"kind": "ngram", "acceptance": {"geometric": 0.5}},
    "draft_tokens": 3, "context": 1000}, "batch": 1}'
expect 2 'draft_tokens: is not for a policy' study policies input.json
for file in "$traffics"/*.json; do
    expect 0 'requests/s .*schedule.*Source' study traffic "$file"
    same traffic "$file"
done

# Mamba Drafters (arXiv 2506.01206), tables 5 to 7: (3,2,2,1,1) yields 3.91 tokens in 30.70 ms on MT-bench, and is faster than (3,3,2,1) there.
expect 0 'MT-bench .*\(3,2,2,1,1\) +3.912 +30.7 ms +127 .*fastest' study bandit "$bandits/mamba-drafters.json"
value /tasks/0/fastest '(3,2,2,1,1)' study bandit "$bandits/mamba-drafters.json"
# On code the deepest tree is the fastest, by both measures.
value /tasks/1/fastest '(2,2,2,1,1,1)' study bandit "$bandits/mamba-drafters.json"
value /tasks/1/best_reward '(2,2,2,1,1,1)' study bandit "$bandits/mamba-drafters.json"

# A page of charts beside the table.
expect 0 'requests/s' study traffic "$traffics/measured-table.json" --html traffic.html
expect 0 'tokens/s' study bandit "$bandits/mamba-drafters.json" --html bandit.html
checks=$((checks + 1))
grep -q '</html>' traffic.html && grep -q '</html>' bandit.html || fail "a page is not whole"
expect 2 'no-such-folder' study bandit "$bandits/mamba-drafters.json" --html no-such-folder/page.html

# One shape cannot lose to itself: 2 tokens every 10 ms.
one='{"arms": [{"name": "a", "draft_passes": 1, "round_ms": 10}], "draft_share": 0, "exploration": 1,
    "tasks": [{"name": "t", "accepted_exactly": {"a": [0, 1]}}], "sequence": [{"task": "t", "rounds": 50}]}'
with_json "$one"
expect 0 'decodes 200 tokens/s: \+0.0 % against a throughout' study bandit input.json

# A table at one batch: 100 tokens of 10 ms plainly are 1 s, so one a second is too much.
plain='{"batch": [1], "capacity": 1, "output_tokens": 100, "arrivals_per_second": 1,
    "settings": [{"name": "plain", "round_ms": [10]}]}'
with_json "$plain"
expect 0 'plain cannot keep up with 1 requests/s or more: full batches of 1 serve at most 1' study traffic input.json
value /continuous_batching/0/e2e_ms/mean '[null]' study traffic input.json
# Once a day nobody waits: 10 ms to the first token, 1 s to the last of 100.
with_json "${plain/\"arrivals_per_second\": 1/\"arrivals_per_second\": [0.00001, 2\]}"
expect 0 ' 10.0 / 10.0 / 10.0 +10.0 +10.0 +1000 .* 1000 / 1000 / 1000 ' study traffic input.json

# changed FROM TO: the file of the last example with one thing changed.
changed() {
    local text
    text=$(cat "$base")
    with_json "${text/"$1"/"$2"}"
    cmp -s "$base" input.json && fail "nothing like $1 in $base"
}

base=$bandits/mamba-drafters.json
changed '"exploration"' '"exploratoin"'
expect 2 'exploratoin: unknown key; did you mean "exploration"' study bandit input.json
changed '"draft_share": 0.0741' '"draft_share": -1'
expect 2 'draft_share: .*between 0' study bandit input.json
changed '[0.78, 0.04, 0.03]' '[0.78, 0.34, 0.03]'
expect 2 'tasks\[0\].acceptance: .*sums to 1.15' study bandit input.json
changed '"per_rank": [0.78, 0.04, 0.03]' '"geometric": 0.7'
expect 2 'MT-bench, \(3,3,2,1\): ' study bandit input.json
changed '"task": "HumanEval"' '"task": "HumanEvil"'
expect 2 'sequence\[1\].task: must be .*did you mean "HumanEval"' study bandit input.json
changed '"rounds": 5000' '"rounds": 0'
expect 2 'sequence\[0\].rounds: .*between 1' study bandit input.json
changed '"default": "(3,3,2,1)"' '"default": "(3,3)"'
expect 2 'default: must be' study bandit input.json
changed '"round_ms": 29.04' '"round_ms": 0'
expect 2 'arms\[0\].round_ms: .*between' study bandit input.json
changed '"repetitions": 40' '"repetitions": 100000'
expect 2 'sequence: has 15000 rounds' study bandit input.json
changed '"shape": "branching:3,3,2,1"' '"draft_passes": 4'
expect 2 'arms: "\(3,3,2,1\)" has no shape' study bandit input.json
with_json "${one/\[0, 1\]/[0.5, 0.6\]}"
expect 2 'tasks\[0\].accepted_exactly.a: sums to 1.10, but' study bandit input.json
with_json "${one/\[0, 1\]/[1.5, -0.5\]}"
expect 2 'accepted_exactly.a\[0\]: .*between 0 and 1' study bandit input.json
with_json "${one/\"a\": [0, 1\]/\"b\": [1\]}"
expect 2 'accepted_exactly.a: is missing' study bandit input.json
with_json '{"arms": [], "draft_share": 0, "exploration": 1, "tasks": [], "sequence": []}'
expect 2 'arms: .*at least one' study bandit input.json
with_json '{"arms": [{"draft_passes": 1, "round_ms": 10}], "draft_share": 0, "exploration": 1, "tasks": [], "sequence": [{"task": "t", "rounds": 50}]}'
expect 2 'tasks: is empty' study bandit input.json
expect 2 'FILE' study bandit
expect 2 '--seed: must be a whole number' study bandit "$base" --seed x
expect 2 'nowhere.json: cannot be opened' study bandit nowhere.json

base=$traffics/measured-table.json
changed '[0.3, 0.21, 0.49]' '[0.3, 0.21, 0.59]'
expect 2 'settings\[1\].accepted_exactly: sums to 1.10, but the probabilities' study traffic input.json
changed '[0.5, 2, 6, 10, 13]' '[-1]'
expect 2 'arrivals_per_second\[0\]: .*between' study traffic input.json
changed '[0.5, 2, 6, 10, 13]' '-3'
expect 2 'arrivals_per_second: .*between' study traffic input.json
changed '[0.5, 2, 6, 10, 13]' '[2, 1]'
expect 2 'arrivals_per_second: must increase' study traffic input.json
changed '[10.0, 10.4, 12.0, 20.0]' '[]'
expect 2 'settings\[0\].round_ms: .*at least one' study traffic input.json
changed '[10.0, 10.4, 12.0, 20.0]' '[10.0, 10.4]'
expect 2 'settings\[0\].round_ms: has 2 times for 4 batches' study traffic input.json
changed '[10.0, 10.4, 12.0, 20.0]' '[10.0, -10.4, 12.0, 20.0]'
expect 2 '^treeline: [^ ]*: settings\[0\].round_ms\[1\]: [^:]*$' study traffic input.json
changed '"capacity": 64' '"capacity": 65'
expect 2 'batch: ends at 64, below the capacity of 65' study traffic input.json
changed '"batch": [1, 4' '"batch": [2, 4'
expect 2 'batch: must increase and start at 1' study traffic input.json
changed '"output_tokens": 200' '"output_tokens": 0'
expect 2 'output_tokens: .*between 1' study traffic input.json
changed '"output_tokens": 200' '"output_tokens": 1000000'
expect 2 'simulation: asks for .* tokens' study traffic input.json
changed '"opens": "first_request"' '"opens": "first_requst"'
expect 2 'clearing.opens: .*did you mean "first_request"' study traffic input.json
changed '"wait_ms"' '"wait_m"'
expect 2 'clearing.wait_m: unknown key; did you mean "wait_ms"' study traffic input.json
changed '"name": "chain 2"' '"name": "plain"'
expect 2 'settings: holds "plain" twice' study traffic input.json
changed '"name": "plain",' '"name": "plain", "accepted_exactly": [0.5, 0.5],'
expect 2 'settings: none is plain decoding' study traffic input.json
with_json '{"batch": [1], "capacity": 1, "output_tokens": 100, "arrivals_per_second": 1, "settings": []}'
expect 2 'settings: .*at least one' study traffic input.json
base=$traffics/llama-3-8b-eagle-h100.json
changed '"capacity": 128' '"capacity": 4096'
expect 2 'does not fit at batch [0-9]+ and context 2048' study traffic input.json
changed '"h100-sxm"' '"h100-smx"'
expect 2 'did you mean "h100-sxm"' study traffic input.json
expect 2 'FILE' study traffic
# The figures of docs/drafters.md are what the program prints.
sed -n '/^\$ treeline study policies/,/^```$/p' "$SOURCE/docs/drafters.md" | sed '1d;$d' | grep -v '^\.\.\.$' >shown.txt
while IFS= read -r line; do
    checks=$((checks + 1))
    grep -qxF -- "$line" policies.txt || fail "docs/drafters.md shows what study policies does not print: $line"
done <shown.txt
[ "$(wc -l <shown.txt)" = 3 ] || fail "the block of study policies was not found in docs/drafters.md"

finish
