# docs/commands.md is what scripts/commands_document.sh makes of the program's help, and holds every command.
. "$(dirname "$0")/lib.sh"
"$SOURCE/scripts/commands_document.sh" "$TREELINE" >commands.md || fail "scripts/commands_document.sh"
checks=$((checks + 1))
if ! cmp -s commands.md "$SOURCE/docs/commands.md"; then
    fail "docs/commands.md is stale; write it anew: scripts/commands_document.sh build/treeline >docs/commands.md"
    diff -u "$SOURCE/docs/commands.md" commands.md | head -40
fi
# What the help of a command holds must not get lost on the way into the page.
for command in recommend sweep 'tree search' 'study simulate' calibrate lint; do
    checks=$((checks + 1))
    grep -qxE "#+ treeline $command" commands.md || fail "no section on treeline $command"
    # shellcheck disable=SC2086  # two words for a command of two
    "$TREELINE" $command --help | grep -oE '^  --[a-z-]+' | while read -r flag; do
        grep -qE -- "$flag[ ,\`]" commands.md || echo "$flag"
    done >missing.txt
    [ ! -s missing.txt ] || fail "treeline $command: flags that the page lacks: $(tr '\n' ' ' <missing.txt)"
done
finish
