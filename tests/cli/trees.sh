# treeline tree: trees from flags, files and short forms; the best tree; what engines can run; bad input.
. "$(dirname "$0")/lib.sh"
sequoia=$SOURCE/examples/acceptance/sequoia-demo.json

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

# The same tree in every notation: 0 -> 1, 2; 1 -> 3, 4; 2 -> 5.
for tree in 'parents:0,0,1,1,2' 'parents:0,1,1,0,4' 'children:2/2,1' 'widths:2,3' '{"children": [[2], [2, 1]]}'; do
    value /parents '[0,0,1,1,2]' tree show "$tree"
done
value /parents '[0,0,1,1,2]' tree show --parents 0,0,1,1,2
value /parents '[0,0,1,1,2]' tree show --children 2/2,1

# STree (arXiv 2505.14969), Figure 3: a full binary tree of 5 levels packs 31 tokens and unrolls to 16 paths of 5.
value /packed/tokens 31 tree show --binary 5
value /unrolled/tokens 80 tree show --binary 5
value /unrolled/states 16 tree show --binary 5
# Its static trees have 13 and 18 tokens with the root; (3,2,2,1,1) of Mamba drafters has 3 + 6 + 12 + 12 + 12 nodes.
value /packed/tokens 13 tree show stree-mil
value /packed/tokens 18 tree show stree-mamba
value /nodes 45 tree show mamba-drafter-3-2-2-1-1
for file in "$SOURCE"/examples/trees/*.json; do
    expect 0 'Source' tree show "$file" --acceptance "$sequoia"
done

# 1 + 0.5 + 0.25 + 0.125, and drawn.
value /accept_length 1.875 tree show --chain 3 --ranks 0.5
expect 0 'Accept length +1.875 of at most 4.* 1---.50---.25---.12' tree show --chain 3 --ranks 0.5
expect 0 '0-\+-1---3   `-2---4' tree show --sequences 2x2
expect 0 '11\.\. ' tree show --chain 3 --mask
expect 0 'ranks that halve' tree show --sglang 5,4,32
expect 0 'Tree ' tree show --chain 3 --svg chain.svg
grep -q '</svg>' chain.svg || fail "the SVG is not whole"
checks=$((checks + 1))
[ "$("$TREELINE" tree show --chain 3 --format csv | wc -l)" -eq 5 ] || fail "CSV: one line a token and a title"

# ../shared/data/acceptance/sequoia_demo.json: 8 tokens with the root on 10 levels with the root's: 2.732173.
expect 0 'Accept length +2.732 of' tree optimise --nodes 7 --depth 9 --children 9 --acceptance "$sequoia"
"$TREELINE" tree optimise --nodes 7 --depth 9 --children 9 --acceptance "$sequoia" --format json >best.json
value /nodes 7 tree show best.json
expect 0 'Accept length +2.732 of' tree show best.json --acceptance "$sequoia"
value /tree 'optimal 7,9,9' tree show --optimal 7,9,9 --acceptance "$sequoia"

# A chain is lossless everywhere; SGLang has its own tree; vLLM drafts a chain of 2 of it: 1 + 0.6 + 0.36 of 2.86.
expect 0 'SGLang +sglang 3,1,4 +3 +2.176 +the same tree' tree compare --chain 3 --ranks 0.6
# The best tree of an engine is the best of all that it drafts, whether it could draft the very tree or not.
expect 0 'SGLang +sglang 2,3,7 +6 +2.336 +better by 2.1 %, or the same' tree compare binary:3 --ranks 0.63,0.11,0.06,0.02
expect 0 'SGLang +sglang 5,7,32 +31 +3.397 +better by 0.9 %, or the same' tree compare sglang:5,4,32 --ranks 0.63,0.11,0.06,0.02
value /trees/0/engines/1/same_tree true tree compare sglang:2,2,7 --ranks 0.6,0.3
value /trees/0/engines/0/setting 'vllm 2' tree compare sglang:2,2,7 --ranks 0.6,0.3
# 1 + 0.9 + 0.81 = 2.71; 1.96 / 2.71 loses 27.7 %.
expect 0 'vllm 2 +2 +1.960 +27.7 %' tree compare sglang:2,2,7 --ranks 0.6,0.3
# Measured counts: 60 and 25 of 100.
with_json '{"accepted_by_rank": [60, 25], "none": 15}'
value /accept_length 1.85 tree show --widths 2 --acceptance input.json

# Bad input
expect 2 'tree: needs show, optimise, search or compare' tree
expect 2 'unexpected argument "shwo"; did you mean "show"' tree shwo
expect 2 'tree show: unknown flag "--wdths"; did you mean "--widths"' tree show --wdths 3
expect 2 'tree show: needs a tree' tree show
expect 2 'draws one tree, not 2' tree show --chain 3 --binary 3
expect 2 '--parents: the tree is cyclic: tokens 1 -> 2 -> 1' tree show --parents 2,1
expect 2 '--parents: the tree is disconnected: token 1 has parent -1' tree show --parents=-1,0
expect 2 '--parents: the tree is disconnected: token 2 has parent 9' tree show --parents 0,9
expect 2 '--parents: token 2 comes before its parent 3' tree show --parents 0,3,0
expect 2 '--chain: .* between 1 and 4096, not 5000' tree show --chain 5000
expect 2 '--chain: must be whole numbers, as in K, not "x"' tree show --chain x
expect 2 '--beams: must be whole numbers, as in MxN, not "4,5"' tree show --beams 4,5
expect 2 '--sglang: .*pool .* = 10 candidates, fewer than 31' tree show --sglang 3,2,32
expect 2 '--sglang: .*steps \+ 1 = 6' tree show --sglang 5,1,9
expect 2 'max_topK \* max_draft_len = 12, not 13' tree show --tensorrt-llm 4,3,13
expect 2 'no kind of tree "chian"; did you mean "chain"' tree show chian:5
expect 2 'no tree "stree-mli"; did you mean "stree-mil"' tree show stree-mli
expect 2 'no-such.json: cannot be opened' tree show no-such.json
expect 2 'gives chain and widths, but exactly one' tree show '{"chain": 3, "widths": [1]}'
expect 2 'unknown key; did you mean' tree show '{"chain": 3, "titel": "x"}'
expect 2 'tree: sglang.top_k: is missing' tree show '{"sglang": {"steps": 3, "draft_tokens": 4}}'
expect 2 'children: must hold a list of whole numbers for each level' tree show '{"children": [3, [1]]}'
expect 2 '--ranks: .*sums to 1.1, but' tree show --chain 3 --ranks 0.5,0.6
expect 2 '--ranks: acceptance of rank 2 must lie between 0 and 1' tree show --chain 3 --ranks 0.5,-0.1
expect 2 '--ranks: must be comma-separated numbers' tree show --chain 3 --ranks 0.5,,0.1
expect 2 '--ranks: must be comma-separated numbers' tree show --chain 3 --ranks nan
expect 2 'say the same thing; give one' tree show --chain 3 --ranks 0.5 --acceptance "$sequoia"
with_json '{"ranks": [0.5], "accepted_by_rank": [3]}'
expect 2 'gives ranks and accepted_by_rank' tree show --chain 3 --acceptance input.json
with_json '{"accepted_by_rank": [0], "none": 0}'
expect 2 'counts nothing' tree show --chain 3 --acceptance input.json
expect 2 'needs the acceptance of each rank' tree optimise
expect 2 'needs the acceptance of each rank' tree compare --chain 3
expect 2 'needs trees' tree compare --ranks 0.5
expect 2 '--nodes: must be a whole number between 1 and 1024' tree optimise --ranks 0.5 --nodes 1025
expect 2 'depends on the acceptance of each rank' tree show optimal:5,5

# On a platform: another tree at batch 1 and 64, and never slower than the best chain.
point=$SOURCE/examples/tree-search-llama-3-8b-h100.json
"$TREELINE" tree search "$point" --batches 1,64 --format json --html search.html >search.json
checks=$((checks + 1))
small=$("$JSON_GET" search.json /batches/0/best/nodes) large=$("$JSON_GET" search.json /batches/1/best/nodes)
[ "$small" -gt "$large" ] || fail "the best tree has $small nodes at batch 1 and $large at batch 64"
grep -q 'best-tree-size' search.html || fail "the page lacks a chart"
expect 0 'Batch +best shape +verification +rollback' tree search "$point" --nodes 8 --depth 2 --children 0,2
expect 2 '--batches: must be a whole number' tree search "$point" --batches 1,x
expect 2 '--nodes: must be a whole number between 1 and 1024' tree search "$point" --nodes 0
with_json '{"target": "llama-3-8b", "platform": "h100-sxm", "drafter": {"kind": "eagle", "acceptance": {"geometric": 0.7}}}'
expect 2 'tree search: .*siblings' tree search input.json
with_json '{"target": "llama-3-8b", "platform": "h100-sxm"}'
expect 2 'needs a drafter' tree search input.json
with_json '{"target": "llama-3-8b", "platform": {"device": "h100-sxm", "stack": "vllm"},
            "drafter": {"kind": "eagle", "acceptance": {"per_rank": [0.7, 0.1]}}}'
expect 2 "the stack 'vllm-[0-9.]+' verifies chains only" tree search input.json
expect 2 'binary 3: the stack .vllm-[0-9.]+. verifies chains only' estimate input.json --shape binary:3
expect 0 'drafting 3 tokens' estimate input.json --draft-tokens 3

# Trees as an axis: each shape in each way of verifying that its stack has.
with_json '{"axes": {"target": ["llama-3-8b"], "platform": ["h100-sxm"],
            "drafter": [{"kind": "eagle", "acceptance": {"per_rank": [0.7, 0.1, 0.05]}}],
            "draft_tokens": [2, 4], "shapes": ["binary:3", {"optimal": {"nodes": [4, 8], "depth": [2, 3]}}],
            "batch": [1, 8], "context": 1024}}'
expect 0 '"optimal 8,3",unrolled' sweep input.json --format csv
checks=$((checks + 1))
# 2 chains and 5 trees packed and unrolled, at 2 batches, and a title.
[ "$("$TREELINE" sweep input.json --format csv | wc -l)" -eq $((1 + 2 * (2 + 5 * 2))) ] || fail "the sweep lacks points"
with_json '{"target": "llama-3-8b", "platforms": ["h100-sxm"],
            "drafters": [{"kind": "eagle", "acceptance": {"geometric": 0.7}}],
            "shapes": ["binary:3"], "traffic": {"batch": 1, "context": 1024}}'
expect 0 'siblings of trees as with Sequoia' recommend input.json

# The report of a workload with trees shows why its policy was chosen, the best tree by batch, and the three studies.
"$TREELINE" report "$SOURCE/examples/trees-mamba2-2.7b-rtx4090.json" --format json --output report.json >/dev/null
for i in 0:rollback 1:best-tree 2:break-even 3:bandit 4:traffic; do
    checks=$((checks + 1))
    got=$("$JSON_GET" report.json "/sections/${i%%:*}/id")
    [ "$got" = "${i#*:}" ] || fail "section ${i%%:*} of the report is $got instead of ${i#*:}"
    [ "$("$JSON_GET" report.json "/sections/${i%%:*}/figures/0/rows/1")" != null ] || fail "section ${i#*:} has no rows"
done
finish
