# treeline validate on the published experiments: deterministic, fast, within the limits below, docs/trust.md up to date; and bad
# input leaves out what it spoils and nothing else.
. "$(dirname "$0")/../cli/lib.sh"

expect 0 'measurements' validate
"$TREELINE" validate --format json >first.json
"$TREELINE" validate --format json >second.json
checks=$((checks + 1))
cmp -s first.json second.json || fail "two runs differ"
# The limits. (The winner is compared with choices that were measured under the same conditions.)
within() { # POINTER LOWEST HIGHEST
    checks=$((checks + 1))
    value=$("$JSON_GET" first.json "$1")
    awk -v value="$value" -v low="$2" -v high="$3" 'BEGIN { exit !(value != "" && value >= low && value <= high) }' ||
        fail "$1 is $value, not within $2 and $3"
}
within /measurements/median 0 0.05
within /measurements/p90 0 0.15
within /memory/median 0 0.05
within /other_models_and_counts/max 0 0.01
within /winners_right 0.9 1
within /mean_regret 0 0.03
within /memory_fits/right "$("$JSON_GET" first.json /memory_fits/cells)" 1000
within /memory_fits/out_of_memory/cells 1 1000

# docs/trust.md ends with measured rows, which lie beside the checkout or nowhere; without them the part before is compared.
checks=$((checks + 1))
data="$SOURCE/../shared/data"
cp "$SOURCE/docs/trust.md" documented.md
if [ -e "$data/speculation/measured.json" ]; then
    "$TREELINE" validate --serving "$data/serving/silicon_tpot.csv" --serving "$data/serving/silicon_tpot_moe.csv" \
        --speculation "$data/speculation/measured.json" --speculation "$data/speculation/measured_2026-11-25.json" \
        --mode roofline --mode calibrated --format markdown \
        --errors errors.json >trust.md
    checks=$((checks + 1))
    cmp -s errors.json "$SOURCE/hardware/errors/serving.json" ||
        fail "hardware/errors/serving.json is stale: write it anew with --errors, as docs/trust.md is written"
    # A citation that is misspelt there would leave rows that a number was fitted to among the unseen ones.
    checks=$((checks + 1))
    unused=$(python3 - "$SOURCE/validation/serving/evidence.json" "$SOURCE/tests/validation/llama_cpp_steps.csv" \
        "$SOURCE/tests/validation/apple_steps.csv" \
        "$data"/speculation/measured*.json <<'PYTHON'
import csv, fnmatch, json, re, sys
evidence, steps, apple, *measured = sys.argv[1:]
sources = [row["source"] for file in (steps, apple) for row in csv.DictReader(line for line in open(file) if not line.startswith("#"))]
for file in measured:
    rows = json.load(open(file))
    sources += [row["citation"] for row in (rows if isinstance(rows, list) else rows.get("rows") or rows["measurements"])]
cited = {re.sub(r"[^a-z0-9.+]+", "-", source.lower()).strip("-") for source in sources}
patterns = [pattern for entry in json.load(open(evidence))["entries"] for pattern in entry["citations"]]
print(*[pattern for pattern in patterns if not any(fnmatch.fnmatch(text, pattern) for text in cited)])
PYTHON
    )
    [ -z "$unused" ] || fail "validation/serving/evidence.json: no measured row has a citation like $unused"
else
    echo "SKIPPED: the measured rows of docs/trust.md; ../shared/data is not here"
    "$TREELINE" validate --format markdown >trust.md
    sed -i '/^## Measured serving rows/,$d' documented.md
    sed -i '$d' documented.md
fi
cmp -s trust.md documented.md || {
    fail "docs/trust.md is stale:"
    diff -u documented.md trust.md | head -20
    echo "Write it anew: the command in the first lines of docs/trust.md"
}

