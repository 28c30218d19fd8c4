# What the world does to a program: it is killed, the disk is full, folders are read-only, memory is short, two write at once. Nothing
# that was kept is lost, and every failure is a sentence. TREELINE_KILLS is how often it is killed (scripts/faults.sh: 100 times).
. "$(dirname "$0")/lib.sh"
kills=${TREELINE_KILLS:-4}
point=$SOURCE/examples/estimate-mamba2-2.7b.json
cat >space.json <<'JSON'
{"axes": {"target": "llama-3-8b", "device": ["h100-sxm", "l40s"], "drafter": [{"kind": "ngram", "acceptance": {"geometric": 0.5}}],
          "draft_tokens": {"from": 0, "to": 15}, "batch": {"from": 1, "to": 500}, "context": {"from": 100, "to": 2000, "step": 20}}}
JSON

# Killed again and again, the same command goes on from its store, and what it finds is what it finds undisturbed. The moments are spread
# over the time that the undisturbed sweep takes here; a sweep that comes to its end between kills begins anew.
started=$(date +%s%N)
"$TREELINE" sweep space.json --store whole.db --threads 1 >/dev/null 2>err.txt || fail "a sweep into a store: $(cat err.txt)"
milliseconds=$((($(date +%s%N) - started) / 1000000))
"$TREELINE" results export 1 --store whole.db --output whole.csv || fail "results export"
same_points() {
    "$TREELINE" results export 1 --store killed.db --output killed.csv && cmp -s killed.csv whole.csv || fail "after $killed kills other points are kept"
}
killed=0
completed=0
for i in $(seq $((10 * kills))); do
    [ "$killed" -lt "$kills" ] || break
    checks=$((checks + 1))
    "$TREELINE" sweep space.json --store killed.db --threads 1 >/dev/null 2>err.txt &
    sweep=$!
    moment=$((milliseconds * (37 * i % 100) / 200 + 3))
    sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
    if kill -9 "$sweep" 2>/dev/null; then
        killed=$((killed + 1))
        { wait "$sweep"; } 2>/dev/null
        if [ -e killed.db ]; then
            "$TREELINE" results list --store killed.db >out.txt 2>err.txt || grep -q 'is an empty store' err.txt || fail "killed after $i: $(cat err.txt)"
        fi
    else
        wait "$sweep" || fail "undisturbed: $(cat err.txt)"
        completed=$((completed + 1))
        same_points
        rm -f killed.db*
    fi
done
checks=$((checks + 1))
[ "$killed" -eq "$kills" ] || fail "only $killed kills"
"$TREELINE" sweep space.json --store killed.db >/dev/null 2>err.txt || fail "after $killed kills: $(cat err.txt)"
same_points
echo "killed $killed times, came to its end $((completed + 1)) times"

# Two at once: one has the question, the other says so or answers from what was kept; both stores and files stay whole.
checks=$((checks + 1))
rm -f two.db
"$TREELINE" sweep space.json --store two.db >one.txt 2>one.err &
first=$!
"$TREELINE" sweep space.json --store two.db >two.txt 2>two.err
second_code=$?
wait "$first"
first_code=$?
[ $first_code -eq 0 ] || [ $second_code -eq 0 ] || fail "two writers: neither ends: $(cat one.err two.err)"
for result in "$first_code one.err" "$second_code two.err"; do
    read -r code said <<<"$result"
    [ "$code" -le 1 ] || grep -q "is being written by another process" "$said" || fail "two writers: $code, $(cat "$said")"
done
"$TREELINE" results export 1 --store two.db --output two.csv && cmp -s two.csv whole.csv || fail "two writers leave other points"
for name in a b; do "$TREELINE" sweep space.json --csv same.csv >/dev/null 2>"$name.err" & done
wait
[ "$(wc -l <same.csv)" -eq "$(("$("$TREELINE" sweep space.json --csv - 2>/dev/null | wc -l)"))" ] || fail "two writers of one file mix"
[ -z "$(find . -name '.same.csv*')" ] || fail "two writers leave $(find . -name '.same.csv*')"

# A disk that is full for good: a file system of its own, where one may be made; else a limit on files.
checks=$((checks + 1))
mkdir -p disk
if mount -t tmpfs -o size=256k tmpfs disk 2>/dev/null; then
    "$TREELINE" sweep space.json --store disk/full.db >/dev/null 2>err.txt
    [ $? -eq 1 ] && grep -qE 'disk is full|cannot be written' err.txt || fail "a full disk under a store: $(cat err.txt)"
    "$TREELINE" sweep space.json --csv disk/full.csv >/dev/null 2>err.txt
    [ $? -eq 1 ] && grep -q 'No space left on device' err.txt && [ ! -e disk/full.csv ] || fail "a full disk: $(cat err.txt)"
    [ -z "$(find disk -name '.full*')" ] || fail "a full disk keeps $(find disk -name '.full*')"
    umount disk
fi

# Folders that cannot be written or read; a catalogue that is not there; links that lead nowhere or round and round.
mkdir -p closed && chmod 555 closed
if [ "$(id -u)" -ne 0 ]; then
    expect 1 'closed/x.txt cannot be created' estimate "$point" --output closed/x.txt
    expect 1 'closed/x.db cannot be opened as a store' recommend "$SOURCE/examples/starter.json" --store closed/x.db
fi
expect 2 'does not hold the folders models and hardware' models --catalogue closed
ln -s round-b round-a && ln -s round-a round-b && ln -s nowhere lost
expect 2 'round-a' recommend round-a
expect 1 'round-a cannot be overwritten .Too many levels' estimate "$point" --output round-a
checks=$((checks + 1))
"$TREELINE" estimate "$point" --output lost && [ -s nowhere ] && [ -L lost ] || fail "a link to a file that is not there yet"
expect 2 'is a directory' recommend .

# No home, no terminal, an odd clock or language: the same answer.
expect 0 'mamba2-2.7b' estimate "$point"
cp out.txt usual.txt
alone() {
    checks=$((checks + 1))
    env "$@" "$TREELINE" estimate "$point" >out.txt 2>err.txt </dev/null || fail "env $*: $(cat err.txt)"
    cmp -s out.txt usual.txt || fail "env $*: another answer"
}
alone -u HOME -u TERM
alone -i
alone LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8
alone LC_ALL=no_such.locale
alone TZ=Pacific/Kiritimati
alone TMPDIR=/nowhere
checks=$((checks + 1))
"$TREELINE" estimate "$point" <&- >out.txt 2>err.txt && cmp -s out.txt usual.txt || fail "without standard input: $(cat err.txt)"
"$TREELINE" estimate "$point" 2>&- >out.txt && cmp -s out.txt usual.txt || fail "without standard error"
"$TREELINE" estimate "$point" >&- 2>err.txt
[ $? -eq 1 ] && grep -q 'standard output cannot be written' err.txt || fail "without standard output: $(cat err.txt)"

# A clock that jumps while a sweep keeps its state.
if command -v faketime >/dev/null; then
    checks=$((checks + 1))
    faketime -f '+5y x100' "$TREELINE" sweep space.json --store clock.db >/dev/null 2>err.txt || fail "a clock that jumps: $(cat err.txt)"
fi
finish
