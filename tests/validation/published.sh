# treeline validate on the published experiments: deterministic, fast, within the limits below, docs/trust.md up to date; and bad
# input leaves out what it spoils and nothing else.
. "$(dirname "$0")/../cli/lib.sh"

expect 0 'measurements' validate
"$TREELINE" validate --format json >first.json
"$TREELINE" validate --format json >second.json
checks=$((checks + 1))
cmp -s first.json second.json || fail "two runs differ"
# Guards, not goals: the issue asks for a median of 5 % and a 90th percentile of 15 %.
for limit in '/measurements/median 0.06' '/measurements/p90 0.18' '/memory/median 0.05' '/other_models_and_counts/max 0.01'; do
    set -- $limit
    checks=$((checks + 1))
    value=$("$JSON_GET" first.json "$1")
    awk -v value="$value" -v limit="$2" 'BEGIN { exit !(value != "" && value >= 0 && value <= limit) }' || fail "$1 is $value, above $2"
done

checks=$((checks + 1))
"$TREELINE" validate --format markdown >trust.md
cmp -s trust.md "$SOURCE/docs/trust.md" || {
    fail "docs/trust.md is stale:"
    diff -u "$SOURCE/docs/trust.md" trust.md | head -20
    echo "Write it anew: treeline validate --format markdown --output docs/trust.md"
}

# A file from outside: platforms that are fitted already, rows that are only predicted.
outside() {
    cat >outside.json <<END
{"format": "treeline-experiments", "version": 1, "paper": "Mine", "source": "my bench",
 "conditions": {"target": "mamba2-2.7b", "platform": "L40S", "context": 100},
 "tables": [{"id": "mine", "what": "steps", "observable": "round_time", "unit": "ms", "rows": [
   {"name": "good", "draft_tokens": 0, "value": 9.9, "role": "fit"},
   $1]}]}
END
}
bad() { # ROW PATTERN: exit code 2, a sentence that names file, table and row; the good row is predicted all the same
    outside "$1"
    checks=$((checks + 1))
    "$TREELINE" validate --experiments outside.json --format csv >out.txt 2>err.txt
    [ $? -eq 2 ] || fail "$1: exit code is not 2"
    grep -qE -- "outside.json: mine, bad: $2" err.txt || fail "$1: no sentence like \"$2\" in: $(cat err.txt)"
    grep -q '^Mine,mine,good,.*,test,' out.txt || fail "$1: the other row is not predicted as a test row"
}
outside '{"name": "also good", "draft_tokens": 0, "value": 10}'
expect 0 'Mine' validate --experiments outside.json
bad '{"name": "bad", "draft_tokens": 0, "value": 9.9, "platform": "L4S"}' 'unknown platform "L4S"; did you mean "L40S"'
bad '{"name": "bad", "draft_tokens": 0, "value": 9.9, "unit": "furlongs"}' 'unit: unknown unit "furlongs"'
bad '{"name": "bad", "draft_tokens": 0, "value": 9.9, "unit": "GB"}' 'unit: "GB" is no unit of round_time'
bad '{"name": "bad", "draft_tokens": 0, "value": -1}' 'value'
bad '{"name": "bad", "draft_tokens": 0, "value": 1e30}' 'value'
bad '{"name": "bad", "draft_tokens": 0}' 'value'
bad '{"name": "bad", "draft_tokens": 0, "value": 1, "rol": "fit"}' 'rol'
bad '{"name": "bad", "draft_tokens": 0, "value": 1, "case": "none"}' 'unknown case "none"'

platform() { # FREE ROLE PATTERN: a platform that cannot be fitted is left out, with a sentence
    cat >platform.json <<END
{"format": "treeline-experiments", "version": 1, "paper": "Mine", "source": "my bench",
 "platforms": {"mine": {"device": "l40s", "stack": "research-graph", "free": [$1]}},
 "conditions": {"target": "mamba2-2.7b", "platform": "mine", "context": 100},
 "tables": [{"id": "mine", "what": "steps", "observable": "round_time", "unit": "ms", "rows": [
   {"name": "a", "draft_tokens": 0, "value": 9.9, "role": "$2"}, {"name": "b", "draft_tokens": 0, "value": 9.9}]}]}
END
    checks=$((checks + 1))
    "$TREELINE" validate --experiments platform.json >out.txt 2>err.txt
    [ $? -eq 2 ] || fail "$1: exit code is not 2"
    grep -qE -- "platform.json: .*$3" err.txt || fail "$1: no sentence like \"$3\" in: $(cat err.txt)"
    grep -q 'Snakes and Ladders' out.txt || fail "$1: the rest did not run"
}
platform '"memory_efficiency"' test "has free parameters but no row with the role fit"
platform '"memory_efficiency", "kernel_startup"' fit "has 2 free parameters, but only 1 rows"
platform '"memory_efficiency"' fit "fits 1 of its 2 rows; at most a fifth"
platform '"memory_eficiency"' fit 'did you mean "memory_efficiency"'

# Under ten seconds (it takes well under one).
checks=$((checks + 1))
timeout 10 "$TREELINE" validate >out.txt || fail "takes more than 10 s"
finish
