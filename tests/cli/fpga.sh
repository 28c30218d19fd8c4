# treeline fpga: designs priced from files and flags, searched, a paper's claims, bad input.
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

expect 0 'Tokens/s +20\.[0-9]' fpga estimate "$examples/specmamba-vck190.json"
expect 0 'Scan: SSM unit' fpga estimate "$examples/specmamba-vhk158.json"
expect 0 'each pass is bound by memory' fpga estimate "$examples/lightmamba-vck190.json"
# A result is a run again.
"$TREELINE" fpga estimate "$examples/specmamba-vhk158.json" --format json >result.json
"$TREELINE" fpga estimate result.json --format json >again.json
checks=$((checks + 1))
cmp -s result.json again.json || fail "a result does not read back as the same run"
# Depth 8: 8 drafting passes; 15 nodes and the root: 16 x 13 interleaved tiles without a stall.
value /draft_passes 8.0 fpga estimate "$examples/specmamba-vhk158.json"
value /fifo/group_cycles 208 fpga estimate "$examples/specmamba-vhk158.json"
value /fifo/stall_cycles 0 fpga estimate "$examples/specmamba-vhk158.json"
# Without interleaving a chain of 9 tokens waits 8 x 9 cycles and issues once more.
value /fifo/group_cycles 73 fpga estimate --design specmamba-vhk158 --drafter mamba2-370m --tree chain:8 --acceptance 0.8 --set interleave=1
# 10,576 columns in tiles of 34: 312 blocks, 10,608 columns; 2,560 inputs in tiles of 26: 99, 2,574: padding is stated.
value /passes/0/layer/in_proj/blocks 312.0 fpga estimate "$examples/specmamba-vhk158.json"
expect 0 'Padding of in_proj +0\.8 %' fpga estimate "$examples/specmamba-vhk158.json"
# 34 x 128 / 356 lanes = 12.2, so 13 state tiles a block; 5,120 / 34 = 150.6, so 151 blocks: 655,360 of 698,828 elements.
expect 0 'Padding of the scan +6\.2 %' fpga estimate "$examples/specmamba-vhk158.json"
expect 0 'lanes 64 instead of 32' fpga estimate "$examples/specmamba-vck190.json" --set lanes=64
expect 0 'My board' fpga estimate "$examples/specmamba-vck190.json" --board "$examples/my-board.json"
expect 0 'plain decoding,1,out_proj' fpga estimate "$examples/lightmamba-vck190.json" --format csv

expect 0 'Tokens/s' fpga estimate "$examples/specmamba-vhk158.json" --html page.html
grep -q '</html>' page.html || fail "the page is not whole"
for figure in fpga-cycles fpga-timeline fpga-fifo fpga-ablation fpga-power fpga-resources; do
    grep -q "$figure" page.html || fail "the page lacks $figure"
done
expect 0 'Pareto set' fpga explore "$examples/explore-vck190.json"
"$TREELINE" fpga explore "$examples/explore-vck190.json" --threads 1 --format json >one.json
"$TREELINE" fpga explore "$examples/explore-vck190.json" --threads 4 --format json >four.json
checks=$((checks + 1))
cmp -s one.json four.json || fail "the search depends on the number of threads"

expect 0 'Trees against sequences' fpga claims "$examples/specmamba-claims.json"
expect 0 'mamba2-780m is better than mamba2-370m above' fpga claims "$examples/specmamba-claims.json"
value /claims/0/id draft-size fpga claims "$examples/specmamba-claims.json"

expect 0 'vhk158 +250 MHz +819 GB/s .* specmamba-vck190 +vck190 +16 x 8' fpga list

# Bad input
expect 2 'fpga: needs estimate, simulate, explore, claims or list' fpga
expect 2 'fpga: needs a design' fpga estimate
expect 2 'no FPGA design "specmamba-vck19"; did you mean "specmamba-vck190"' fpga estimate --design specmamba-vck19
expect 2 'no FPGA board "u28"; did you mean "u280"' fpga estimate --design specmamba-vck190 --board u28
expect 2 'the SSM unit needs at least one lane' fpga estimate --design specmamba-vck190 --set lanes=0
expect 2 'at most 256 state tiles may take turns' fpga estimate --design specmamba-vck190 --set interleave=1000000
expect 2 'bandwidth_gigabytes: is 0, but must lie between' fpga estimate --design specmamba-vck190 --set bandwidth_gigabytes=0
expect 2 'the tile of the Linear unit needs whole numbers' fpga estimate --design specmamba-vck190 --set tile_inputs=0
# 14,144 / 4 + 356 x 3 + 295 + 193 = 5,092 DSPs on a board of 1,968.
expect 2 'design specmamba-vhk158 needs 5,092 DSPs, 3,124 more than the 1,968 of vck190' fpga estimate --design specmamba-vhk158 --board vck190
expect 2 'needs [0-9,]+ LUTs, [0-9,]+ more than the 117,000 of kv260' fpga estimate --design specmamba-vck190 --board kv260
expect 2 'the FIFO holds 4 state tiles but this tree needs [0-9]+: .*deadlock' fpga estimate "$examples/specmamba-vck190.json" --set fifo_depth=4
expect 2 'accept_length: is 12, but a tree of depth 8 yields at most 9' fpga estimate "$examples/specmamba-vck190.json" --accept-length 12
expect 2 'plan: must be .*did you mean "hybrid"' fpga estimate "$examples/specmamba-vck190.json" --plan hybird
expect 2 'llama-3-8b is not one' fpga estimate --design specmamba-vck190 --target llama-3-8b
expect 2 'accept_length: is missing' fpga estimate --design specmamba-vck190 --drafter mamba2-370m --tree chain:4
expect 2 'shape: is missing' fpga estimate --design specmamba-vck190 --drafter mamba2-370m --acceptance 0.8
expect 2 'shape: needs a drafter' fpga estimate --design specmamba-vck190 --tree chain:4
expect 2 '--set: must be KEY=NUMBER' fpga estimate --design specmamba-vck190 --set lanes
expect 2 'changes.lanse: unknown key; did you mean "lanes"' fpga estimate --design specmamba-vck190 --set lanse=4
with_json '{"design": "specmamba-vck190", "target": "mamba2-2.7b", "lanes": [0]}'
expect 2 'lanes' fpga explore input.json
with_json '{"design": "specmamba-vck190", "target": "mamba2-2.7b", "lanes": [100000]}'
expect 2 'no design fits: the smallest one needs [0-9,]+ DSPs' fpga explore input.json
with_json '{"design": "specmamba-vck190", "target": "mamba2-2.7b", "trees": ["chain:4"], "drafters": [{"model": "mamba2-370m", "accept_lengths": [2, 3]}]}'
expect 2 'accept_lengths: holds 2 numbers for 1 trees' fpga explore input.json
finish
