# Accelerators cycle by cycle: runs priced from files and flags, designs searched, a paper's claims, bad input; names of old.
. "$(dirname "$0")/lib.sh"
examples=$SOURCE/examples/fpga

# value POINTER EXPECTED ARGUMENT...: one value of the JSON output.
value() {
    local pointer=$1 expected=$2
    shift 2
    checks=$((checks + 1))
    "$TREELINE" "$@" --format json >value.json || fail "treeline $*"
    local got
    got=$("$JSON_GET" value.json "$pointer")
    [ "$got" = "$expected" ] || fail "treeline $*: $pointer is $got instead of $expected"
}

expect 0 'Tokens/s +20\.[0-9]' estimate "$examples/specmamba-vck190.json"
expect 0 'Scan: SSM unit' estimate "$examples/specmamba-vhk158.json"
expect 0 'each pass is bound by memory' estimate "$examples/lightmamba-vck190.json"
# A result is a run again.
"$TREELINE" estimate "$examples/specmamba-vhk158.json" --format json >result.json
"$TREELINE" estimate result.json --format json >again.json
checks=$((checks + 1))
cmp -s result.json again.json || fail "a result does not read back as the same run"
# Depth 8: 8 drafting passes; 15 nodes and the root: 16 x 13 interleaved tiles without a stall.
value /draft_passes 8.0 estimate "$examples/specmamba-vhk158.json"
value /fifo/group_cycles 208 estimate "$examples/specmamba-vhk158.json"
value /fifo/stall_cycles 0 estimate "$examples/specmamba-vhk158.json"
# Without interleaving a chain of 9 tokens waits 8 x 9 cycles and issues once more.
value /fifo/group_cycles 73 estimate --design specmamba-vhk158 --drafter mamba2-370m --tree chain:8 --acceptance 0.8 --set interleave=1
# 10,576 columns in tiles of 34: 312 blocks, 10,608 columns; 2,560 inputs in tiles of 26: 99, 2,574: padding is stated.
value /passes/0/layer/in_proj/blocks 312.0 estimate "$examples/specmamba-vhk158.json"
expect 0 'Padding of in_proj +0\.8 %' estimate "$examples/specmamba-vhk158.json"
# 34 x 128 / 356 lanes = 12.2, so 13 state tiles a block; 5,120 / 34 = 150.6, so 151 blocks: 655,360 of 698,828 elements.
expect 0 'Padding of the scan +6\.2 %' estimate "$examples/specmamba-vhk158.json"
expect 0 'lanes 64 instead of 32' estimate "$examples/specmamba-vck190.json" --set lanes=64
expect 0 'My board' estimate "$examples/specmamba-vck190.json" --board "$examples/my-board.json"
expect 0 'plain decoding,1,out_proj' estimate "$examples/lightmamba-vck190.json" --format csv

expect 0 'Tokens/s' estimate "$examples/specmamba-vhk158.json" --html page.html
grep -q '</html>' page.html || fail "the page is not whole"
for figure in fpga-cycles fpga-timeline fpga-fifo fpga-ablation fpga-power fpga-resources; do
    grep -q "$figure" page.html || fail "the page lacks $figure"
done
expect 0 'Pareto set' sweep "$examples/explore-vck190.json"
"$TREELINE" sweep "$examples/explore-vck190.json" --threads 1 --format json >one.json
"$TREELINE" sweep "$examples/explore-vck190.json" --threads 4 --format json >four.json
checks=$((checks + 1))
cmp -s one.json four.json || fail "the search depends on the number of threads"

expect 0 'Trees against sequences' study claims "$examples/specmamba-claims.json"
expect 0 'mamba2-780m is better than mamba2-370m above' study claims "$examples/specmamba-claims.json"
value /claims/0/id draft-size study claims "$examples/specmamba-claims.json"

expect 0 'specmamba-vck190 +vck190 +16 x 8 .* vhk158 +250 MHz +819 GB/s' hardware

