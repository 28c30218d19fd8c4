# treeline study fit and treeline break-even: formats in and out, figures by hand, bad input.
. "$(dirname "$0")/lib.sh"
examples=$SOURCE/examples/fits

# value POINTER EXPECTED ARGUMENT...: one value of the JSON output, numbers to 6 digits.
value() {
    local pointer=$1 expected=$2
    shift 2
    checks=$((checks + 1))
    "$TREELINE" "$@" --format json >value.json || fail "treeline $*"
    local got
    got=$("$JSON_GET" value.json "$pointer")
    case "$got" in
        *[!0-9.e+-]*) ;;
        *) got=$(LC_ALL=C awk -v v="$got" 'BEGIN {printf "%.6g", v}') ;;
    esac
    [ "$got" = "$expected" ] || fail "treeline $*: $pointer is $got instead of $expected"
}

# 10 + 0.5 n ms, without noise, in three notations and two units.
printf 'tokens,time_ms\n1,10.5\n2,11\n4,12\n8,14\n16,18\n' >line.csv
printf '# a comment\ntokens, time_us, spread_us\n\n1,10500,1\n2,11000,1\n4,12000,1\n8,14000,1\n16,18000,1\n' >line_us.csv
printf '[{"tokens":1,"time_ms":10.5},{"tokens":2,"time_ms":11},{"tokens":4,"time_s":0.012},{"tokens":8,"time_ms":14},{"tokens":16,"time_ms":18}]' >line.json
for file in line.csv line_us.csv line.json; do
    value /series/0/law/form linear study fit "$file"
    value /series/0/law/coefficients/a0 0.01 study fit "$file"
    value /series/0/law/coefficients/a1 0.0005 study fit "$file"
done
value /series/0/weights spread study fit line_us.csv
value /series/0/weights relative study fit line.csv
value /series/0/law/form quadratic study fit line.csv --law quadratic
value /series/0/selected linear study fit line.csv --law quadratic
# 10 + 0.5 * 40 = 30 ms, beyond the measurements.
value /series/0/predictions/0/time_s 0.03 study fit line.csv --at 40
value /series/0/predictions/0/extrapolated true study fit line.csv --at 40
expect 0 'linear, T\(n\) = 10.0? ms \+ 500 us n' study fit line.csv
# A result is an input again, and gives the same.
"$TREELINE" study fit line_us.csv --format json --output first.json && "$TREELINE" study fit first.json --format json --output second.json
checks=$((checks + 1))
cmp -s first.json second.json || fail "a result read again gives another one"
checks=$((checks + 1))
[ "$("$TREELINE" study fit line.csv --format csv | wc -l)" -eq 6 ] || fail "CSV: a title and one line a row"

# llama-bench -o json: prompts of T tokens at depth d; rows that generate are left out.
llama() { printf '{"model_type":"llama 8B Q4_0","n_ubatch":512,"n_prompt":%s,"n_gen":%s,"n_depth":%s,"avg_ns":%s,"stddev_ns":1000,"samples_ns":[%s,%s]}' "$1" "$2" "$3" "$4" "$4" "$4"; }
{
    printf '['
    for depth in 0 4096; do
        for tokens in 1 2 4 8 16; do printf '%s,' "$(llama "$tokens" 0 "$depth" $((20000000 + depth * 1000 + tokens * 300000)))"; done
    done
    printf '%s,%s]' "$(llama 1024 0 0 500000000)" "$(llama 0 128 0 2700000000)"
} >bench.json
value /series/1/name 'llama 8B Q4_0 at context 4096' fit bench.json
value /series/1/law/coefficients/a0 0.024096 study fit bench.json
value /series/1/law/coefficients/a1 0.0003 study fit bench.json
expect 0 '1 rows of llama-bench that generate .*1 rows of llama-bench with more prompt tokens than n_ubatch' study fit bench.json
expect 0 'context 4096: linear' study fit bench.json --series 'llama 8B Q4_0 at context 4096'

# Every example, with its page.
expect 0 'Mamba2-2.7B, chain of Mamba2-130M: linear' study fit "$examples/stree-repository-runs.csv" --html fit.html
for file in "$examples"/break-even-*.json; do
    expect 0 'tree' study break-even "$file" --html break_even.html
    "$JSON_GET" "$file" /title >/dev/null && "$JSON_GET" "$file" /source >/dev/null || fail "$file: no title or source"
    checks=$((checks + 1))
    grep -q '</html>' break_even.html && grep -q 'Accept-length ratio' break_even.html || fail "$file: the page is not whole"