# Speed-ups that were collected after everything was fitted: no number may ever be fitted to them and they still be called unseen.
"$TREELINE" validate --speculation "$SOURCE/tests/validation/unseen_pairs.json" --no-papers --mode calibrated --rows --format csv >unseen.csv
checks=$((checks + 1))
python3 - unseen.csv <<'END' || fail "tests/validation/unseen_pairs.json"
import csv, sys
rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["table"] == "given-accept-length" and row["predicted"] and not row["left_out"]]
seen = [row["id"] for row in rows if not row["evidence"].startswith("unseen")]
print(len(rows), "pairs are priced;", len(seen), "of them numbers were fitted to:", *seen[:5])
sys.exit(len(rows) < 125 or bool(seen))
END

# The README's summary. Without the measured rows, that of the documented file, which the rows were compared with where they lie.
checks=$((checks + 1))
"$SOURCE/scripts/trust_summary.sh" "$SOURCE/docs/trust.md" >summary.md
sed -n '/trust summary: begin/,/trust summary: end/p' "$SOURCE/README.md" | sed '1d;$d' >readme-summary.md
cmp -s summary.md readme-summary.md || {
    fail "the README's figures are stale; between its marks belongs what scripts/trust_summary.sh docs/trust.md prints:"
    diff -u readme-summary.md summary.md | head -20
}
[ "$(wc -l <summary.md)" -ge 11 ] || fail "scripts/trust_summary.sh finds too few rows: $(cat summary.md)"

expect 0 'measurements' validate --html page.html
for needed in 'Predicted against measured' 'error-tokens' 'error-batch' 'error-size' 'error-context' 'host, outside the passes' 'Fitted for A10G, on 8 rows' '"board"' 'this row was fitted'; do
    checks=$((checks + 1))
    grep -q -- "$needed" page.html || fail "the page lacks '$needed'"
