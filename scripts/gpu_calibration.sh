#!/bin/sh
# Measures the GPU of a machine that has nothing but a driver (or the CUDA toolkit): treeline is built where its packages are,
# as one program without shared libraries beside the C library, and carried there.
#
#   scripts/gpu_calibration.sh pack OUT.tar.gz     on the build machine: builds the program and packs it with the catalogues
#   sh gpu_calibration.sh run [cuda:1] [--quick]   on the GPU machine, in the unpacked folder: tests, measures, checks, packs
#
# What comes back is treeline-gpu.tar.gz: the tests of the kernels against the double reference, raw measurements, calibration,
# device description, report and the program's output. Tests that fail are said at the end; what was measured comes back anyway. An interrupted run goes on where it stopped: run it again.
set -eu

fail() {
    echo "gpu_calibration: $*" >&2
    exit 1
}

pack() {
    [ $# = 1 ] || fail "pack needs the name of the archive to write"
    cd "$(dirname "$0")/.."
    command -v cmake >/dev/null 2>&1 || fail "cmake is missing; ./run installs what building needs"
    folder=build-gpu
    cmake --preset release -B "$folder" -DCMAKE_EXE_LINKER_FLAGS="-static-libgcc -static-libstdc++" \
        -DCMAKE_FIND_LIBRARY_SUFFIXES=".a;.so" >/dev/null || fail "configuring $folder failed"
    grep -q '^CMAKE_CUDA_COMPILER:.*nvcc' "$folder/CMakeCache.txt" || fail "no nvcc here: the program would have no CUDA kernels"
    cmake --build "$folder" --target treeline treeline_gpu_tests || fail "building treeline failed"
    stage=$(mktemp -d)
    trap 'rm -rf "$stage"' EXIT
    mkdir "$stage/treeline-gpu" "$stage/treeline-gpu/lib"
    cp "$folder/treeline" "$folder/tests/kernels/treeline_gpu_tests" scripts/gpu_calibration.sh "$stage/treeline-gpu/"
    strip "$stage/treeline-gpu/treeline" "$stage/treeline-gpu/treeline_gpu_tests"
    cp -r models hardware examples "$stage/treeline-gpu/"
    # Libraries that a bare machine lacks; the C library and the driver's own are its.
    ldd "$folder/treeline" "$folder/tests/kernels/treeline_gpu_tests" | awk '$3 ~ /^\// {print $3}' | grep -vE '/(libc|libm|ld-linux.*|libpthread|libdl|librt|libcuda)\.so' |
        while read -r library; do cp -L "$library" "$stage/treeline-gpu/lib/"; done
    tar -C "$stage" -czf "$1" treeline-gpu
    echo "Packed $1. On the GPU machine: tar xzf $(basename "$1") && cd treeline-gpu && sh gpu_calibration.sh run"
}

# The kernels against the double reference, the decoder and the measuring protocol on the device; sets `tests`. Exit code 77: no
# device, which the measuring program then explains.
test_kernels() {
    command -v timeout >/dev/null 2>&1 && limit="timeout 240" || limit=
    status=0
    $limit ./treeline_gpu_tests --durations yes >results/kernel-tests.txt 2>&1 || status=$?
    case $status in
        0) tests=passed ;;
        77) tests="were skipped" ;;
        124) tests="did not end within 240 s" ;;
        *) tests=failed ;;
    esac
    echo "Tests of the kernels on the device: $tests"
}

run() {
    device=cuda
    case "${1:-}" in cuda*) device=$1; shift ;; esac
    cd "$(dirname "$0")"
    [ -x ./treeline ] && [ -x ./treeline_gpu_tests ] || fail "./treeline or its tests are not here: unpack the archive that '$0 pack' writes, and run inside it"
    LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    export LD_LIBRARY_PATH
    ./treeline --version >/dev/null || fail "the program does not start here (is the C library older than the build machine's?)"
    mkdir -p results
    if command -v nvidia-smi >/dev/null 2>&1; then
        nvidia-smi -q >results/nvidia-smi.txt 2>&1 || true
    else
        echo "nvidia-smi is not here: driver, clocks and temperature go unrecorded"
    fi
    ./treeline --version >results/version.txt
    started=$(date +%s)
    test_kernels
    # Measured data stay whatever happens; the reason is the program's own sentence.
    if ! ./treeline calibrate --catalogue "$PWD" --device "$device" --check --output results "$@" \
        >results/calibrate.txt 2>results/messages.txt; then
        cat results/messages.txt >&2
        tar czf treeline-gpu.tar.gz results
        fail "stopped; what was measured so far is in treeline-gpu.tar.gz"
    fi
    cat results/messages.txt >&2
    cat results/calibrate.txt
    tar czf treeline-gpu.tar.gz results
    [ "$tests" = passed ] || echo "The tests of the kernels $tests: see results/kernel-tests.txt before using these figures." >&2
    echo "$(($(date +%s) - started)) s. Bring back treeline-gpu.tar.gz; raw measurements belong into calibrate/measurements/<device>/."
}

command=${1:-}
[ $# = 0 ] || shift
case "$command" in
    pack) pack "$@" ;;
    run) run "$@" ;;
    *) fail "say pack or run (see the head of this file)" ;;
esac
