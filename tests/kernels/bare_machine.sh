#!/usr/bin/env bash
# What scripts/gpu_calibration.sh packs, on a Debian that has nothing but its essential packages, as a machine with a driver would have:
# everything starts, and the run ends in one sentence that names the driver. bare_machine.sh BUILD_FOLDER
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
fail() { echo "FAILED: $*"; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "making a root of another system takes root"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mmdebstrap --quiet --variant=essential bookworm "$work/bare" 2>"$work/said" || skip "mmdebstrap: $(tail -1 "$work/said")"
"$root/scripts/gpu_calibration.sh" pack --build "$build" "$work/kit.tar.gz" >"$work/said" 2>&1 || fail "pack: $(tail -3 "$work/said")"
tar -C "$work/bare/srv" -xzf "$work/kit.tar.gz"
kit=/srv/treeline-gpu
[ -f "$work/bare$kit"/lib/libcublasLt.so.* ] || fail "the archive has no cuBLASLt"

inside() { chroot "$work/bare" sh -c "cd $kit && $1"; }
status=0
inside 'sh gpu_calibration.sh run' >"$work/said" 2>&1 || status=$?
cat "$work/said"
[ "$status" = 1 ] || fail "exit code $status instead of 1"
[ "$(wc -l <"$work/said")" = 1 ] || fail "more than one line"
grep -Eq '^gpu_calibration: no NVIDIA driver is installed here; this program needs one of version [0-9]+ or newer$' "$work/said" ||
    fail "another sentence than that a driver is missing"

# The program by itself, and the library that it would load once there is a device.
status=0
inside 'LD_LIBRARY_PATH=lib ./treeline calibrate --catalogue . --device cuda --output out' >"$work/said" 2>&1 || status=$?
cat "$work/said"
[ "$status" = 2 ] && grep -q 'no NVIDIA driver is installed here' "$work/said" || fail "exit code $status"
needs=$(inside 'for file in treeline treeline_gpu_tests lib/*; do LD_LIBRARY_PATH=lib LD_TRACE_LOADED_OBJECTS=1 LD_WARN=1 /lib64/ld-linux-x86-64.so.2 ./$file 2>&1; done' |
    grep -E 'not found' || true)
[ -z "$needs" ] || fail "libraries are missing: $needs"
inside 'LD_LIBRARY_PATH=lib ./treeline recommend examples/starter.json --catalogue .' >"$work/said" 2>&1 || fail "recommend: $(tail -3 "$work/said")"
echo "starts, and asks for a driver in one sentence"
