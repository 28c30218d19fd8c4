#!/usr/bin/env bash
# What a release consists of, made and tested.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage="Usage: scripts/release.sh [--jobs N] [--test] [--again] [OUTPUT_FOLDER]

Writes into OUTPUT_FOLDER (default: out/release):
  treeline_*.deb, treeline-*.tar.gz         the static program (preset portable, in build-portable/)
  libtreeline-dev_*.deb, python3-treeline_*.deb   for Debian 12 (in build-debian/)
  treeline-*.whl                            the Python module (in build-wheel/)
  treeline-*.html                           the live page, docs/live.html
  treeline-*.spdx, CHANGELOG.md, SHA256SUMS what program, wheel and page carry; what has changed; sums of all

  --jobs N  compile with N processes (default: all cores)
  --test    install and run all of it: packages in fresh roots of Debian 12 and 13, the program in an empty root, the wheel in an empty virtual
            environment (needs root, mmdebstrap, lintian and python3-venv)
  --again   make the last commit's release in another folder, and compare every byte

Exit code 77: all that could be tested passed, but a Debian could not be fetched."

jobs=$(nproc) test=no again=no output=out/release
while [ $# -gt 0 ]; do
    case $1 in
        --jobs) jobs=${2:?$usage}; shift 2 ;;
        --test) test=yes; shift ;;
        --again) again=yes; shift ;;
        -h | --help) echo "$usage"; exit 0 ;;
        -*) echo "$usage" >&2; exit 2 ;;
        *) output=$1; shift ;;
    esac
done
fail() { echo "scripts/release.sh: $*" >&2; exit 1; }
quietly() { "$@" >"$output/log" 2>&1 || { tail -n 40 "$output/log" >&2; fail "$* failed"; }; }

# Of the commit, so that two runs write the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
launcher=""
! command -v ccache >/dev/null || launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache

mkdir -p "$output"
output=$(realpath "$output")
rm -rf "${output:?}"/*

# --- building ---

# pack BUILD_FOLDER GENERATOR [OPTION...]: its packages into the output.
pack() {
    (cd "$1" && quietly cpack -G "$2" -B "$PWD/packages" "${@:3}")
    find "$1/packages" -maxdepth 1 -name '*treeline*' -type f -exec mv {} "$output" \;
}

quietly cmake --preset portable $launcher
quietly cmake --build build-portable --target treeline --parallel "$jobs"
bash tests/live/fresh.sh . build-portable/treeline
pack build-portable DEB
pack build-portable TGZ -D CPACK_PACKAGING_INSTALL_PREFIX=/ -D CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY=ON  # one folder: bin/, share/
version=$(build-portable/treeline --version | sed -n '1s/treeline //p')

quietly cmake --preset no-cuda -B build-debian -DCMAKE_INSTALL_PREFIX=/usr -DTREELINE_KERNELS=OFF -DTREELINE_SCRAPE=OFF \
    -DTREELINE_TESTS=OFF -DTREELINE_MPI=OFF $launcher
quietly cmake --build build-debian --parallel "$jobs"
pack build-debian DEB

PYTHONPATH=python/packaging quietly python3 -Bc 'import sys, treeline_wheel; treeline_wheel.build_wheel(sys.argv[1], {"build-dir": sys.argv[2], "cmake-args": sys.argv[3]})' \
    "$output" "$PWD/build-wheel" "$launcher"

cp docs/live.html "$output/treeline-$version.html"
cp CHANGELOG.md "$output"
rm -f "$output/log"

# --- what is inside (SPDX) ---

spdx_id() { printf 'SPDXRef-%s' "$(printf %s "$1" | tr -c 'A-Za-z0-9.-' -)"; }

# spdx_package NAME VERSION LICENCE [PART_OF...]
spdx_package() {
    printf '\nPackageName: %s\nSPDXID: %s\nPackageVersion: %s\nPackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\nPackageLicenseConcluded: %s\n' \
        "$1" "$(spdx_id "$1")" "$2" "$3"
    local name=$1 whole
    for whole in "${@:4}"; do
        printf 'Relationship: %s CONTAINS %s\n' "$(spdx_id "$whole")" "$(spdx_id "$name")"
    done
}

program=treeline wheel=treeline-python page=treeline-live-page
{
    printf 'SPDXVersion: SPDX-2.3\nDataLicense: CC0-1.0\nSPDXID: SPDXRef-DOCUMENT\nDocumentName: treeline-%s\n' "$version"
    printf 'DocumentNamespace: https://spdx.org/spdxdocs/treeline-%s-%s\nCreator: Tool: scripts/release.sh\nCreated: %s\n' \
        "$version" "$(git rev-parse HEAD)" "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
    for whole in $program $wheel $page; do
        printf 'Relationship: SPDXRef-DOCUMENT DESCRIBES %s\n' "$(spdx_id "$whole")"
    done
    for whole in $program $wheel $page; do
        spdx_package "$whole" "$version" Apache-2.0
    done
    while read -r package licence wholes; do
        # shellcheck disable=SC2086  # a list
        spdx_package "$package" "$(dpkg-query -W -f '${Version}' "$package")" "$licence" $wholes
    done <<LIST
libfmt-dev MIT $program $wheel $page
nlohmann-json3-dev MIT $program $wheel $page
libeigen3-dev MPL-2.0 $program $wheel $page
libyaml-cpp-dev MIT $program $wheel
libcli11-dev BSD-3-Clause $program
libsqlite3-dev blessing $program
libc6-dev LGPL-2.1-or-later $program
pybind11-dev BSD-3-Clause $wheel
LIST
    spdx_package libstdc++ "$(g++ -dumpfullversion)" "GPL-3.0-or-later WITH GCC-exception-3.1" $program $wheel
    # Emscripten's own libraries have its version (scripts/live_module.sh takes no other).
    spdx_package emscripten 3.1.6 MIT $page
    spdx_package emscripten-musl 3.1.6 MIT $page
    spdx_package emscripten-libcxx 3.1.6 "Apache-2.0 WITH LLVM-exception" $page
    node -e 'const lock = require("./reports/page/package-lock.json");
             for (const [path, at] of Object.entries(lock.packages)) if (path && !at.dev) console.log(path.replace(/.*node_modules\//, ""), at.version, at.license || "NOASSERTION");' |
        sort -u | while read -r name of licence; do spdx_package "$name" "$of" "$licence" $program $wheel $page; done
} >"$output/treeline-$version.spdx"
(cd "$output" && sha256sum -- *treeline* CHANGELOG.md >SHA256SUMS)
cat "$output/SHA256SUMS"

# --- testing ---

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

if [ "$again" = yes ]; then
    [ -z "$(git status --porcelain)" ] || fail "--again compares with the last commit, and there are changes"
    git clone --quiet . "$work/other-folder"
    (cd "$work/other-folder" && scripts/release.sh --jobs "$jobs" >/dev/null)
    cmp "$output/SHA256SUMS" "$work/other-folder/out/release/SHA256SUMS" || fail "another folder makes other bytes"
    echo "made again in another folder: the same bytes"
fi
[ "$test" = yes ] || exit 0

[ "$(id -u)" = 0 ] || fail "--test makes roots of other systems, which takes root"
lintian --allow-root --fail-on error,warning "$output"/*.deb || fail "lintian complains"
echo "lintian: clean"

cp examples/starter.json "$work"
mkdir "$work/archive" "$work/empty"
tar -xzf "$output"/treeline-*.tar.gz -C "$work/archive"
carried=$(find "$work/archive" -path "*/treeline-*/bin/treeline" -type f -perm -u+x)
[ -n "$carried" ] || fail "the archive has no treeline-*/bin/treeline"
! strings -a "$carried" | grep -F -e "$PWD" || fail "the program holds the folder that it was built in"
"$carried" recommend "$work/starter.json" >"$work/expected.txt"

# What it lacks it does not offer, and says so where it is asked for it.
"$carried" manual >"$work/manual"
for lacking in "import --from http://127.0.0.1:1" "calibrate --device cpu --quick" "serve" "decode examples/decode/pythia-chain.json"; do
    # shellcheck disable=SC2086  # a command line
    ! "$carried" $lacking >"$work/log" 2>&1 || fail "treeline $lacking: the portable program has it"
    grep -q 'treeline was built without' "$work/log" || fail "treeline $lacking says: $(head -n 3 "$work/log")"
done
! grep -nE -e '\\-\\-(quick|seconds|port)|treeline decode|--(quick|seconds|port)' "$work/manual" || fail "the manual offers what the program lacks"
echo "the archive: one folder, and what the program lacks it does not offer"

# An empty root: no library, no shell, no /proc, no catalogue but the program's own.
cp "$carried" "$work/starter.json" "$work/empty"
chroot "$work/empty" /treeline recommend /starter.json | cmp - "$work/expected.txt" || fail "in an empty root the program answers otherwise"
echo "an empty root: the same answer"

