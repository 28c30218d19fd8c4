# What the scripts of this folder share. Each starts with an empty $WORK and ends with `finish`.
set -u
export OMP_WAIT_POLICY=passive  # tests run side by side: threads of kernels must not spin
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK" || exit 1
failures=0
checks=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

finish() {
    echo "$checks checks, $failures failures"
    [ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
}

# expect CODE PATTERN ARGUMENT...: the program ends with CODE; PATTERN (extended regular expression) is found in what it says: on
# standard error for a failure, which must then be sentences and nothing else, on standard output for a success.
expect() {
    local code=$1 pattern=$2
    shift 2
    checks=$((checks + 1))
    "$TREELINE" "$@" >out.txt 2>err.txt
    local got=$?
    local said=out.txt
    [ "$code" -ne 0 ] && said=err.txt
    if [ "$got" -ne "$code" ]; then
        fail "treeline $*: exit code $got instead of $code: $(head -c 400 err.txt)"
    elif ! tr '\n' ' ' <"$said" | grep -qE -- "$pattern"; then
        fail "treeline $*: nothing like \"$pattern\" in: $(head -c 600 "$said")"
    elif [ "$code" -eq 0 ] && [ -s err.txt ]; then
        fail "treeline $*: succeeded, but said: $(head -c 400 err.txt)"
    elif [ "$code" -ne 0 ] && { [ -s out.txt ] || grep -qvE '^treeline: [^ ]' err.txt || grep -qE 'terminate|std::|Assertion|core dumped' err.txt; }; then
        fail "treeline $*: failed without plain sentences: $(head -c 400 err.txt out.txt)"
    fi
}

# with_json TEXT: writes a file and names it.
with_json() {
    printf '%s' "$1" >input.json
}
