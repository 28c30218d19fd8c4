# A sweep's store: answers that are kept, sweeps that stop at any moment and go on, parts and processes that are joined.
. "$(dirname "$0")/lib.sh"

# About 10^8 points: a second or so, in which a process can be killed.
cat >space.json <<'END'
{"title": "stored", "axes": {"target": ["llama-3-8b"], "device": ["h100-sxm", "a100-sxm-80"], "stack": ["vllm"], "drafter": [
  {"name": "1B", "kind": "model", "model": "llama-3.2-1b", "acceptance": {"geometric": 0.8}}],
  "draft_tokens": {"from": 1, "to": 16}, "batch": {"from": 1, "to": 256}, "context": {"from": 0, "to": 100000, "step": 20}}}
END
sed 's/"step": 20}/"step": 5000}/' space.json >small.json
ask="--group-by device,batch --top 25 --quantiles tpot_ms --format json"
sweep() { "$TREELINE" sweep "$@" $ask; }

sweep space.json >undisturbed.json || fail "the sweep did not run"

# A repeated question is answered from the store, with the same bytes.
checks=$((checks + 1))
sweep space.json --store once.sqlite >first.json 2>first.txt
sweep space.json --store once.sqlite >again.json 2>again.txt
cmp -s first.json undisturbed.json && cmp -s again.json undisturbed.json || fail "the store changes the answer"
grep -q 'kept in once.sqlite as run 1' first.txt && grep -q 'answered from once.sqlite as run 1' again.txt || fail "the log: $(cat first.txt again.txt)"
[ -z "$(sed -n '/points,/p' first.txt)" ] || fail "progress in a log: $(cat first.txt)"

# kill -9 at random moments: the next process goes on, and the answer has the same bytes.
checks=$((checks + 1))
kills=0 went_on=0
for round in 1 2 3 4 5; do
    rm -f killed.sqlite
    resumed=0
    for attempt in $(seq 1 20); do
        "$TREELINE" sweep space.json $ask --threads 1 --store killed.sqlite >killed.json 2>killed.txt &
        process=$!
        # Later attempts last longer, so that each sweep comes to its first save on a busy machine, too.
        sleep "$(awk -v random="$RANDOM" -v attempt="$attempt" 'BEGIN { printf "%.2f", random / 32768 * 0.2 * (attempt + 1) }')"
        if kill -9 "$process" 2>/dev/null; then
            kills=$((kills + 1))
        fi
        wait "$process" 2>/dev/null && finished=1 || finished=0
        grep -q 'went on where' killed.txt && resumed=1
        [ "$finished" = 1 ] && break
    done
    sweep space.json --store killed.sqlite >killed.json 2>killed.txt || fail "after kill -9: $(cat killed.txt)"
    cmp -s killed.json undisturbed.json || fail "after kill -9 the answer is another one"
    grep -q 'went on where' killed.txt && resumed=1
    went_on=$((went_on + resumed))
    [ "$("$TREELINE" results query 'SELECT count(*) AS n FROM runs' --store killed.sqlite --format csv | tail -1)" = 1 ] || fail "kill -9 leaves several runs"
done
[ "$went_on" -gt 0 ] || fail "after $kills kills no sweep went on from what the store held"
echo "killed $kills times; $went_on of 5 sweeps went on"

# Ctrl-C says that the store goes on.
checks=$((checks + 1))
"$TREELINE" sweep space.json --threads 1 --store stopped.sqlite >out.txt 2>err.txt &
process=$!
sleep 0.4
kill -TERM "$process" 2>/dev/null
wait "$process"
grep -Eq 'interrupted; the same command goes on|kept in' err.txt || fail "Ctrl-C: $(cat err.txt)"

