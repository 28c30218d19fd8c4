# Output that people read, against references in tests/golden. Where the two differ, FILE.new is left beside the reference.
. "$(dirname "$0")/lib.sh"
cd "$SOURCE" || exit 1

golden() {
    local reference=tests/golden/$1
    shift
    checks=$((checks + 1))
    "$TREELINE" "$@" >"$WORK/output.txt" 2>&1
    if ! cmp -s "$WORK/output.txt" "$reference"; then
        fail "treeline $*: differs from $reference:"
        diff -u "$reference" "$WORK/output.txt" | head -40
        if cp "$WORK/output.txt" "$reference.new"; then
            echo "If the new output is right, accept it with: mv $reference.new $reference"
        fi
    fi
}

golden estimate-mamba2-2.7b.txt estimate examples/estimate-mamba2-2.7b.json
golden estimate-mamba2-2.7b-explained.txt estimate examples/estimate-mamba2-2.7b.json --explain
golden recommend-llama-3-8b-eagle-h100.txt recommend examples/llama-3-8b-eagle-h100.json
golden recommend-llama-3-8b-eagle-h100-explained.txt recommend examples/llama-3-8b-eagle-h100.json \
    --explain candidates,pareto,sensitivity,trust,loads,memory,engine
golden sweep-spire-study.txt sweep examples/spire-study.json
golden help.txt --help
finish