done
checks=$((checks + 1))
grep -q '</html>' fit.html && grep -q 'What each law misses' fit.html || fail "the page of fits is not whole"

# STree's own runs: 2.76 / 39.9 ms against 2.11 / 30.5 ms: 69.17 / 69.18 tokens a second. Best chain: 2.11 / 30.5 = 0.069180, 2.05 / 29.8 = 0.068792.
value /chain/draft_tokens 5 study break-even "$examples/break-even-stree-8b.json"
value /sizes/2/ratio_needed 1.3082 study break-even "$examples/break-even-stree-8b.json"
value /sizes/2/ratio_reached 1.30806 study break-even "$examples/break-even-stree-8b.json"

# Simulated rounds are those of `treeline estimate`: time of a round = TPOT * accept length.
"$TREELINE" study break-even "$examples/break-even-mamba2-2.7b.json" --format json >rounds.json
"$TREELINE" estimate --model mamba2-2.7b --device rtx-3090 --stack cuda-graph --draft-tokens "$("$JSON_GET" rounds.json /chain/draft_tokens)" \
    --drafter '{"kind": "model", "model": "mamba2-130m", "acceptance": {"mean_length": 3.08, "draft_tokens": 5}}' --format json >point.json
checks=$((checks + 1))
LC_ALL=C awk -v t="$("$JSON_GET" rounds.json /chain/time_s)" -v p="$("$JSON_GET" point.json /speculative/tpot_ms)" -v a="$("$JSON_GET" point.json /accept_length)" \
    'BEGIN {exit !(t > 0 && (1000 * t / (p * a) - 1) ^ 2 < 1e-18)}' || fail "a simulated chain costs something else than estimate says"
# Time grows with nodes while the accept length levels off, so trees stop paying somewhere.
checks=$((checks + 1))
[ "$("$JSON_GET" rounds.json /stops_at)" -lt 128 ] || fail "trees should stop paying before 128 nodes"

# Laws by hand: tree 10 + n ms, chain of 1 draft 12 ms; ranks 0.5 and 0.25 on one level (tests/calibrate/break_even_test.cpp).
law='{"law": "linear", "coefficients": [10, 1], "unit": "ms", "source": "by hand", "kind": "assumed"}'
both() { printf '{"tree": {"nodes": {"from": 1, "to": 4}, "depth": 1, "verify": %s}, "chain": {"draft_tokens": 1}%s}' "$1" "${2:-}"; }
both "$law" ', "acceptance": {"per_rank": [0.5, 0.25]}' >input.json
value /pays_from 2 study break-even input.json
value /sizes/1/gain 1.07692 study break-even input.json
expect 0 'A tree pays at 2 nodes, with 1.08x the speed of a chain of 1 draft token' study break-even input.json
checks=$((checks + 1))
[ "$("$TREELINE" study break-even input.json --format csv | wc -l)" -eq 3 ] || fail "break-even: two trees differ in size here"
# Without acceptance only the ratio follows: 15/12.
both "$law" >input.json
value /sizes/3/ratio_needed 1.25 study break-even input.json
expect 0 'must reach 1.250 times the accept length of a chain of 1' study break-even input.json
# Drafting: 1 ms fixed, 0.5 ms a node: (15 + 1 + 4 * 0.5) / 12 = 1.5; the chain is given its own costs.
with_json '{"tree": {"nodes": 4, "verify": '"$law"', "drafting": {"fixed": {"value": 1, "unit": "ms", "source": "by hand", "kind": "assumed"}, "per_node": {"value": 500, "unit": "us", "source": "by hand", "kind": "assumed"}}}, "chain": {"draft_tokens": 1, "accept_length": 1.5, "verify": '"$law"'}}'
value /sizes/0/ratio_needed 1.5 study break-even input.json
value /sizes/0/accept_length_needed 2.25 study break-even input.json
# A fit and a table of the same line: 10 + 0.5 * 5 against 10 + 0.5 * 2 = 12.5 / 11.
both '{"fit": "first.json"}' >input.json
value /sizes/3/ratio_needed 1.13636 study break-even input.json
both '{"measured": "line.csv", "as": "table"}' >input.json
value /sizes/3/ratio_needed 1.13636 study break-even input.json

