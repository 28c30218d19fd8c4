# treeline decode: a real run whose tokens are those of plain decoding, every format, flags, bad input.
. "$(dirname "$0")/lib.sh"
tiny=$SOURCE/examples/decode/tiny-hybrid-snapshot.json

expect 0 'Example' decode --help
for file in "$SOURCE"/examples/decode/*.json; do
    checks=$((checks + 1))
    "$JSON_GET" "$file" /title >/dev/null && "$JSON_GET" "$file" /source >/dev/null || fail "$file: no title or source"
done
expect 0 'Tokens +all 96 are those of plain greedy decoding' decode "$tiny"
expect 0 'Tokens +all 64 are those of plain greedy decoding' decode "$SOURCE/examples/decode/tiny-experts-tree.json"
expect 0 'Tokens +all 96 are those of plain greedy decoding' decode "$SOURCE/examples/decode/tiny-delta-ring.json"

# The tokens depend on the seed alone; two runs are timed together.
checks=$((checks + 1))
"$TREELINE" decode "$tiny" --format json >first.json && "$TREELINE" decode "$tiny" --format json --repeat 2 >second.json ||
    fail "decode $tiny"
"$TREELINE" decode "$tiny" --format json --seed 2 >other.json
[ "$("$JSON_GET" first.json /tokens_equal_to_plain)" = 96 ] || fail "not all tokens are those of plain decoding"
[ "$("$JSON_GET" first.json /decoded/tokens)" = "$("$JSON_GET" second.json /decoded/tokens)" ] || fail "two runs differ in tokens"
[ "$("$JSON_GET" first.json /decoded/tokens)" = "$("$JSON_GET" other.json /decoded/tokens)" ] && fail "the seed changes nothing"
[ "$("$JSON_GET" second.json /decoded/rounds)" = "$((2 * $("$JSON_GET" first.json /decoded/rounds)))" ] || fail "--repeat 2 is not two runs"
checks=$((checks + 1))
"$TREELINE" decode "$tiny" --format csv >rounds.csv
head -1 rounds.csv | grep -q '^timed_round,tokens,draft_seconds,verify_seconds,accept_seconds,rollback_seconds,host_seconds,round_seconds' ||
    fail "columns: $(head -1 rounds.csv)"
awk -F, 'NR > 1 {sum = $3 + $4 + $5 + $6 + $7; if (sum > 1.001 * $8 || sum < 0.999 * $8) bad = 1} END {exit bad || NR < 3}' rounds.csv ||
    fail "phases do not sum to the round"

# Given acceptance: half of the first drafts, never a second one.
change() { sed "$1" "$tiny" >input.json; }
change 's/"acceptance": {"greedy": true}/"acceptance": {"per_position": [1, 0, 0]}/'
expect 0 'rounds by accepted drafts 0: 0, 1: 48, 2: 0, 3: 0' decode input.json

# Bad input
change 's/"rollback": "snapshot"/"rollback": "joint"/; s/"verification": "unrolled"/"verification": "packed"/'
expect 2 "input.json: 'joint' cannot follow verification 'packed'" decode input.json
change 's/"rollback": "snapshot"/"rollback": "snapshoot"/'
expect 2 'rollback: must be .*did you mean "snapshot"' decode input.json
change 's/"verification": "unrolled"/"verification": "unrolled-chunk"/'
expect 2 "'snapshot' cannot follow verification 'unrolled-chunk'" decode input.json
change 's/"layers": 3}/"layers": 30}/'
expect 2 "the drafter's number of layers is 30, but must be 1 to 6" decode input.json
change 's/"kind": "first-layers"/"kind": "first-layer"/'
expect 2 'drafter.kind: .*did you mean "first-layers"' decode input.json
change 's/{"greedy": true}/{"greedy": true, "per_rank": [0.5]}/'
expect 2 'acceptance: needs exactly one of' decode input.json
change 's/{"greedy": true}/{"per_position": [0.5]}/'
expect 2 'acceptance is given for 1 positions, but drafts have 3' decode input.json
change 's/"head_dim": 32/"head_dim": 33/'
expect 2 'head_dim' decode input.json
change 's/"batch": 2/"batch": 2, "draft_tokens": 3/'
expect 2 'shape: is given together with draft_tokens' decode input.json
change 's/"tokens": 48/"token": 48/'
expect 2 'token: unknown key; did you mean "tokens"' decode input.json
with_json '{"target": "zamba2-7b", "drafter": {"kind": "ngram"}}'
expect 2 'attention whose input width differs from the model.s has no kernel' decode input.json
with_json '{"drafter": {"kind": "ngram"}}'
expect 2 'target: is missing' decode input.json
expect 2 'device: must be "cpu", "cuda"' decode "$tiny" --device gpu
expect 2 '--repeat: must be a whole number' decode "$tiny" --repeat 0
# Without a GPU the reason is said; with one it runs.
checks=$((checks + 1))
"$TREELINE" decode "$tiny" --device cuda >out.txt 2>err.txt ||
    grep -q 'CUDA cannot be used here: .' err.txt || fail "--device cuda: $(cat err.txt)"
finish
