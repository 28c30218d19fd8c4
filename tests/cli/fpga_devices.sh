# FPGA accelerators as devices of estimate, sweep, recommend, report and hardware: the figures of their runs, and bad input.
. "$(dirname "$0")/lib.sh"
acceptance='{"geometric": 0.7, "measured": [{"shape": {"children": [[3], [2], [2], [2], [2], [2], [1], [1]]}, "accept_length": 6.57}]}'

# point PLATFORM: the published tree of 16 tokens on this platform.
point() {
    with_json "{\"target\": \"mamba2-2.7b\", \"platform\": $1, \"rollback\": \"replay\", \"context\": 1024,
                \"drafter\": {\"kind\": \"model\", \"model\": \"mamba2-370m\", \"acceptance\": $acceptance},
                \"shape\": {\"children\": [[3], [2], [2], [2], [2], [2], [1], [1]]}}"
}

# The figures of `treeline estimate` for the same run: the speed-up up to the rounding of the accept length.
for design in specmamba-vck190 specmamba-vhk158; do
    "$TREELINE" estimate "$SOURCE/examples/fpga/$design.json" --format json >fpga.json
    point "\"$design\""
    checks=$((checks + 1))
    "$TREELINE" estimate input.json --format json >estimate.json || fail "estimate on $design"
    awk -v a="$("$JSON_GET" estimate.json /speedup)" -v b="$("$JSON_GET" fpga.json /speedup)" 'BEGIN { exit !(b > 1 && (a / b - 1) ^ 2 < 1e-24) }' ||
        fail "$design: speed-up"
    [ "$("$JSON_GET" estimate.json /break_even_accept_length)" = "$("$JSON_GET" fpga.json /break_even_accept_length)" ] || fail "$design: break-even"
    "$TREELINE" estimate estimate.json --format json >again.json
    cmp -s estimate.json again.json || fail "$design: a result gives another result"
done
# A design and its board alone mean the same.
point '{"device": "vhk158", "design": "specmamba-vhk158"}'
"$TREELINE" estimate input.json --format json >board.json
checks=$((checks + 1))
[ "$("$JSON_GET" board.json /sentence)" = "$("$JSON_GET" estimate.json /sentence)" ] || fail "a board with its design is another device"
expect 0 'specmamba-vhk158 on u280' estimate --model mamba2-2.7b --device u280 --design specmamba-vhk158
expect 0 'decodes at batch 8' estimate --model mamba2-2.7b --device lightmamba-u280 --batch 8
expect 0 'on my-board' estimate --model mamba2-370m --device "$SOURCE/examples/fpga/my-board.json" --design specmamba-vck190

for board in v80 u280 u50; do
    expect 0 "lightmamba-vck190 on $board decodes" estimate --device "$board" --design lightmamba-vck190 --model mamba2-2.7b
done
expect 0 'tokens/s do not grow with it' estimate --device v80 --design lightmamba-vck190 --model mamba2-2.7b
sed 's/"value": [0-9.]*, "unit": "GB\/s"/"value": 460, "unit": "TB\/s"/' "$SOURCE/hardware/fpga/u280.json" >terabytes.json
expect 2 'memory and memory_bandwidth of the board do not go together' estimate --device terabytes.json --design lightmamba-u280 --model mamba2-2.7b
expect 2 'power-limit: is set, but specmamba-vck190 is an accelerator' estimate --device specmamba-vck190 --model mamba2-2.7b --power-limit 20
expect 2 'treeline: the accelerator runs Mamba-2 models' estimate --device specmamba-vck190 --model mamba-130m
# The published drafter, in the tree that its paper measured.
expect 0 'with model-mamba2-370m-on-mamba2-2.7b drafting 15 +tokens in the tree specmamba-16' recommend --device specmamba-vck190 --target mamba2-2.7b

# Search: GPUs and boards together, with the reason for the choice.
example=$SOURCE/examples/gpu-against-fpga.json
expect 0 'Device +its best .* is the best device for energy per token: .* its tokens/s and .* its tokens/J' recommend --explain devices "$example"
checks=$((checks + 1))
"$TREELINE" report "$example" --output devices.html --format json >/dev/null && grep -q '"device-energy"' devices.html || fail "the report has no chart of devices"
for figure in fpga-cycles fpga-timeline fpga-fifo fpga-resources fpga-ablation; do
    grep -q "\"$figure-specmamba-vhk158\"" devices.html || fail "the report has no figure $figure of the accelerator"
done
sed 's/"objective": "energy"/"objective": "throughput"/' "$example" >throughput.json
expect 0 'Platform +h100-sxm' recommend --explain inputs throughput.json
expect 0 'specmamba-vhk158 on u280' sweep "$SOURCE/examples/fpga-designs-and-gpus.json" --format csv

# What cannot run
expect 2 'platform.device|--device: vck190 is an FPGA board: it needs a "design"; .*specmamba-vck190' estimate --model mamba2-2.7b --device vck190
expect 2 '--device: h100-sxm is not an FPGA board' estimate --model mamba2-2.7b --device h100-sxm --design specmamba-vck190
expect 2 'no FPGA design "specmamba-vck19"; did you mean "specmamba-vck190"' estimate --model mamba2-2.7b --device vck190 --design specmamba-vck19
expect 2 '--device: .*did you mean "specmamba-vck190"' estimate --model mamba2-2.7b --device specmamba-vck19
expect 2 '--stack: is set, but specmamba-vck190 is an accelerator' estimate --model mamba2-2.7b --device specmamba-vck190 --stack vllm
expect 2 '--mode: is set, but specmamba-vck190 is an accelerator: it is priced by its cycle model' estimate --model mamba2-2.7b --device specmamba-vck190 --mode hoi
expect 2 'specmamba-vck190 has no interconnect' estimate --model mamba2-2.7b --device specmamba-vck190 --tensor-parallel 2
expect 2 'runs Mamba-2 models whose layers are all alike; llama-3-8b is not one' estimate --model llama-3-8b --device specmamba-vck190
expect 2 "drafts with a Mamba-2 model of its own, not by 'ngram'" estimate --model mamba2-2.7b --device specmamba-vck190 --drafter ngram --acceptance 0.5
expect 2 "does not implement the rollback 'joint'" estimate --model mamba2-2.7b --device specmamba-vck190 --drafter mamba2-370m --acceptance 0.5 --rollback joint
expect 2 'needs 5,092 DSPs, 3,124 more than the 1,968 of vck190' estimate --model mamba2-2.7b --device vck190 --design specmamba-vhk158
expect 0 'does not fit at batch 1000 .* too much' estimate --model mamba2-2.7b --device specmamba-vck190 --batch 1000
with_json '{"target": "llama-3-8b", "platforms": ["h100-sxm", "specmamba-vck190"], "drafters": [{"kind": "ngram", "acceptance": {"geometric": 0.5}}],
            "draft_tokens": [1, 2], "traffic": {"batch": [1], "context": [1024]}}'
expect 0 'Excluded: plain decoding on specmamba-vck190: the accelerator runs Mamba-2 models' recommend --explain candidates input.json

# The catalogue
expect 0 'FPGA design .* specmamba-vck190 +vck190 .* FPGA board .* vhk158' hardware
expect 0 'memory_efficiency' hardware specmamba-vck190
expect 0 'bram36s' hardware vck190
expect 0 'designs\.|specmamba-vhk158.multipliers,14144' hardware --format csv
# A design computes in its own formats, whatever precision is asked for.
expect 0 '^mamba2-2.7b \(weights of 4\.05 bits' estimate --model mamba2-2.7b --device specmamba-vck190 --precision bf16
finish
