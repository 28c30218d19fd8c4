#!/bin/sh
# Measures the GPU of a machine that has nothing but NVIDIA's driver: treeline is built where its packages are, as one program
# with the libraries that a bare machine lacks, cuBLASLt among them, and carried there.
#
#   scripts/gpu_calibration.sh pack [--all-gpus | --build FOLDER] OUT.tar.gz
#       on the build machine: builds the program and packs it with the catalogues. With --all-gpus machine code for every
#       generation from Ampere on, which takes several times as long to build; else drivers compile it for some. With --build
#       what is built in FOLDER already.
#   sh gpu_calibration.sh run [cuda:1] [--quick] [--minutes N] [--lock-clock]
#       on the GPU machine, in the unpacked folder: a first calibration in 4 minutes, tests of the kernels in 4 more, everything
#       in 20 (N). --quick stops after the first.
#
# What comes back is treeline-gpu.tar.gz: the tests of the kernels against the double reference, raw measurements, calibration,
# device description, report and the program's output. Tests that fail are said at the end; what was measured comes back anyway.
# An interrupted run goes on where it stopped: run it again. docs/calibration.md says what to do with the results.
set -eu

fail() {
    echo "gpu_calibration: $*" >&2
    exit 1
}

# The toolkit's cuBLASLt, which the program loads while it runs, so that ldd does not know of it.
cublas_lt() {
    root=$(dirname "$(dirname "$(readlink -f "$1")")")
    for place in "$root/lib64" "$root/targets/x86_64-linux/lib" /usr/lib/x86_64-linux-gnu /usr/lib64; do
        for library in "$place/libcublasLt.so.$2" "$place"/libcublasLt.so.[0-9]*; do
            if [ -f "$library" ]; then
                echo "$library"
                return
            fi
        done
    done
}

# Libraries that a bare machine lacks; the C library and the driver's own are its.
needed_by() {
    ldd "$@" | awk '$3 ~ /^\// {print $3}' | sort -u | grep -vE '/(libc|libm|ld-linux.*|libpthread|libdl|librt|libcuda)\.so' || true
}

