# shellcheck shell=bash
# Sourced by ./run and ./check, which set treeline_program to their name: reads options, installs what is missing, builds.

# treeline_stage NAME COMMAND...: runs it and says how long it took.
treeline_stage() {
    local began=$SECONDS name=$1
    shift
    echo "== $name"
    "$@"
    echo "== $name: $((SECONDS - began)) s"
}

treeline_fail() {
    echo "${treeline_program:?}: $*" >&2
    exit 1
}

# Reads --all, --long, --no-install, --jobs N and --help; $1 is the text that --help prints.
treeline_options() {
    local help="$1"
    shift
    install=yes all=no long=no
    jobs=$(nproc 2>/dev/null || echo 2)
    while [ $# -gt 0 ]; do
        case "$1" in
            --no-install) install=no ;;
            --all) [ "$treeline_program" = ./run ] || treeline_fail "unknown option $1 (see --help)"; all=yes ;;
            --long) [ "$treeline_program" = ./check ] || treeline_fail "unknown option $1 (see --help)"; long=yes ;;
            --jobs) [ $# -gt 1 ] || treeline_fail "--jobs needs a number"; jobs=$2; shift ;;
            --jobs=*) jobs=${1#--jobs=} ;;
            -h | --help) echo "$help"; exit 0 ;;
            *) treeline_fail "unknown option $1 (see --help)" ;;
        esac
        shift
    done
    case "$jobs" in '' | *[!0-9]* | 0) treeline_fail "--jobs needs a whole number above zero, not '$jobs'" ;; esac
}

# Prints the Debian packages among the arguments that are missing. "command=package" counts as there when the command is,
# whoever installed it; a bare package is looked up in dpkg.
treeline_missing() {
    local need
    for need in "$@"; do
        case "$need" in
            *=*) command -v "${need%%=*}" >/dev/null 2>&1 || echo "${need#*=}" ;;
            *) dpkg-query -W -f '${Status}' "$need" 2>/dev/null | grep -q '^install ok installed$' || echo "$need" ;;
        esac
    done
}

treeline_install() {
    [ "$install" = yes ] || return 0
    if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
        echo "Not a Debian system: nothing is installed. Needed: $*"
        return 0
    fi
    local missing as_root=""
    missing=$(treeline_missing "$@" | sort -u | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" != 0 ]; then
        as_root=sudo
        # It asks for a password where it needs one and there is a terminal. ("sudo -v" also asks who needs none.)
        if ! command -v sudo >/dev/null 2>&1 || ! sudo true; then
            treeline_fail "packages are missing, and $(id -un) cannot install them. As root: apt-get update && apt-get install --no-install-recommends $missing"
        fi
    fi
    echo "Installing with apt: $missing"
    # Old package lists name files that are gone; a failed update (no network) may still leave good ones.
    $as_root apt-get update -qq || echo "apt-get update failed; trying with the package lists that are there"
    # shellcheck disable=SC2086  # $missing is a list
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing ||
        treeline_fail "apt could not install: $missing"
}

# What building and running the program needs; ./check adds what only tests need.
# shellcheck disable=SC2034  # used where this is sourced
treeline_packages="g++=g++ cmake=cmake ninja=ninja-build node=nodejs npm=npm
    libcli11-dev libcpp-httplib-dev libcurl4-openssl-dev libeigen3-dev libfmt-dev libsqlite3-dev libyaml-cpp-dev nlohmann-json3-dev"

# Kernels and the real decoder.
# shellcheck disable=SC2034
treeline_kernel_packages=libopenblas-openmp-dev

# The Python module, which ./check builds and tests. Without them ./run builds the program alone.
# shellcheck disable=SC2034
treeline_python_packages="pybind11-dev python3-dev python3-numpy python3-pytest"

# Configures a preset and builds targets (all where none is named):
#   treeline_build PRESET FOLDER "-DOPTION=VALUE ..." [target...]
treeline_build() {
    local preset=$1 folder=$2 options=$3 cache="$2/CMakeCache.txt" log="$2/configure.log"
    shift 3
    # A cache from another checkout or generator cannot be reused.
    if [ -f "$cache" ] && ! { grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache" &&
        grep -qxF "CMAKE_GENERATOR:INTERNAL=Ninja" "$cache"; }; then
        echo "$folder/ belongs to another checkout or generator: configuring afresh"
        rm -rf "$cache" "$folder/CMakeFiles"
    fi
    if command -v ccache >/dev/null 2>&1; then
        options="$options -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
    fi
    mkdir -p "$folder"
    # shellcheck disable=SC2086  # $options is a list
    cmake --preset "$preset" $options >"$log" 2>&1 || { cat "$log" >&2; treeline_fail "configuring $folder/ failed"; }
    if [ $# -gt 0 ]; then
        cmake --build "$folder" --parallel "$jobs" --target "$@"
    else
        cmake --build "$folder" --parallel "$jobs"
    fi || treeline_fail "building $folder/ failed"
}
