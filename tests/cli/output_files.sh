# Results appear whole or not at all; a full disk or a bad path is a sentence and exit code 1; `| head` is no failure.
. "$(dirname "$0")/lib.sh"
point=$SOURCE/examples/estimate-mamba2-2.7b.json
study=$SOURCE/examples/spire-study.json

nothing_left() {
    checks=$((checks + 1))
    local left
    left=$(find . -mindepth 1 -not -name out.txt -not -name err.txt -not -name "${1:-}" | head -5)
    [ -z "$left" ] || fail "left behind: $left"
}

expect 1 '/dev/full cannot be written \(No space left on device\)' estimate "$point" --output /dev/full
expect 1 'no/such/folder/x.txt cannot be created' estimate "$point" --output no/such/folder/x.txt
expect 1 'is a directory' estimate "$point" --output "$WORK"
expect 1 'no/x.csv cannot be created' sweep "$study" --csv no/x.csv
expect 1 'no/x.html cannot be created' report "$SOURCE/examples/llama-3-8b-eagle-h100.json" --output no/x.html
nothing_left

# Standard output is a full disk.
checks=$((checks + 1))
"$TREELINE" models >/dev/full 2>err.txt
[ $? -eq 1 ] && grep -q 'standard output cannot be written' err.txt || fail "a full standard output: $(cat err.txt)"

# A disk that fills up half-way, here a limit on the size of files: nothing stays, and what was there before stays as it was.
cat >large.json <<'JSON'
{"axes": {"target": "llama-3-8b", "device": "h100-sxm", "drafter": [{"kind": "ngram", "acceptance": {"geometric": 0.5}}],
          "draft_tokens": {"from": 0, "to": 15}, "batch": {"from": 1, "to": 500}, "context": {"from": 100, "to": 2000, "step": 100}}}
JSON
for file in fresh.csv old.csv; do
    rm -f ./*.csv
    [ $file = old.csv ] && echo before >old.csv
    checks=$((checks + 1))
    (ulimit -f 200 && "$TREELINE" sweep large.json --csv $file) >out.txt 2>err.txt
    [ $? -eq 1 ] || fail "a file limit does not fail"
    grep -q "$file cannot be written (File too large)" err.txt || fail "$(cat err.txt)"
    if [ $file = old.csv ]; then
        [ "$(cat old.csv)" = before ] || fail "the earlier result was touched"
    else
        [ ! -e fresh.csv ] || fail "a half-written result"
    fi
done
rm -f old.csv
nothing_left large.json

# A result that is there is replaced; links and permissions stay.
echo before >result.txt && chmod 640 result.txt && ln -s result.txt link.txt
checks=$((checks + 1))
"$TREELINE" estimate "$point" --output link.txt || fail "estimate --output link.txt"
[ -L link.txt ] && grep -q 'mamba2-2.7b' result.txt && [ "$(stat -c %a result.txt)" = 640 ] || fail "links or permissions are lost"
rm -f result.txt link.txt

# Everything of a large sweep arrives.
expect 0 'Points +160,000' sweep large.json --csv all.csv --json all.json
checks=$((checks + 1))
[ "$(wc -l <all.csv)" -eq 160001 ] || fail "$(wc -l <all.csv) lines"
[ "$("$JSON_GET" all.json /summary/points)" = 160000 ] || fail "the JSON of a sweep"
[ "$("$JSON_GET" all.json /points/159999/13)" = 15 ] || fail "its last point: $("$JSON_GET" all.json /points/159999)"
"$TREELINE" sweep large.json --csv one.csv --threads 1 >/dev/null && cmp -s all.csv one.csv || fail "one thread gives other results"
"$TREELINE" sweep large.json --format csv | cmp -s - all.csv || fail "--format csv differs from --csv"

# Ctrl-C leaves nothing behind, and the program says that it was interrupted. The sweep stops where it reports its progress.
checks=$((checks + 1))
sed 's/"to": 500/"to": 100000/' large.json >huge.json
"$TREELINE" sweep huge.json --csv huge.csv >/dev/null 2>err.txt &
sweep=$!
for _ in $(seq 200); do
    [ -n "$(find . -name '.huge.csv.*')" ] && break
    sleep 0.05
done
[ -n "$(find . -name '.huge.csv.*')" ] || fail "the sweep did not start: $(cat err.txt)"
kill -TERM "$sweep"
wait "$sweep"
status=$?
[ "$status" -eq 143 ] || fail "an interrupted sweep ended with $status"
grep -q interrupted err.txt || fail "it does not say so: $(cat err.txt)"
[ -z "$(find . -name '*huge.csv*')" ] || fail "an interrupted sweep leaves $(find . -name '*huge.csv*')"

# A reader that leaves early.
checks=$((checks + 1))
"$TREELINE" sweep large.json --csv - 2>err.txt | head -1 >/dev/null
[ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s err.txt ] || fail "| head: $(cat err.txt)"
expect 2 'both name' sweep large.json --csv x --json x
expect 2 'cannot both write to standard output' sweep large.json --csv - --json -
finish
