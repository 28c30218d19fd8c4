# treeline study simulate: the C-simulation of a layer, beside the closed form.
. "$(dirname "$0")/lib.sh"

# SpecMamba on VCK190: tiles of 16 x 8. B, C and the first 8 step sizes are (2 * 128 + 8) / 8 = 33 blocks of 2560 / 16 = 160
# tiles; x and gate (10,576 - 264) / 8 = 1,289 blocks; the output projection 320 blocks of 320 tiles.
example=$SOURCE/examples/fpga/specmamba-vck190.json
expect 0 '5,280 for B, C.*206,240 for x and gate.*102,400 for the output' study simulate "$example"
expect 0 'waiting states' study simulate "$example"

checks=$((checks + 1))
"$TREELINE" study simulate "$example" --format json >simulation.json || fail "study simulate --format json"
[ "$("$JSON_GET" simulation.json /format)" = treeline-fpga-simulation ] || fail "format of the JSON"
[ "$("$JSON_GET" simulation.json /units/0/iterations)" = 313920 ] || fail "5,280 + 206,240 + 102,400 weight tiles"
# The result can be run again.
checks=$((checks + 1))
"$TREELINE" study simulate simulation.json --format json >again.json || fail "a result as input"
[ "$("$JSON_GET" again.json /cycles)" = "$("$JSON_GET" simulation.json /cycles)" ] || fail "a result run again has other cycles"

checks=$((checks + 1))
[ "$("$TREELINE" study simulate "$example" --format csv | head -1)" = \
    unit,iterations,busy_cycles,first_cycle,last_cycle,waited_for_input_cycles,held_up_by_output_cycles ] || fail "CSV title"

# The drafting passes of a round: 8 levels of which 5 are alike, so four kinds beside the verification.
checks=$((checks + 1))
[ "$("$JSON_GET" simulation.json /passes/4/pass)" = 'draft, 1 token' ] || fail "the last kind of drafting pass"
expect 0 'all layers of a round .*[+-]0\.0' study simulate "$example"
"$TREELINE" study simulate "$example" --html page.html >/dev/null || fail "study simulate --html"
for figure in fpga-simulated-timeline fpga-simulated-waits fpga-simulated-fifo-block fpga-simulated-fifo-layer fpga-simulated-passes; do
    grep -q "$figure" page.html || fail "the page lacks $figure"
done

# Plain decoding, more recomputed tokens, no overlap.
expect 0 '1 of plain decoding' study simulate --design lightmamba-vck190
expect 0 '9 recomputed' study simulate "$example" --replayed 9
expect 0 'Simulated' study simulate "$example" --no-overlap

# Deadlock is told, not waited for; so are flags without sense.
expect 2 'deadlock' study simulate "$example" --set fifo_depth=8
expect 2 'replayed' study simulate "$example" --replayed -3
expect 2 'nosuch' study simulate --design nosuch
finish