# Bad input: files of times
expect 2 'FILE is required' study fit
expect 2 'no-such.csv: cannot be opened' study fit no-such.csv
bad_csv() {
    printf "$2" >bad.csv
    expect 2 "bad.csv: $1" study fit bad.csv
}
bad_csv 'is empty; a header such as tokens,time_ms' ''
bad_csv 'the header needs a column tokens and one of time_s' 'tokens\n1\n'
bad_csv 'the header has an unknown column "tokns"; did you mean "tokens"' 'tokns,time_ms\n1,2\n'
bad_csv 'the header gives the same quantity twice: time_s' 'tokens,time_ms,time_s\n1,2,3\n'
bad_csv 'line 3: time_ms must be above zero, not 0' 'tokens,time_ms\n1,2\n2,0\n'
bad_csv 'line 2: time_ms must be a number, not "nan"' 'tokens,time_ms\n1,nan\n'
bad_csv 'line 2: tokens must be zero or above' 'tokens,time_ms\n-1,2\n'
bad_csv 'line 2: has 3 fields, but the header has 2' 'tokens,time_ms\n1,2,3\n'
bad_csv 'row 2: a spread must be given in every row or in none' 'tokens,time_ms,spread_ms\n1,2,1\n2,3,\n4,4,1\n'
bad_csv 'needs times at three or more token counts' 'tokens,time_ms\n4,2\n4,3\n4,4\n'
bad_csv 'series "a": needs times at three' 'tokens,time_ms,series\n4,2,a\n5,3,a\n'
with_json '[{"tokens": 1, "time": 2}]'
expect 2 'rows\[0\]: needs one of time_s' study fit input.json
with_json '[{"tokens": 1, "time_ms": 0}]'
expect 2 'rows\[0\]: time_ms: must be above zero' study fit input.json
with_json '{"rows": []}'
expect 2 'rows: ' study fit input.json
expect 2 '--law: must be auto, constant, linear, quadratic or hinge, not "liner"; did you mean "linear"' study fit line.csv --law liner
expect 2 'a hinge law needs|hinge' study fit "$examples/stree-repository-runs.csv" --law hinge
expect 2 'weights by spread need rows that state one' study fit line.csv --weights spread
expect 2 '--at: must be a number' study fit line.csv --at 1,x
expect 2 '--confidence: must be a number between' study fit line.csv --confidence 2
expect 2 'has no series "b"' study fit line.csv --series b

# Bad input: break-even
expect 2 'no-such.json: cannot be opened' study break-even no-such.json
bad_json() {
    printf '%s' "$2" >input.json
    expect 2 "$1" study break-even input.json
}
bad_json 'tree: is missing' '{}'
bad_json 'tree: needs verify .* or simulate' '{"tree": {"nodes": 4}, "chain": {"draft_tokens": 1}}'
bad_json 'tree.verify: needs one of law, fit and measured' "$(both '{}')"
bad_json 'a linear law has 2 coefficients \(a0 \+ a1 n\), not 1' "$(both '{"law": "linear", "coefficients": [10], "unit": "ms", "source": "x", "kind": "assumed"}')"
bad_json 'tree.verify.law: must be' "$(both '{"law": "cubic", "coefficients": [10], "unit": "ms", "source": "x", "kind": "assumed"}')"
bad_json 'table covers 1 to 16 tokens' '{"tree": {"nodes": 40, "verify": {"measured": "line.csv", "as": "table"}}, "chain": {"draft_tokens": 1}}'
bad_json 'no-such.csv: cannot be opened' "$(both '{"measured": "no-such.csv"}')"
bad_json 'time of a round with the tree of 4 nodes must be above zero' '{"tree": {"nodes": 4, "verify": {"law": "linear", "coefficients": [10, -2.5], "unit": "ms", "source": "x", "kind": "assumed"}}, "chain": {"draft_tokens": 1}}'
bad_json 'chain.accept_length: is 0.5, but must lie between 1' '{"tree": {"nodes": 4, "verify": '"$law"'}, "chain": {"draft_tokens": 1, "accept_length": 0.5}}'
bad_json 'without acceptance the fastest is unknown' '{"tree": {"nodes": 4, "verify": '"$law"'}, "chain": {"draft_tokens": [1, 2]}}'
bad_json 'unknown key; did you mean "nodes"' '{"tree": {"nodes": 4, "nods": 3, "verify": '"$law"'}, "chain": {"draft_tokens": 1}}'
bad_json 'gives verify and simulate' '{"tree": {"nodes": 4, "verify": '"$law"', "simulate": {}}, "chain": {"draft_tokens": 1}}'
finish