# Commands by their old names do the same, with a hint.
checks=$((checks + 1))
"$TREELINE" fpga estimate "$examples/specmamba-vhk158.json" --format json >old.json 2>hint.txt || fail "fpga estimate"
cmp -s result.json old.json || fail "fpga estimate is not estimate"
grep -qxF 'treeline: `treeline fpga estimate` is now `treeline estimate`; the old name still works' hint.txt || fail "hint: $(cat hint.txt)"
for renamed in 'bandit=study bandit' 'traffic=study traffic' 'acceptance=study acceptance' 'break-even=study break-even' 'fit=study fit' \
    'fpga explore=sweep' 'fpga claims=study claims' 'fpga simulate=study simulate' 'fpga list=hardware'; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086  # two words for a command of two
    "$TREELINE" ${renamed%=*} --help 2>hint.txt | cmp -s - <("$TREELINE" ${renamed#*=} --help) || fail "${renamed%=*} is not ${renamed#*=}"
    grep -qF "is now \`treeline ${renamed#*=}\`" hint.txt || fail "no hint for ${renamed%=*}"
done

# A point on an accelerator, cycle by cycle: the same round as the run of that design.
point=(estimate --target mamba2-2.7b --device lightmamba-vck190 --context 1024)
expect 0 'each pass is bound by memory' "${point[@]}" --cycles
value /cycles/tokens_per_second "$("$TREELINE" estimate "$examples/lightmamba-vck190.json" --format json >run.json && "$JSON_GET" run.json /tokens_per_second)" "${point[@]}" --cycles

# Bad input
expect 2 'study: needs break-even, traffic, .* or claims; see treeline study --help' study
expect 2 'a run needs a design' study simulate
expect 2 '--set and --no-overlap are of a run' estimate --target mamba2-2.7b --device specmamba-vck190 --set lanes=64
expect 2 'h100-sxm is none' estimate --target mamba2-2.7b --device h100-sxm --cycles
expect 2 'this file searches designs' sweep "$examples/explore-vck190.json" --top 3
expect 2 'no FPGA design "specmamba-vck19"; did you mean "specmamba-vck190"' estimate --design specmamba-vck19
expect 2 'no FPGA board "u28"; did you mean "u280"' estimate --design specmamba-vck190 --board u28
expect 2 'the SSM unit needs at least one lane' estimate --design specmamba-vck190 --set lanes=0
expect 2 'at most 256 state tiles may take turns' estimate --design specmamba-vck190 --set interleave=1000000
expect 2 'bandwidth_gigabytes: is 0, but must lie between' estimate --design specmamba-vck190 --set bandwidth_gigabytes=0
expect 2 'clock_megahertz: is 1000000000.0, but must lie between 1 and 5000' estimate --design specmamba-vck190 --set clock_megahertz=1e9
expect 2 'memory and memory_bandwidth of the board do not go together' estimate --design specmamba-vck190 --set bandwidth_gigabytes=1e5
expect 2 'bandwidth_gigabytes: is 1000000.0, but must lie between 0.01 and 100000' estimate --design specmamba-vck190 --set bandwidth_gigabytes=1e6
for share in 0 1.5; do
    expect 2 "memory_efficiency: is $share, but must lie between 0.01 and 1" estimate --design specmamba-vck190 --set memory_efficiency=$share
done
both=(--design specmamba-vck190 --target mamba2-2.7b --tree chain:8 --drafter mamba2-370m --acceptance 0.8 --accept-length 3)
expect 2 'say the same thing; give one of them' estimate "${both[@]}"
expect 2 'say the same thing; give one of them' study simulate "${both[@]}"
with_json '{"design": "specmamba-vck190", "target": "mamba2-2.7b", "drafter": "mamba2-370m", "shape": "chain:8", "accept_length": 3, "acceptance": {"rate": 0.8}}'
expect 2 'accept_length: says the same thing as acceptance; give one of them' estimate input.json
expect 2 'the tile of the Linear unit needs whole numbers' estimate --design specmamba-vck190 --set tile_inputs=0
# 14,144 / 4 + 356 x 3 + 295 + 193 = 5,092 DSPs on a board of 1,968.
expect 2 'design specmamba-vhk158 needs 5,092 DSPs, 3,124 more than the 1,968 of vck190' estimate --design specmamba-vhk158 --board vck190
expect 2 'needs [0-9,]+ LUTs, [0-9,]+ more than the 117,000 of kv260' estimate --design specmamba-vck190 --board kv260
expect 2 'the FIFO holds 4 state tiles but this tree needs [0-9]+: .*deadlock' estimate "$examples/specmamba-vck190.json" --set fifo_depth=4
expect 2 'accept_length: is 12, but a tree of depth 8 yields at most 9' estimate "$examples/specmamba-vck190.json" --accept-length 12
expect 2 'plan: must be .*did you mean "hybrid"' estimate "$examples/specmamba-vck190.json" --plan hybird
expect 2 'llama-3-8b is not one' estimate --design specmamba-vck190 --target llama-3-8b
expect 2 'accept_length: is missing' estimate --design specmamba-vck190 --drafter mamba2-370m --tree chain:4
expect 2 'shape: is missing' estimate --design specmamba-vck190 --drafter mamba2-370m --acceptance 0.8
expect 2 'shape: needs a drafter' estimate --design specmamba-vck190 --tree chain:4
expect 2 '--set: must be KEY=NUMBER' estimate --design specmamba-vck190 --set lanes
expect 2 'changes.lanse: unknown key; did you mean "lanes"' estimate --design specmamba-vck190 --set lanse=4
with_json '{"design": "specmamba-vck190", "target": "mamba2-2.7b", "lanes": [0]}'
expect 2 'lanes' sweep input.json
with_json '{"design": "specmamba-vck190", "target": "mamba2-2.7b", "lanes": [100000]}'
expect 2 'no design fits: the smallest one needs [0-9,]+ DSPs' sweep input.json
with_json '{"design": "specmamba-vck190", "target": "mamba2-2.7b", "trees": ["chain:4"], "drafters": [{"model": "mamba2-370m", "accept_lengths": [2, 3]}]}'
expect 2 'accept_lengths: holds 2 numbers for 1 trees' sweep input.json
# Products of wider weights take more of DSPs, LUTs and energy: with 8 bits half as many products take as much as all of 4.
linear_of() { "$TREELINE" estimate "$SOURCE/examples/fpga/specmamba-vhk158.json" "$@" | sed -nE 's/^ *linear unit +([0-9,]+) +([0-9,]+).*/\1 \2/p'; }
checks=$((checks + 1))
[ "$(linear_of)" = "3,536 254,026" ] || fail "the linear unit of the stated design: $(linear_of)"
[ "$(linear_of --set weight_bits=8 --set tokens=8)" = "$(linear_of)" ] ||
    fail "8 tokens of 8 bits: $(linear_of --set weight_bits=8 --set tokens=8)"
expect 2 'DSP' estimate "$SOURCE/examples/fpga/specmamba-vhk158.json" --set weight_bits=8
expect 2 'at most 18 bits: weights have 32' estimate "$SOURCE/examples/fpga/specmamba-vhk158.json" --set weight_bits=32

finish
