# JSON in, JSON out: a result holds its input, can be run again, and comes out the same.
. "$(dirname "$0")/lib.sh"

same_again() {
    local command=$1 file=$2
    checks=$((checks + 1))
    "$TREELINE" "$command" "$file" --format json >first.json || fail "$command $file"
    "$TREELINE" "$command" first.json --format json >second.json || fail "$command of its own result"
    cmp -s first.json second.json || fail "$command $file: its result gives another result"
    "$JSON_GET" first.json /sentence >/dev/null || fail "$command $file: no sentence"
}

same_again estimate "$SOURCE/examples/estimate-mamba2-2.7b.json"
for workload in llama-3-70b-8xh100 llama-3-8b-eagle-h100 mamba2-2.7b-rtx4090; do
    same_again recommend "$SOURCE/examples/$workload.json"
done

# Flags and a file that says the same.
checks=$((checks + 1))
"$TREELINE" estimate --model mamba2-2.7b --device rtx-4090 --drafter mamba2-130m --accept-length 3.08 --prompt 512 --format json >flags.json
"$TREELINE" estimate "$SOURCE/examples/estimate-mamba2-2.7b.json" --format json >file.json
for value in speedup accept_length memory round_ms plain passes; do
    [ "$("$JSON_GET" flags.json /$value)" = "$("$JSON_GET" file.json /$value)" ] || fail "flags and file differ in $value"
done

# A flag replaces a key of the file; the rest stays.
checks=$((checks + 1))
"$TREELINE" estimate "$SOURCE/examples/estimate-mamba2-2.7b.json" --batch 8 --format json >batch.json
[ "$("$JSON_GET" batch.json /configuration/batch)" = 8.0 ] && [ "$("$JSON_GET" batch.json /input/draft_tokens)" = 5 ] || fail "--batch over a file"

# Phases sum to the round, parts to the memory.
checks=$((checks + 1))
for key in draft verify rollback host total; do
    "$JSON_GET" file.json /round_ms/$key
done | awk '{v[NR]=$1} END {d = v[1]+v[2]+v[3]+v[4]-v[5]; exit !(NR == 5 && d < 1e-9 && d > -1e-9)}' || fail "phases do not sum to the round"

# What `treeline calibrate` writes is read again, with and without --source: a device that names the file is priced with it. (Every
# fourth row of the measurements: laws of all take four times as long to fit.)
measured=$SOURCE/calibrate/measurements/amd-epyc-2-cores
awk '/^#/ || !heading++ || ++rows % 4 == 0' "$measured/amd-epyc-2-cores_gemm.csv" >amd-epyc-2-cores_gemm.csv
sed 's/"calibration": "[^"]*"/"calibration": "laws.json"/' "$measured/amd-epyc-2-cores.json" >amd-epyc-2-cores.json
grep -q '"calibration": "laws.json"' amd-epyc-2-cores.json || fail "the device's description names no calibration to replace"
read_again() { # SOURCE, then flags: the laws are written, and name that source
    local source=$1
    shift
    checks=$((checks + 1))
    "$TREELINE" calibrate --from amd-epyc-2-cores_gemm.csv --device "$measured/amd-epyc-2-cores.json" --resamples 0 \
        --format json --output laws.json "$@" || fail "calibrate $*"
    [ "$("$JSON_GET" laws.json /source)" = "$source" ] || fail "calibrate $*: the source is $("$JSON_GET" laws.json /source)"
    expect 0 'calibrated mode decodes' estimate --model pythia-70m --device ./amd-epyc-2-cores.json --stack ideal --mode calibrated
}
read_again 'measured times in amd-epyc-2-cores_gemm.csv'
read_again 'my bench' --source 'my bench'

# Every JSON and CSV that a command can write is well-formed.
for arguments in models 'models llama-3-8b' hardware 'hardware h100-sxm' 'hardware vllm' "sweep $SOURCE/examples/spire-study.json"; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    "$TREELINE" $arguments --format json >any.json && "$JSON_GET" any.json || fail "treeline $arguments --format json"
    # shellcheck disable=SC2086
    "$TREELINE" $arguments --format csv >any.csv && [ "$(wc -l <any.csv)" -gt 1 ] || fail "treeline $arguments --format csv"
done
finish
