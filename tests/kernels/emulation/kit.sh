# The kit that is carried to a machine with a GPU (scripts/gpu_calibration.sh run), on the emulated device: it ends within its
# time, keeps every case as soon as it is measured, survives a kernel that fails and its own death, and its results are read by
# one command, those of two short runs together. Needs EMULATED (treeline on the emulated device), TESTS, SOURCE, WORK.
set -eu

fail() {
    echo "kit: $*" >&2
    exit 1
}

rm -rf "$WORK"
mkdir -p "$WORK/one/lib"
cd "$WORK/one"
ln -s "$EMULATED" treeline
ln -s "$TESTS" treeline_gpu_tests
cp "$SOURCE/scripts/gpu_calibration.sh" .
ln -s "$SOURCE/models" "$SOURCE/hardware" .
cp -r . ../two

# A small device, always the same one, whose tree scans fail.
export TREELINE_EMULATED_MEMORY=48 TREELINE_EMULATED_CACHE=64 TREELINE_TEST_SEED=1 TREELINE_EMULATED_FAILURE=TreeParameters
export OMP_WAIT_POLICY=passive

started=$(date +%s)
sh gpu_calibration.sh run --quick --minutes 0.15 >out.txt 2>err.txt || fail "the run failed: $(cat out.txt err.txt)"
seconds=$(($(date +%s) - started))
[ "$seconds" -le 60 ] || fail "a run of 9 s took $seconds s"
[ -f treeline-gpu.tar.gz ] || fail "nothing to bring back"
measurements=results/measurements
missing=$(echo $measurements/*_missing.csv)
grep -q 'the time did not suffice' "$missing" || fail "$missing does not say what the time did not suffice for"
grep -q 'more than the [0-9]* MiB set aside' "$missing" || fail "$missing does not say what has no room"
grep -q ',flush,' $measurements/*_gemm.csv || fail "no linear layer was measured with an empty cache"
grep -q 'NVIDIA\|emulated device' results/calibrate.txt || fail "the answer does not name the device"

# Killed in the middle of its first pass, a run has what it had measured by then; and the next one goes on.
cd ../two
"$EMULATED" calibrate --catalogue "$SOURCE" --device cuda --quick --output results >out.txt 2>err.txt &
run=$!
for second in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 1
    ls results/measurements/*_gemm.csv >/dev/null 2>&1 && break
done
sleep 1
kill -9 $run
wait $run 2>/dev/null || true
rows=$(cat results/measurements/*_gemm.csv | grep -vc '^#') || fail "what was measured before the end is gone"
[ "$rows" -ge 2 ] || fail "the linear layers measured before the end are gone"

# Both together, where the kit's results lie.
cd ..
"$EMULATED" calibrate --from one/results two/results --output both >both.txt 2>&1 || fail "merging: $(cat both.txt)"
ls both/*-calibration.json >/dev/null || fail "no calibration was written"
# Read again by the program that has no GPU at all, in the catalogue's format.
"$EMULATED" calibrate --from both --output again --format json >again.json || fail "the merged results are not read"

# A failing kernel is listed and costs itself alone.
cd one
grep -q 'TREELINE_EMULATED_FAILURE\|time did not suffice' "$missing" || fail "a failing kernel is not listed"