# Parts, in any order, joined: the bytes of the whole.
checks=$((checks + 1))
for part in 3/4 1/4 4/4 2/4; do
    sweep space.json --part $part --store part-${part%/*}.sqlite >/dev/null 2>&1 || fail "part $part did not run"
done
"$TREELINE" results merge part-1.sqlite part-2.sqlite part-3.sqlite --store joined.sqlite >merge.txt || fail "results merge"
grep -q '3 of 4 parts are finished' merge.txt || fail "a missing part: $(cat merge.txt)"
"$TREELINE" results merge part-4.sqlite --store joined.sqlite >merge.txt || fail "results merge"
grep -q '4 parts joined as run' merge.txt || fail "all parts: $(cat merge.txt)"
sweep space.json --store joined.sqlite 2>err.txt | cmp -s - undisturbed.json || fail "joined parts give another answer"
grep -q 'answered from' err.txt || fail "joined parts are priced once more: $(cat err.txt)"

# A small space in more parts than it has work: some hold no points, and are joined like the others.
checks=$((checks + 1))
for part in 1/4 2/4 3/4 4/4; do
    "$TREELINE" sweep "$SOURCE/examples/spire-study.json" --group-by device --part $part --store few-${part%/*}.sqlite >/dev/null 2>&1 ||
        fail "part $part of a small space did not run"
done
"$TREELINE" results merge few-?.sqlite --store few.sqlite >merge.txt 2>&1 || fail "parts without points: $(cat merge.txt)"
"$TREELINE" sweep "$SOURCE/examples/spire-study.json" --group-by device --store few.sqlite >few.txt 2>err.txt
grep -q 'answered from' err.txt || fail "joined small parts are priced once more: $(cat err.txt)"
"$TREELINE" sweep "$SOURCE/examples/spire-study.json" --group-by device 2>/dev/null | cmp -s - few.txt || fail "joined small parts give another answer"

# Several processes, if the program has MPI and there is a launcher.
if command -v mpirun >/dev/null 2>&1; then
    checks=$((checks + 1))
    mpi() { OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe "$@"; }
    if mpi -n 2 "$TREELINE" sweep small.json >out.txt 2>err.txt; then
        mpi -n 4 "$TREELINE" sweep space.json $ask --store ranks.sqlite 2>err.txt | cmp -s - undisturbed.json || fail "four ranks give another answer: $(cat err.txt)"
        mpi -n 2 "$TREELINE" sweep small.json --csv all.csv >out.txt 2>err.txt && fail "two ranks wrote every point"
        grep -q 'hold every point in order' err.txt || fail "every point of two ranks: $(cat err.txt)"
    else
        grep -q 'built without MPI' err.txt || fail "two ranks: $(cat err.txt)"
    fi
fi

# What a store holds.
expect 0 'stored .*finished' results list --store once.sqlite
expect 0 'best of each device,batch' results show 1 --store once.sqlite
expect 0 '^list,place,target' results export 1 --store once.sqlite
expect 0 '"speedup": \[' results export 1 --store once.sqlite --format json
expect 0 '^n [0-9]+' results query 'SELECT count(*) AS n FROM rows' --store once.sqlite --format csv
expect 0 'Nothing has changed since run 1' results diff 1 --store once.sqlite

# A device of one's own that changes: the stored answer is not given again, and diff says what moved.
checks=$((checks + 1))
"$TREELINE" sweep small.json --store own.sqlite --group-by batch >/dev/null 2>&1
cp -r "$SOURCE/models" "$SOURCE/hardware" .
sed -i 's/"value": 3.35/"value": 3.0/' hardware/gpu/h100-sxm.json
"$TREELINE" results diff 1 --store own.sqlite --catalogue . >diff.txt 2>&1 || fail "results diff: $(cat diff.txt)"
grep -q 'Catalogue: ' diff.txt && grep -q ' -> ' diff.txt || fail "diff says: $(head -5 diff.txt)"

# Bad input.
expect 2 'no axis "bach"; did you mean "batch"' sweep small.json --group-by bach
expect 2 'names batch twice' sweep small.json --group-by batch,batch
expect 2 'a limit is a column' sweep small.json --where 'tpot_ms<20'
expect 2 'did you mean "tpot_ms"' sweep small.json --where 'tpot_m<=20'
expect 2 'must be I/N' sweep small.json --part 5/4 --store x.sqlite
expect 2 '--part: needs --store' sweep small.json --part 1/4
expect 2 'keeps lists, not every point' sweep small.json --store x.sqlite --csv all.csv
expect 0 'no point fits' sweep small.json --group-by batch --where 'tpot_ms<=0.001'
echo "not a database, but long enough to look like one to a careless reader of headers" >text.sqlite
expect 2 'no SQLite database' sweep small.json --store text.sqlite
expect 2 'there is no command "lst"; did you mean "list"' results lst --store once.sqlite
expect 2 'has no run 7; it has 1' results show 7 --store once.sqlite
expect 2 'does not exist' results list --store nowhere.sqlite
expect 2 'no such table' results query 'SELECT * FROM points' --store once.sqlite
expect 1 'cannot be' sweep small.json --store no/such/folder.sqlite
if command -v sqlite3 >/dev/null 2>&1; then
    cp once.sqlite newer.sqlite && sqlite3 newer.sqlite 'PRAGMA user_version = 9'
    expect 2 'store of version 9; this treeline reads versions up to 1' sweep small.json --store newer.sqlite
    sqlite3 other.sqlite 'CREATE TABLE t (a)'
    expect 2 'not a store of treeline' results list --store other.sqlite
fi

# Two processes that ask the same question of one store.
checks=$((checks + 1))
"$TREELINE" sweep space.json --threads 1 --top 3 --store both.sqlite >out.txt 2>err.txt &
process=$!
sleep 0.3
if "$TREELINE" sweep space.json --top 3 --store both.sqlite >/dev/null 2>second.txt; then
    grep -q 'answered from' second.txt || fail "two processes work on one question"
else
    grep -q "process $process on .* is working on this very question" second.txt || fail "two processes: $(cat second.txt)"
fi
wait "$process" || fail "the first of two processes: $(cat err.txt)"

# A full disk.
checks=$((checks + 1))
(ulimit -f 40 && "$TREELINE" sweep small.json --group-by device,batch,context,shape --store full.sqlite >/dev/null 2>err.txt) && fail "a full disk went unnoticed"
grep -q 'the disk is full, or fails' err.txt || fail "a full disk: $(cat err.txt)"
"$TREELINE" sweep small.json --group-by device,batch,context,shape --format csv >plain.csv
"$TREELINE" sweep small.json --group-by device,batch,context,shape --format csv --store full.sqlite 2>/dev/null | cmp -s - plain.csv || fail "after a full disk the answer is another one"

finish
