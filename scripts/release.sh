#!/usr/bin/env bash
# The packages of a release, made and tested: scripts/packages.sh [--jobs N] [--test] [OUTPUT_FOLDER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage="Usage: scripts/packages.sh [--jobs N] [--test] [OUTPUT_FOLDER]

Builds the static program (preset portable) into build-portable/, and writes a .deb, a .tar.gz, a list of what the program carries (SPDX)
and SHA-256 sums into OUTPUT_FOLDER (default: out/packages). Two runs on one commit write the same bytes.

  --jobs N  compile with N processes (default: all cores)
  --test    also install and run the package in fresh roots of Debian 12 and 13, and the program in an empty root (needs root and mmdebstrap)"

jobs=$(nproc) test=no output=out/packages
while [ $# -gt 0 ]; do
    case $1 in
        --jobs) jobs=${2:?$usage}; shift 2 ;;
        --test) test=yes; shift ;;
        -h | --help) echo "$usage"; exit 0 ;;
        -*) echo "$usage" >&2; exit 2 ;;
        *) output=$1; shift ;;
    esac
done
fail() { echo "scripts/packages.sh: $*" >&2; exit 1; }

# Of the commit, so that two runs write the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

cmake --preset portable >/dev/null
cmake --build build-portable --target treeline --parallel "$jobs"
mkdir -p "$output"
output=$(realpath "$output")
rm -f "$output"/treeline*
for generator in DEB TGZ; do
    (cd build-portable && cpack -G $generator -B "$PWD/packages" >packages.log) || { cat build-portable/packages.log; fail "cpack -G $generator failed"; }
done
cp build-portable/packages/treeline*.deb build-portable/packages/treeline*.tar.gz "$output"

# What the program is made of: names and versions as dpkg knows them, and the locked packages of the report page.
version=$(build-portable/treeline --version | sed -n '1s/treeline //p')
spdx_package() {
    printf '\nPackageName: %s\nSPDXID: SPDXRef-%s\nPackageVersion: %s\nPackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\nPackageLicenseConcluded: %s\n' \
        "$1" "$(printf %s "$1" | tr -c 'A-Za-z0-9.-' -)" "$2" "$3"
    [ "$1" = treeline ] || printf 'Relationship: SPDXRef-treeline CONTAINS SPDXRef-%s\n' "$(printf %s "$1" | tr -c 'A-Za-z0-9.-' -)"
}
{
    printf 'SPDXVersion: SPDX-2.3\nDataLicense: CC0-1.0\nSPDXID: SPDXRef-DOCUMENT\nDocumentName: treeline-%s\n' "$version"
    printf 'DocumentNamespace: https://spdx.org/spdxdocs/treeline-%s-%s\nCreator: Tool: scripts/packages.sh\nCreated: %s\nRelationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-treeline\n' \
        "$version" "$(git rev-parse HEAD)" "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
    spdx_package treeline "$version" Apache-2.0
    while read -r package licence; do
        spdx_package "$package" "$(dpkg-query -W -f '${Version}' "$package")" "$licence"
    done <<'LIST'
libfmt-dev MIT
nlohmann-json3-dev MIT
libcli11-dev BSD-3-Clause
libeigen3-dev MPL-2.0
libyaml-cpp-dev MIT
libsqlite3-dev blessing
libc6-dev LGPL-2.1-or-later
LIST
    spdx_package libstdc++ "$(g++ -dumpfullversion)" "GPL-3.0-or-later WITH GCC-exception-3.1"
    node -e 'const lock = require("./reports/page/package-lock.json");
             for (const [path, at] of Object.entries(lock.packages)) if (path && !at.dev) console.log(path.replace(/.*node_modules\//, ""), at.version, at.license || "NOASSERTION");' |
        sort -u | while read -r name of licence; do spdx_package "$name" "$of" "$licence"; done
} >"$output/treeline-$version.spdx"
(cd "$output" && sha256sum treeline* >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)

if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning "$output"/treeline*.deb || fail "lintian complains"
fi
[ "$test" = yes ] || { cat "$output/SHA256SUMS"; exit 0; }

[ "$(id -u)" = 0 ] || fail "--test makes roots of other systems, which takes root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build-portable/treeline recommend examples/starter.json >"$work/expected.txt"

# An empty root: no library, no shell, no /proc, no catalogue but the program's own.
mkdir "$work/empty"
cp build-portable/treeline examples/starter.json "$work/empty"
chroot "$work/empty" /treeline recommend /starter.json | cmp - "$work/expected.txt" || fail "in an empty root the program answers otherwise"
echo "an empty root: the same answer"
for release in bookworm trixie; do
    mmdebstrap --quiet --variant=minbase "$release" "$work/$release"
    cp "$output"/treeline*.deb examples/starter.json "$work/$release/root"
    chroot "$work/$release" sh -ec 'apt-get install -qq -y /root/treeline*.deb >/dev/null; treeline recommend /root/starter.json' |
        cmp - "$work/expected.txt" || fail "in a fresh $release the package answers otherwise"
    chroot "$work/$release" sh -ec 'apt-get purge -qq -y treeline >/dev/null; ! ls /usr/share/treeline /usr/bin/treeline 2>/dev/null' ||
        fail "in $release the package leaves files behind"
    rm -rf "${work:?}/$release"
    echo "a fresh $release: installed, the same answer, removed"
done
cat "$output/SHA256SUMS"
