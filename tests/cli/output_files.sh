# Results appear whole or not at all; a full disk is a sentence and exit code 1, a bad path one and 2; `| head` is no failure.
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
expect 2 'no/such/folder/x.txt cannot be created' estimate "$point" --output no/such/folder/x.txt
expect 2 'is a directory' estimate "$point" --output "$WORK"
expect 2 'no/x.csv cannot be created' sweep "$study" --csv no/x.csv
expect 2 'no/x.html cannot be created' report "$SOURCE/examples/llama-3-8b-eagle-h100.json" --output no/x.html
nothing_left

# Standard output is a full disk.
checks=$((checks + 1))
"$TREELINE" models >/dev/full 2>err.txt
[ $? -eq 1 ] && grep -q 'standard output cannot be written' err.txt || fail "a full standard output: $(cat err.txt)"

# A disk that fills up half-way, here a limit on the size of files: nothing stays, and what was there before stays as it was.
cat >large.json <<'JSON'
{"axes": {"target": "llama-3-8b", "device": "h100-sxm", "drafter": [{"kind": "ngram", "acceptance": {"geometric": 0.5}}],
          "draft_tokens": {"from": 0, "to": 15}, "batch": {"from": 1, "to": 500}, "context": {"from": 100, "to": 500, "step": 100}}}
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
expect 0 'Points +40,000' sweep large.json --csv all.csv --json all.json
checks=$((checks + 1))
[ "$(wc -l <all.csv)" -eq 40001 ] || fail "$(wc -l <all.csv) lines"
[ "$("$JSON_GET" all.json /summary/points)" = 40000 ] || fail "the JSON of a sweep"
[ "$("$JSON_GET" all.json /points/39999/13)" = 15 ] || fail "its last point: $("$JSON_GET" all.json /points/39999)"
"$TREELINE" sweep large.json --csv one.csv --threads 1 >/dev/null && cmp -s all.csv one.csv || fail "one thread gives other results"
"$TREELINE" sweep large.json --format csv | cmp -s - all.csv || fail "--format csv differs from --csv"

