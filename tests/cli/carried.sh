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

# The package says whose code the program carries, as their licences ask.
for holder in 'Victor Zverovich' 'Niels Lohmann' 'Jesse Beder' 'University of Cincinnati' 'Wenzel Jakob' 'Free Software Foundation'; do
    checks=$((checks + 1))
    grep -q "$holder" "$SOURCE/cmake/package/copyright" || fail "the package's copyright lacks $holder"
done

# Examples can be copied and run.
expect 0 'llama-3.1-8b-h100 .*sweeps/million-points' examples
expect 2 'did you mean "starter"' examples startr
checks=$((checks + 1))
"$TREELINE" examples starter --output mine.json >out.txt 2>&1 || fail "an example cannot be copied: $(cat out.txt)"
cmp -s mine.json "$SOURCE/examples/starter.json" || fail "the copy of an example differs"
expect 0 '^Run ' recommend mine.json
expect 0 'title,for' examples --format csv
expect 0 '--device devices/spire-hoi-600\.json.*treeline recommend starter\.json' examples
cp mine.json kept.json
expect 2 'mine.json is there already, and is not replaced' examples qwen3-8b-h100 --output mine.json
checks=$((checks + 1))
cmp -s mine.json kept.json || fail "an example replaced a file"
# What an example names comes along, into folders that are made.
for example in estimate-spire:estimate spire-study:sweep fits/break-even-stree-8b:'study break-even' fits/break-even-fitted-law:'study break-even'; do
    copy=copies/${example%%:*}.json
    rm -rf copies
    checks=$((checks + 1))
    "$TREELINE" examples "${example%%:*}" --output "$copy" >out.txt 2>&1 || fail "${example%%:*} cannot be copied: $(cat out.txt)"
    # shellcheck disable=SC2086  # words of a command
    (cd "$(dirname "$copy")" && TREELINE_DATA=$SOURCE "$TREELINE" ${example#*:} "$(basename "$copy")" >/dev/null 2>err.txt) || fail "the copy of ${example%%:*} does not run: $(cat "$(dirname "$copy")/err.txt")"
done
expect 2 'spire-hoi-600.json is there already' examples spire-study --output "$(mkdir -p again/devices && touch again/devices/spire-hoi-600.json && echo again/study.json)"
checks=$((checks + 1))
[ ! -e again/study.json ] || fail "half of an example was copied"
expect 2 'there are none beside the catalogue' examples --catalogue "$(mkdir -p bare/models bare/hardware && echo bare)"

# Without /proc the program cannot tell where it is, and still has a catalogue.
if unshare --mount true 2>/dev/null; then
    checks=$((checks + 1))
    unshare --mount sh -c 'mount -t tmpfs none /proc && exec alone/treeline models' >without.txt 2>&1 || fail "without /proc: $(head -3 without.txt)"
    cmp -s without.txt <("$TREELINE" models) || fail "without /proc the models differ"
fi
finish
