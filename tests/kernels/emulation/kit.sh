# The kit of scripts/gpu_calibration.sh on the emulated device: time budget, results after every case, a case that fails survived, a run
# that goes on where another stopped, one that is killed, and all of them merged and read in one command. The emulation is so slow
# that runs end in their first pass, after the yardsticks: samples are too few for laws of kernels.
. "$SOURCE/tests/cli/lib.sh"
# 2 MB of rotating memory, in which one linear layer fits, and a last-level cache far below that.
export TREELINE_EMULATED_MEMORY=24 TREELINE_EMULATED_CACHE=64 TREELINE_TEST_SEED=1
export TREELINE_GPU_TESTS="there are CUDA devices, or a reason for none"

# unpacked FOLDER: what the archive holds, with the emulated device in place of a real one.
unpacked() {
    mkdir "$1"
    ln -s "$EMULATED" "$1/treeline"
    ln -s "$EMULATED_TESTS" "$1/treeline_gpu_tests"
    cp "$SOURCE/scripts/gpu_calibration.sh" "$1"
    ln -s "$SOURCE/models" "$SOURCE/hardware" "$SOURCE/examples" "$1"
}
# rows FOLDER TABLE: measured cases.
rows() { cat "$1"/measurements/*_"$2".csv 2>/dev/null | grep -v '^#' | sed 1d | wc -l; }
run_kit() { (cd "$1" && sh gpu_calibration.sh run --quick --minutes 0.2) >out.txt 2>err.txt; }
said() { tail -n 3 out.txt; tail -n 3 err.txt; }

# Kernels that cannot be launched (attention and scans, which an emulation takes minutes for) cost their own cases; the run ends in
# time with everything else.
unpacked first
started=$(date +%s)
checks=$((checks + 1))
export TREELINE_EMULATED_FAILURE=Parameters
run_kit first || fail "the first run: $(said)"
took=$(($(date +%s) - started))
echo "the first run took $took s, 12 of them for measuring"
[ "$took" -le 150 ] || fail "the run took $took s"
[ -f first/treeline-gpu.tar.gz ] || fail "nothing to bring back"
missing=$(cat first/results/measurements/*_missing.csv)
echo "$missing" | grep -q 'failed.*TREELINE_EMULATED_FAILURE' || fail "the failing case is not listed: $(echo "$missing" | head -n 3)"
echo "$missing" | grep -q 'needs .* MiB at once' || fail "what does not fit is not listed"
[ "$(rows first/results probe)" = 3 ] || fail "not the three probes: $(cat first/results/measurements/*_probe.csv)"
[ "$(rows first/results all_reduce)" -ge 3 ] || fail "no all-reduces of the two devices: $(echo "$missing" | grep all_reduce)"
[ "$(rows first/results mamba2_scan)" = 0 ] || fail "a failing case has a row"
[ "$(rows first/results launch)" -ge 1 ] && [ "$(rows first/results gemm)" -ge 1 ] || fail "no launch or no product was measured"

# The next run goes on: what is there stays.
checks=$((checks + 1))
before=$(cat first/results/measurements/*_gemm.csv | wc -l)
run_kit first || fail "the second run: $(said)"
[ "$(cat first/results/measurements/*_gemm.csv | wc -l)" -ge "$before" ] || fail "products were lost"

# A run that is killed leaves every case that it had visited.
unpacked second
checks=$((checks + 1))
(cd second && exec ./treeline calibrate --catalogue "$PWD" --device cuda --quick --minutes 5 --output results) >out.txt 2>err.txt &
process=$!
for second in $(seq 240); do
    sleep 1
    [ "$(rows second/results probe)" -ge 2 ] && break
done
kill -9 "$process" || fail "the run had ended: $(said)"
wait "$process" 2>/dev/null
[ "$(rows second/results probe)" -ge 2 ] || fail "a run that is killed has no probes"

# Partial runs, read together in one command.
checks=$((checks + 1))
"$TREELINE" calibrate --from first/results second/results --output merged >out.txt 2>err.txt || fail "calibrate --from: $(said)"
grep -q 'Memory: .* read, .* written' out.txt || fail "no bandwidth: $(head -n 5 out.txt)"
[ "$(rows merged probe)" = 3 ] || fail "the probes were not merged"
grep -q 'A second device: .* read from its memory' out.txt || fail "no link: $(head -n 5 out.txt)"
device=$(ls merged/*.json | grep -v -e '-calibration.json')
checks=$((checks + 1))
"$TREELINE" calibrate --from merged --output merged >out.txt 2>err.txt || fail "into the folder that is read: $(said)"
expect 0 'tokens' estimate --target llama-3.2-1b --device "$device" --stack ideal
expect 0 'tokens' estimate --target llama-3.2-1b --device "$device" --stack vllm --tensor-parallel 2

# One device alone: what takes two is listed with the reason.
checks=$((checks + 1))
unpacked third
(export TREELINE_EMULATED_DEVICES=1 && run_kit third) || fail "the run on one device: $(said)"
[ "$(grep -c 'all_reduce.*needs two devices that read each other.s memory, and there is one' third/results/measurements/*_missing.csv)" = 5 ] ||
    fail "all-reduces without a second device: $(grep all_reduce third/results/measurements/*_missing.csv)"
[ "$(rows third/results all_reduce)" = 0 ] || fail "all-reduces of one device"
"$TREELINE" calibrate --from third/results --output alone >out.txt 2>err.txt || fail "calibrate --from of one device: $(said)"
! grep -q interconnects alone/*[0-9].json || fail "a link without a second device"

# A device on which nothing runs: one sentence.
checks=$((checks + 1))
TREELINE_EMULATED_FAILURE='void (*)()' first/treeline calibrate --device cuda --output lost >out.txt 2>err.txt
[ $? = 2 ] && grep -q 'does not run the kernels of this program' err.txt || fail "a device that runs nothing: $(said)"
finish