# No output replaces what the command reads, under any of its names, nor a store.
cp "$SOURCE/examples/serving/qwen3-8b-h100-vllm.csv" measured.csv
ln -s measured.csv link.csv && ln measured.csv hard.csv
cp "$SOURCE/examples/starter.json" starter.json
cp "$SOURCE/examples/fits/stree-repository-runs.csv" times.csv
"$TREELINE" models show llama-3.1-8b --format json >target.json 2>/dev/null
printf '%s' '{"format":"treeline-run","version":1,"engine":"vllm","cells":[{"batch":1,"draft_tokens":0,"tokens_per_s":{"mean":46.1}}]}' >run.json
"$TREELINE" recommend starter.json --store kept.db >/dev/null 2>&1 || fail "a store"
mkdir before && cp -p ./*.csv ./*.json before/
keeps() {
    expect 2 "$1" "${@:2}"
}
fits() { keeps 'is read by this command' calibrate --serving measured.csv --model qwen3-8b --device h100-sxm --stack vllm --drafter eagle "$@"; }
fits --output measured.csv
fits --output link.csv
fits --output hard.csv
keeps 'is read by this command' study fit times.csv --output times.csv
keeps 'is read by this command' study fit times.csv --html times.csv
keeps 'is read by this command' import run.json --output ./run.json
printf 'id,backend,model,system,precision,isl,osl,batch_size,tp,tpot_ms\na,vllm,Qwen/Qwen3-32B,h100_sxm,bf16,2000,500,1,2,14.2\n' >rows.csv
keeps 'is read by this command' validate --serving rows.csv --no-papers --html rows.csv
keeps 'is read by this command' estimate "$SOURCE/examples/estimate-mamba2-2.7b.json" --output "$SOURCE/examples/estimate-mamba2-2.7b.json"
keeps 'is read by this command' recommend starter.json --output starter.json
keeps 'is read by this command' report starter.json --output "$SOURCE/models/llama-3.1-8b.json"
keeps 'is read by this command' recommend starter.json --store kept.db --output kept.db
keeps 'is read by this command' results export 1 --store kept.db --output kept.db
keeps 'is an SQLite database' recommend starter.json --output kept.db
keeps 'is an SQLite database' sweep large.json --csv kept.db
# Nor one output another, nor a store that is yet to be made; which is said before any work.
keeps '--output and --html both name ./page.html|--html and --output both name ./page.html' study fit times.csv --html page.html --output ./page.html
keeps 'both name ./lists.csv' sweep large.json --csv lists.csv --report ./lists.csv
keeps 'both name ./new.db' sweep large.json --store ./new.db --report new.db
keeps 'both name ./new.db' recommend starter.json --store ./new.db --output new.db
keeps 'is read by this command' sweep large.json --store kept.db --report kept.db
keeps 'is read by this command' results merge large.json --store kept.db --output kept.db
[ -z "$(find . -name 'page.html' -o -name 'lists.csv' -o -name 'new.db*')" ] || fail "what was refused was begun"
# What comes from standard input is read, whoever reads it.
printf '%s\n' '(APIServer pid=1) INFO 03-02 11:00:00 Engine 000: Avg prompt throughput: 0.0 tokens/s' >server.log
cp server.log before/
from_input() {
    local file=$1
    shift
    checks=$((checks + 1))
    "$TREELINE" "$@" <"$file" >out.txt 2>err.txt
    [ $? -eq 2 ] && grep -q 'is read by this command' err.txt || fail "treeline $* < $file: $(cat out.txt err.txt)"
}
from_input run.json import - --output run.json
from_input run.json import --output run.json -
from_input server.log import - --output ./server.log
from_input run.json diagnose - --input starter.json --output run.json
from_input starter.json recommend - --output starter.json
for file in before/*; do
    cmp -s "$file" "${file#before/}" || [ "${file##*/}" = large.json ] || fail "${file##*/} was changed"
done
checks=$((checks + 1))
# A query reads, and writes no other file either.
keeps 'a query only reads this store' results query "vacuum into 'copied.db'" --store kept.db
keeps 'a query only reads this store' results query "attach 'copied.db' as other" --store kept.db
keeps 'a query only reads this store' results query "delete from runs" --store kept.db
expect 0 '1' results query "select count(*) from runs" --store kept.db
[ ! -e copied.db ] || fail "a query wrote a file"
# A query without end ends, and says why.
endless='WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT'
keeps 'takes more than 500 million steps, and may have no end' results query "$endless count(*) FROM c" --store kept.db
keeps 'finds more than 128 MiB; narrow it' results query "$endless x, x, x, x, x, x, x, x FROM c" --store kept.db
keeps 'makes a value of more than 64 MiB' results query 'select hex(zeroblob(200000000))' --store kept.db
keeps 'takes more than 256 MiB of memory' results query \
    'select hex(zeroblob(30000000)), hex(zeroblob(30000001)), hex(zeroblob(30000002)), hex(zeroblob(30000003)), hex(zeroblob(30000004))' --store kept.db
# Names that SQLite uses beside a store, be it there or yet to be made.
for end in journal wal shm; do
    keeps 'is a name that SQLite uses beside kept.db' estimate starter.json --output kept.db-$end
    keeps 'is a name that SQLite uses beside new.db' sweep large.json --store new.db --output new.db-$end
done
[ -z "$(find . -name 'kept.db-*' -o -name 'new.db*')" ] || fail "a file beside a store was written"
rm -rf before kept.db* rows.csv measured.csv server.log link.csv hard.csv starter.json times.csv target.json run.json

# What a killed command has left goes when its file is written again; what another one is writing stays.
: >.again.txt.1-0.tmp && touch -d '2 hours ago' .again.txt.1-0.tmp
: >.again.txt.2-0.tmp && touch -d '2 hours ago' .again.txt.2-0.tmp
checks=$((checks + 1))
(exec 9<.again.txt.2-0.tmp && flock 9 && "$TREELINE" estimate "$point" --output again.txt 9<&-) || fail "estimate --output again.txt"
[ ! -e .again.txt.1-0.tmp ] || fail "a killed command's file stays"
[ -e .again.txt.2-0.tmp ] || fail "a file that is being written was removed"
rm -f .again.txt.2-0.tmp again.txt

# Ctrl-C leaves nothing behind, and the program says that it was interrupted. The sweep stops where it reports its progress.
sed 's/"to": 500/"to": 100000/' large.json >huge.json
set -m  # in a background of its own, where SIGINT and SIGQUIT are not ignored
ulimit -c 0
for signal in INT TERM HUP QUIT ALRM VTALRM PROF XCPU USR1 USR2; do
    checks=$((checks + 1))
    "$TREELINE" sweep huge.json --csv huge.csv >/dev/null 2>err.txt &
    sweep=$!
    for _ in $(seq 200); do
        [ -n "$(find . -name '.huge.csv.*')" ] && break
        sleep 0.05
    done
    [ -n "$(find . -name '.huge.csv.*')" ] || fail "the sweep did not start: $(cat err.txt)"
    kill -$signal "$sweep"
    wait "$sweep"
    status=$?
    [ "$status" -eq $((128 + $(kill -l $signal))) ] || fail "a sweep that got SIG$signal ended with $status"
    grep -q 'interrupted; nothing was written' err.txt || fail "after SIG$signal it does not say so: $(cat err.txt)"
    [ -z "$(find . -name '*huge.csv*')" ] || fail "SIG$signal leaves $(find . -name '*huge.csv*')"
done
# Where a part of the answer has gone out, it is not "nothing"; a hangup that is ignored (nohup) stays so.
checks=$((checks + 1))
pipe=$(mktemp -u ./pipe.XXXXXX) && mkfifo "$pipe"
"$TREELINE" sweep huge.json --csv - >"$pipe" 2>err.txt &
sweep=$!
exec 8<"$pipe"
head -c 2000000 <&8 >/dev/null
kill -TERM "$sweep"
cat <&8 >/dev/null
wait "$sweep"
exec 8<&-
rm -f "$pipe"
grep -q 'interrupted; what standard output has received is not complete' err.txt || fail "half an answer: $(cat err.txt)"
checks=$((checks + 1))
(trap '' HUP; exec "$TREELINE" sweep large.json --csv hup.csv >/dev/null 2>err.txt) &
sweep=$!
sleep 0.2
kill -HUP "$sweep"
wait "$sweep" && [ -s hup.csv ] || fail "a hangup that is ignored ended the sweep: $(cat err.txt)"
rm -f hup.csv
set +m

# On a terminal, a command that says nothing for two seconds says how long it has been at work; elsewhere it stays silent.
if command -v script >/dev/null; then
    checks=$((checks + 1))
    script -qfc "exec '$TREELINE' study policies '$SOURCE/examples/policies/dspark-qwen3-14b-h100.json'" terminal.txt </dev/null >/dev/null 2>&1 &
    terminal=$!
    for _ in $(seq 300); do
        grep -q 'at work for [0-9]* s' terminal.txt 2>/dev/null && break
        kill -0 "$terminal" 2>/dev/null || break
        sleep 0.1
    done
    grep -q 'at work for [0-9]* s' terminal.txt || fail "a command at work says nothing on a terminal: $(head -c 300 terminal.txt)"
    kill "$terminal" 2>/dev/null
    wait "$terminal" 2>/dev/null
    rm -f terminal.txt
fi

# A reader that leaves early.
checks=$((checks + 1))
"$TREELINE" sweep large.json --csv - 2>err.txt | head -1 >/dev/null
[ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s err.txt ] || fail "| head: $(cat err.txt)"
expect 2 'both name' sweep large.json --csv x --json x
expect 2 'cannot both write to standard output' sweep large.json --csv - --json -
finish