done
"$TREELINE" validate --format html >page-of-format.html
checks=$((checks + 1))
cmp -s page.html page-of-format.html || fail "--format html and --html differ"

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
rows=() sentences=()
bad() { # ROW PATTERN: what bad_rows then checks, for all rows in one file
    rows+=("${1/\"name\": \"bad\"/\"name\": \"bad ${#rows[@]}\"}") sentences+=("$2")
}
bad_rows() { # exit code 2, a sentence that names file, table and row for each; the good row is predicted all the same
    outside "$(printf '%s,\n   ' "${rows[@]::${#rows[@]}-1}")${rows[-1]}"
    "$TREELINE" validate --experiments outside.json --format csv >out.txt 2>err.txt
    [ $? -eq 2 ] || fail "bad rows: exit code is not 2"
    grep -q '^Mine,mine,good,.*,test,' out.txt || fail "bad rows: the good row is not predicted as a test row"
    local i
    for i in "${!rows[@]}"; do
        checks=$((checks + 1))
        grep -qE -- "outside.json: mine, bad $i: ${sentences[i]}" err.txt || fail "${rows[i]}: no sentence like \"${sentences[i]}\" in: $(cat err.txt)"
    done
    [ "$(grep -c '^Mine,mine,' out.txt)" = 1 ] || fail "a bad row is predicted: $(grep '^Mine,mine,' out.txt)"
}
outside '{"name": "also good", "draft_tokens": 0, "value": 10}'
expect 0 'Mine' validate --experiments outside.json
bad '{"name": "bad", "draft_tokens": 0, "value": 9.9, "platform": "L4S"}' 'unknown platform "L4S"; did you mean "L40S"'
bad '{"name": "bad", "draft_tokens": 0, "value": 9.9, "unit": "furlongs"}' 'unit: unknown unit "furlongs"'
bad '{"name": "bad", "draft_tokens": 0, "value": 9.9, "unit": "GB"}' 'unit: "GB" is not a unit of round_time'
bad '{"name": "bad", "draft_tokens": 0, "value": -1}' 'value'
bad '{"name": "bad", "draft_tokens": 0, "value": 1e30}' 'value'
bad '{"name": "bad", "draft_tokens": 0}' 'value'
bad '{"name": "bad", "draft_tokens": 0, "value": 1, "rol": "fit"}' 'rol'
bad '{"name": "bad", "draft_tokens": 0, "value": 1, "case": "none"}' 'unknown case "none"'

bad '{"name": "bad", "value": 9.9, "out_of_memory": true, "draft_tokens": 0}' 'out_of_memory: applies to memory rows, not to round_time'
bad '{"name": "bad", "value": 1.1, "platform": "SpecMamba on VCK190", "target": "llama-3-8b", "draft_tokens": 0}' '.*llama-3-8b'
bad '{"name": "bad", "value": 1.1, "platform": "SpecMamba on VCK190", "stage": "T9", "draft_tokens": 0}' 'stage must be '
bad '{"name": "bad", "value": 1.1, "observable": "tokens_per_joule", "unit": "tokens/J", "platform": "SpecMamba on VCK190", "draft_tokens": 0, "batch": 2}' 'batch'

# A drafter without a number of drafts would be priced with the default of `treeline estimate`.
bad '{"name": "bad", "value": 9.9, "drafter": {"kind": "model", "model": "mamba2-130m"}, "accept_length": 2}' 'has a drafter, but neither "draft_tokens" nor "shape"'
bad '{"name": "bad", "value": 1.1, "draft_tokens": 0, "relative_to": 5}' 'relative_to must be an object'
bad '{"name": "bad", "value": 1.1, "draft_tokens": 0, "relative_to": {"platform": "nowhere"}}' 'unknown platform "nowhere"'
bad '{"name": "bad", "value": 9.9, "ran": true, "observable": "memory", "unit": "GB", "draft_tokens": 0}' 'value: has no effect with ran'
bad_rows

# Conditions and cases of a published file, and a device by its path, from a folder of its own.
mkdir -p mine
sed 's/"title": "[^"]*"/"title": "My L40S"/; /"calibration"/d' "$SOURCE/hardware/gpu/l40s.json" >mine/my-l40s.json
cat >mine/extended.json <<END
{"format": "treeline-experiments", "version": 1, "paper": "Mine", "source": "my bench", "extends": "stree",
 "platforms": {"my card": {"device": "my-l40s.json", "stack": "research-graph"}},
 "conditions": {"platform": "my card"},
 "tables": [{"id": "mine", "what": "steps", "observable": "round_time", "unit": "ms", "rows": [
   {"name": "a case of stree", "case": "plain", "target": "mamba2-2.7b", "context": 100, "value": 9.9}]}]}
END
cat >later.json <<END
{"format": "treeline-experiments", "version": 1, "paper": "Later", "source": "my bench", "extends": "extended",
 "conditions": {"target": "mamba2-2.7b", "context": 100},
 "tables": [{"id": "later", "what": "steps", "observable": "round_time", "unit": "ms", "rows": [
   {"name": "on a platform of a file in another folder", "draft_tokens": 0, "value": 9.9}]}]}
END
expect 0 'Later' validate --experiments mine/extended.json --experiments later.json --format csv
checks=$((checks + 1))
grep -q '^Mine,mine,a case of stree,' out.txt || fail "the case of another file is not predicted"
sed -i 's/"extends": "stree"/"extends": "stre"/' mine/extended.json
checks=$((checks + 1))
"$TREELINE" validate --experiments mine/extended.json >out.txt 2>err.txt
[ $? -eq 2 ] || fail "extends a file that is not there: exit code is not 2"
grep -q 'extended.json: extends: names "stre", which is not an earlier file; did you mean "stree"' err.txt ||
    fail "no sentence on extends: $(cat err.txt)"

# Whether a run fits into memory: a million tokens of a Transformer's cache (131 GB) do not fit into 48 GB, a Mamba's state does.
memory() { # TARGET RIGHT
    cat >memory.json <<END
{"format": "treeline-experiments", "version": 1, "paper": "Mine", "source": "my bench",
 "conditions": {"target": "$1", "platform": "L40S", "context": 1000000},
 "tables": [{"id": "mine", "what": "memory", "observable": "memory", "unit": "GB", "rows": [
   {"name": "full", "draft_tokens": 0, "out_of_memory": true}]}]}
END
    "$TREELINE" validate --experiments memory.json --format json >memory-out.json || fail "$1: out_of_memory is refused"
    checks=$((checks + 1))
    cells=$("$JSON_GET" memory-out.json /memory_fits/cells)
    right=$("$JSON_GET" memory-out.json /memory_fits/right)
    [ "$((cells - right))" -eq "$2" ] || fail "$1: $right of $cells memory cells are right"
}
memory llama-3-8b 0
memory mamba2-2.7b 1

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

# An accelerator is fitted in its description, not here.
cat >design.json <<END
{"format": "treeline-experiments", "version": 1, "paper": "Mine", "source": "my bench",
 "platforms": {"mine": {"design": "specmamba-vck190", "free": ["memory_efficiency"]}}, "tables": []}
END
"$TREELINE" validate --experiments design.json >out.txt 2>err.txt
[ $? -eq 2 ] || fail "a design with free parameters: exit code is not 2"
checks=$((checks + 1))
grep -q 'design.json: platforms.mine.free: has no effect with design' err.txt || fail "no sentence on free parameters: $(cat err.txt)"

# Files that cannot be read at all: a sentence each, and the rest runs.
echo '{"format": "treeline-experiments", "version": 1' >broken.json
echo '{"format": "something else", "version": 1, "paper": "Mine", "source": "my bench", "tables": []}' >other.json
for file in broken.json other.json missing.json; do
    checks=$((checks + 1))
    "$TREELINE" validate --experiments "$file" >out.txt 2>err.txt
    [ $? -eq 2 ] || fail "$file: exit code is not 2"
    grep -q -- "$file" err.txt || fail "$file: no sentence names it: $(cat err.txt)"
    grep -q 'Snakes and Ladders' out.txt || fail "$file: the rest did not run"
done

# Measured rows from outside.
cat >runs.csv <<END
id,backend,model,system,precision,isl,osl,batch_size,tp,tpot_ms
mine,vllm,meta-llama/Llama-3.1-8B-Instruct,h100_sxm,bf16,1000,500,8,1,9
strange,vllm,Some/Model,h100_sxm,bf16,1000,500,8,1,9
END
expect 0 'runs.csv,1,mine,,roofline,time-per-token,llama-3.1-8b,h100-sxm,vllm-0.10,1,,8,1250,.*,0.009' validate --serving runs.csv --no-papers --format csv
expect 0 'runs.csv,2,strange,.*no description of the target model,Some/Model' validate --serving runs.csv --no-papers --format csv
expect 0 '1 of 2 runs without speculation are predicted' validate --serving runs.csv --no-papers
expect 0 'measurements.*1 of 2 runs' validate --serving runs.csv
expect 0 '"board".*"calibrated".*"mine"' validate --serving runs.csv --no-papers --mode calibrated --format html
sed -i 's/,tpot_ms/,tpot/' runs.csv
expect 2 'runs.csv: the column "tpot_ms" is missing' validate --serving runs.csv
expect 2 'nothing is left to predict' validate --no-papers
expect 2 'mode: must be roofline or calibrated, not "rofline"; did you mean "roofline"' validate --serving runs.csv --mode rofline
expect 2 'give --no-papers' validate --serving runs.csv --format csv

# Under ten seconds (it takes well under one; with all measured rows, whose stacks are fitted load by load, about 20).
checks=$((checks + 1))
timeout 10 "$TREELINE" validate >out.txt || fail "takes more than 10 s"
finish