# This source, by pip, without a network and without what the build back end would find here of an earlier build but its objects.
python3 -m venv "$work/venv"
unshare --net "$work/venv/bin/pip" install --quiet --no-index --no-deps --config-settings build-dir="$PWD/build-wheel" . >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; fail "pip install . fails"; }
"$work/venv/bin/python" -c 'import sys, treeline; print(treeline.recommend(sys.argv[1]).sentence)' "$work/starter.json" >"$work/sentence"
[ "$(tr '\n' ' ' <"$work/expected.txt" | grep -cF "$(cat "$work/sentence")")" = 1 ] || fail "what pip installs answers otherwise: $(cat "$work/sentence")"
echo "pip install . in an empty virtual environment, without a network: the same answer"

# In a root of Debian $1, with this machine's devices and processes as a container has them, but with no variable of this shell (a
# TMPDIR that the root lacks fails ca-certificates): shell commands.
inside() {
    # shellcheck disable=SC2016  # expanded by the inner shell
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        unshare --mount sh -c 'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && exec chroot "$1" sh -ec "$2"' inside "$work/$1" "$2" \
        >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "in a fresh $1: $2"; }
}

skipped=""
for release in bookworm trixie; do
    if ! mmdebstrap --quiet --variant=minbase "$release" "$work/$release" 2>"$work/log"; then
        echo "a fresh $release: skipped, it cannot be fetched: $(tail -n 1 "$work/log")"
        skipped="$skipped $release"
        rm -rf --one-file-system "${work:?}/$release"
        continue
    fi
    cp "$output"/*.deb "$output"/*.whl "$work/starter.json" "$work/$release/srv"
    inside $release 'apt-get install -y /srv/treeline_*.deb'
    chroot "$work/$release" treeline recommend /srv/starter.json | cmp - "$work/expected.txt" || fail "in a fresh $release the package answers otherwise"
    inside $release 'apt-get purge -y treeline; ! ls -d /usr/share/treeline /usr/share/doc/treeline /usr/bin/treeline'
    echo "a fresh $release: installed, the same answer, removed"
    if [ $release = bookworm ]; then
        inside $release 'apt-get update'  # what the program's package does not need
        inside $release 'apt-get install -y --no-install-recommends /srv/python3-treeline_*.deb'
        inside $release 'cd /srv && python3 -c "import treeline; print(treeline.recommend(\"starter.json\").sentence)"'
        head -n 1 "$work/log" >"$work/sentence"
        inside $release 'apt-get purge -y python3-treeline && apt-get install -y --no-install-recommends python3-venv'
        inside $release 'python3 -m venv /srv/venv && /srv/venv/bin/pip install --no-index --no-deps /srv/*.whl'
        inside $release 'cd /srv && venv/bin/python -c "import treeline; print(treeline.recommend(\"starter.json\").sentence)"'
        cmp "$work/sentence" "$work/log" || fail "the wheel answers otherwise than the package"
        [ "$(tr '\n' ' ' <"$work/expected.txt" | grep -cF "$(cat "$work/sentence")")" = 1 ] || fail "Python answers otherwise than the program: $(cat "$work/sentence")"
        echo "a fresh $release: python3-treeline, and the wheel in an empty virtual environment: the same answer"
        # The tests of the module, by Debian's pytest and NumPy; the one that installs a build tree has none here.
        mkdir "$work/$release/srv/source"
        cp -r --parents docs examples models hardware calibrate/measurements tests/python "$work/$release/srv/source"
        cp "$carried" "$work/$release/srv/treeline"
        inside $release 'apt-get install -y --no-install-recommends python3-pytest python3-numpy python3-matplotlib'
        inside $release 'cd /srv/source && SOURCE=$PWD TREELINE=/srv/treeline PYTHONPATH=/usr/lib/python3/dist-packages /srv/venv/bin/python \
            -m pytest -q -p no:cacheprovider -k "not installed_package" tests/python'
        echo "a fresh $release: the tests of the wheel: $(tail -n 1 "$work/log")"
        inside $release 'apt-get install -y --no-install-recommends g++ cmake ninja-build /srv/libtreeline-dev_*.deb'
        cp -r examples/cpp "$work/$release/srv/"
        inside $release 'cd /srv && cmake -S cpp -B cpp/build -G Ninja && cmake --build cpp/build && cpp/build/hello /srv/starter.json'
        echo "a fresh $release: libtreeline-dev builds examples/cpp"
    fi
    rm -rf --one-file-system "${work:?}/$release"
done
[ -z "$skipped" ] || { echo "not tested:$skipped"; exit 77; }
