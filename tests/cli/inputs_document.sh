# docs/inputs.md is what scripts/inputs_document.sh makes of the keys that the program describes: every object once, none stale.
. "$(dirname "$0")/lib.sh"
checks=$((checks + 1))
"$SOURCE/scripts/inputs_document.sh" "$TREELINE" >inputs.md || fail "scripts/inputs_document.sh"
if ! cmp -s inputs.md "$SOURCE/docs/inputs.md"; then
    fail "docs/inputs.md is stale; write it anew: scripts/inputs_document.sh build/treeline >inputs.md && mv inputs.md docs/inputs.md"
    diff -u "$SOURCE/docs/inputs.md" inputs.md | head -40
fi
# A key that is described twice in one object would be a slip.
checks=$((checks + 1))
twice=$("$TREELINE" inputs --format csv | cut -d, -f1,2 | sort | uniq -d)
[ -z "$twice" ] || fail "described twice: $twice"
finish