pack() {
    architectures=few folder=''
    case ${1:-} in
        --all-gpus) architectures=all; shift ;;
        --build) folder=$(realpath "${2:?--build needs a folder}"); shift 2 ;;
    esac
    [ $# = 1 ] || fail "pack needs the name of the archive to write"
    case $1 in /*) archive=$1 ;; *) archive=$PWD/$1 ;; esac
    cd "$(dirname "$0")/.."
    if [ -z "$folder" ]; then
        command -v cmake >/dev/null 2>&1 || fail "cmake is missing; ./run installs what building needs"
        folder=build-gpu
        cmake --preset release -B "$folder" -DTREELINE_CUDA=ON -DTREELINE_CUDA_ARCHITECTURES=$architectures \
            -DCMAKE_EXE_LINKER_FLAGS="-static-libgcc -static-libstdc++" -DCMAKE_FIND_LIBRARY_SUFFIXES=".a;.so" >/dev/null ||
            fail "configuring $folder failed"
    fi
    nvcc=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$folder/CMakeCache.txt")
    case $nvcc in *nvcc) ;; *) fail "no nvcc here: the program would have no CUDA kernels" ;; esac
    toolkit=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    library=$(cublas_lt "$nvcc" "${toolkit%%.*}")
    [ -n "$library" ] || fail "libcublasLt.so.${toolkit%%.*} is not beside nvcc; linear layers could not be measured without it"
    cmake --build "$folder" --target treeline treeline_gpu_tests || fail "building treeline failed"
    stage=$(mktemp -d)
    trap 'rm -rf "$stage"' EXIT
    mkdir "$stage/treeline-gpu" "$stage/treeline-gpu/lib"
    cp "$folder/treeline" "$folder/tests/kernels/treeline_gpu_tests" scripts/gpu_calibration.sh "$stage/treeline-gpu/"
    strip "$stage/treeline-gpu/treeline" "$stage/treeline-gpu/treeline_gpu_tests"
    cp -r models hardware examples "$stage/treeline-gpu/"
    cp -L "$library" "$stage/treeline-gpu/lib/libcublasLt.so.${toolkit%%.*}"
    for each in $(needed_by "$folder/treeline" "$folder/tests/kernels/treeline_gpu_tests" "$library"); do
        cp -L "$each" "$stage/treeline-gpu/lib/"
    done
    case ${toolkit%%.*} in 11) driver=450 ;; 12) driver=525 ;; *) driver=580 ;; esac
    echo "NVIDIA's driver, version $driver or newer (built with CUDA $toolkit), and a C library as new as $(ldd --version | sed -n '1s/.* //p')" \
        >"$stage/treeline-gpu/NEEDS"
    tar -C "$stage" -czf "$archive" treeline-gpu
    echo "Packed $1, which needs $(cat "$stage/treeline-gpu/NEEDS")."
    echo "On the GPU machine: tar xzf $(basename "$1") && cd treeline-gpu && sh gpu_calibration.sh run"
}

# Ends in the reason where there is no device to measure.
require_device() {
    status=0
    ./treeline_gpu_tests --list-test-names-only >results/device.txt 2>&1 || status=$?
    [ $status != 77 ] || fail "$(sed -n 's/^skipped: //p' results/device.txt)"
}

# The kernels against the double reference, the decoder and the measuring protocol on the device; sets `tests`.
test_kernels() {
    command -v timeout >/dev/null 2>&1 && limit="timeout 240" || limit=
    status=0
    $limit ./treeline_gpu_tests --durations yes ${TREELINE_GPU_TESTS:+"$TREELINE_GPU_TESTS"} >results/kernel-tests.txt 2>&1 || status=$?
    case $status in
        0) tests=passed ;;
        124) tests="did not end within 240 s" ;;
        *) tests=failed ;;
    esac
    echo "Tests of the kernels on the device: $tests"
}

# measure MINUTES FLAG...: a kernel that takes the device's context with it ends the process; the next one leaves that kernel out
# and has the rest of the minutes. Measured data stay whatever happens; the reason is the program's own sentence.
measure() {
    until=$(echo "$(date +%s) $1" | awk '{printf "%d", $1 + 60 * $2}')
    shift
    for attempt in 1 2 3 4; do
        left=$((until - $(date +%s)))
        [ $left -gt 5 ] || break
        # A kernel that never ends holds its process for good: two minutes more are for what a run that ends takes to fit.
        command -v timeout >/dev/null 2>&1 && limit="timeout $((left + 120))" || limit=
        status=0
        $limit ./treeline calibrate --catalogue "$PWD" --device "$device" --output results --minutes "$(echo $left | awk '{print $1 / 60}')" "$@" \
            >results/calibrate.txt 2>results/messages.txt || status=$?
        cat results/messages.txt >&2
        [ $status != 0 ] || return 0
        [ $status != 124 ] || echo "gpu_calibration: a kernel did not end" >&2
        grep -q 'does not work any more' results/messages.txt || break
    done
    tar czf treeline-gpu.tar.gz results
    fail "stopped; what was measured so far is in treeline-gpu.tar.gz"
}

run() {
    device=cuda quick='' minutes='' lock=''
    while [ $# -gt 0 ]; do
        case $1 in
            cuda*) device=$1 ;;
            --quick) quick=1 ;;
            --minutes) minutes=${2:-}; shift ;;
            --lock-clock) lock=$1 ;;
            *) fail "run takes cuda:N, --quick, --minutes N and --lock-clock, not $1" ;;
        esac
        shift
    done
    cd "$(dirname "$0")"
    [ -x ./treeline ] && [ -x ./treeline_gpu_tests ] || fail "./treeline or its tests are not here: unpack the archive that '$0 pack' writes, and run inside it"
    LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    export LD_LIBRARY_PATH
    mkdir -p results
    ./treeline --version >results/version.txt || fail "the program does not start here; it needs $(cat NEEDS 2>/dev/null || echo "the build machine's C library")"
    require_device
    if command -v nvidia-smi >/dev/null 2>&1; then
        nvidia-smi -q >results/nvidia-smi.txt 2>&1 || true
    fi
    started=$(date +%s)
    measure "$(echo "${minutes:-20} ${quick:-0}" | awk '{print $2 == 1 ? ($1 < 4 ? $1 : 4) : $1 / 5}')" --quick $lock
    echo "A first calibration is in results/ after $(($(date +%s) - started)) s."
    tests="were not run"
    if [ -z "$quick" ]; then
        test_kernels
        measure "$(echo "${minutes:-20}" | awk '{print $1 * 3 / 5}')" --check $lock
    fi
    cat results/calibrate.txt
    tar czf treeline-gpu.tar.gz results
    [ "$tests" = passed ] || echo "The tests of the kernels $tests: see results/kernel-tests.txt before using these figures." >&2
    echo "$(($(date +%s) - started)) s. Bring back treeline-gpu.tar.gz; there, treeline calibrate --from results --output my-gpu reads it."
}

command=${1:-}
[ $# = 0 ] || shift
case "$command" in
    pack) pack "$@" ;;
    run) run "$@" ;;
    *) fail "say pack or run (see the head of this file)" ;;
esac
