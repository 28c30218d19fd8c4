# A copy of the program alone answers like the one in its build tree, and knows nothing of the folder it was built in.
. "$(dirname "$0")/lib.sh"
mkdir -p alone
cp "$TREELINE" alone/treeline
checks=$((checks + 1))
! grep -qaF -e "$SOURCE/" alone/treeline || fail "the program holds the path of its sources"

same() {
    checks=$((checks + 1))
    "$TREELINE" "$@" >with.txt 2>&1
    env -u TREELINE_DATA alone/treeline "$@" >alone.txt 2>&1
    cmp -s with.txt alone.txt || fail "treeline $*: alone it says something else: $(diff with.txt alone.txt | head -5)"
}
same models
same models llama-3.1-8b --format json
same models --drafters
same hardware
same hardware h100-sxm --format json
same examples
same recommend "$SOURCE/examples/llama-3.1-8b-h100.json" --format json
same estimate "$SOURCE/examples/estimate-mamba2-2.7b.json" --format json
same sweep "$SOURCE/examples/spire-study.json"
same tree show mamba-drafter-3-2-2-1-1
same validate

# Examples can be copied and run.
expect 0 'llama-3.1-8b-h100 .*sweeps/million-points' examples
expect 2 'did you mean "starter"' examples startr
checks=$((checks + 1))
"$TREELINE" examples starter --output mine.json >out.txt 2>&1 || fail "an example cannot be copied: $(cat out.txt)"
cmp -s mine.json "$SOURCE/examples/starter.json" || fail "the copy of an example differs"
expect 0 '^Run ' recommend mine.json
expect 0 'title' examples --format csv
expect 2 'there are none beside the catalogue' examples --catalogue "$(mkdir -p bare/models bare/hardware && echo bare)"

# Without /proc the program cannot tell where it is, and still has a catalogue.
if unshare --mount true 2>/dev/null; then
    checks=$((checks + 1))
    unshare --mount sh -c 'mount -t tmpfs none /proc && exec alone/treeline models' >without.txt 2>&1 || fail "without /proc: $(head -3 without.txt)"
    cmp -s without.txt <("$TREELINE" models) || fail "without /proc the models differ"
fi
finish
