#!/usr/bin/env bash
# Does ./run and ./check on Debian 12 machines that have nothing but git, as a stranger would: a root file system is built with mmdebstrap, the
# last commit is cloned into it, and the scripts run there, once for each combination of who runs them and whether there is nvcc.
# Mounts and processes live in a name space of their own and end with it, so that nothing of the host is touched.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage="Usage: scripts/bare_machine.sh [--only run|check] [--as root|user|no-sudo] [--nvcc yes|no] [--shared] [--folder DIR] [--keep]

  --only run|check        one of the two scripts (default: ./run, then ./check in the same machine)
  --as root|user|no-sudo  who runs them: root without sudo, a user with sudo, or a user without, who is to be told what is
                          missing (default: all three)
  --nvcc yes|no           with the host's /usr/local/cuda or without (default: without, and with it where the host has it)
  --shared                ../shared of this checkout lies beside the clone
  --folder DIR            where machines are made, 8 GB each (default: \$TMPDIR or /tmp)
  --keep                  leave the machines there

Needs root and mmdebstrap (apt-get install mmdebstrap). The configuration of apt and npm on this machine goes along."

fail() {
    echo "bare_machine: $*" >&2
    exit 1
}

read_options() {
    scripts="run check" people="root user no-sudo" compilers="no" shared="" parent=${TMPDIR:-/tmp} keep=""
    [ ! -x /usr/local/cuda/bin/nvcc ] || compilers="no yes"
    while [ $# -gt 0 ]; do
        case "$1" in
            --only | --as | --nvcc | --folder) [ $# -gt 1 ] || fail "$1 needs a value" ;;
        esac
        case "$1=${2:-}" in
            --only=run | --only=check) scripts=$2; shift ;;
            --as=root | --as=user | --as=no-sudo) people=$2; shift ;;
            --nvcc=yes | --nvcc=no) compilers=$2; shift ;;
            --folder=*) parent=$2; shift ;;
            --shared=*) shared=yes ;;
            --keep=*) keep=yes ;;
            --help=* | -h=*) echo "$usage"; exit 0 ;;
            *) fail "unknown option $1 ${2:-} (see --help)" ;;
        esac
        shift
    done
    [ "$(id -u)" = 0 ] || fail "needs root, to mount and to change roots"
    command -v mmdebstrap >/dev/null || fail "mmdebstrap is missing: apt-get install mmdebstrap"
    [ -z "$shared" ] || [ -d ../shared ] || fail "there is no ../shared beside this checkout"
    if [ "$compilers" = yes ] && [ ! -x /usr/local/cuda/bin/nvcc ]; then
        echo "Skipped: there is no /usr/local/cuda/bin/nvcc here"
        exit 0
    fi
}

# The settings with which this machine reaches its package registries, into the root $1: apt's, npm's, certificates, names.
copy_configuration() {
    local root=$1 file
    for file in apt.conf apt.conf.d auth.conf auth.conf.d keyrings preferences preferences.d trusted.gpg trusted.gpg.d; do
        [ ! -e "/etc/apt/$file" ] || cp -rL "/etc/apt/$file" "$root/etc/apt/"
    done
    # apt under sudo does not see the environment.
    for file in http https; do
        local name="${file}_proxy"
        [ -z "${!name:-}" ] || echo "Acquire::$file::Proxy \"${!name}\";" >>"$root/etc/apt/apt.conf.d/98proxy"
    done
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp -rL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
    chroot "$root" update-ca-certificates >/dev/null 2>&1
    if command -v npm >/dev/null; then
        cat "$(npm config get globalconfig)" "$(npm config get userconfig)" 2>/dev/null | grep -v '^ *prefix *=' >"$root/etc/skel/.npmrc" || true
    fi
}

build_base() {
    local root=$1
    local file sources=()
    # Another system's archives are not those of Debian 12: then mmdebstrap's default.
    if grep -qx 'VERSION_CODENAME=bookworm' /etc/os-release; then
        for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
            [ ! -s "$file" ] || sources+=("$file")
        done
    fi
    # What a container image has, git to clone with, certificates, and sudo, which is removed again where it is not wanted.
    mmdebstrap --quiet --variant=minbase --include=ca-certificates,git,sudo bookworm "$root" "${sources[@]}"
    copy_configuration "$root"
}

# --- inside the name space ---------------------------------------------------------------------------------------------------

mount_system() {
    local root=$1 device
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    for device in null zero full random urandom tty; do
        touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    if [ "$nvcc" = yes ]; then
        local cuda
        cuda=$(readlink -f /usr/local/cuda)
        mkdir -p "$root$cuda"
        mount --bind -o ro "$cuda" "$root$cuda"
        [ "$cuda" = /usr/local/cuda ] || ln -s "$cuda" "$root/usr/local/cuda"
    fi
    if [ -n "$shared" ]; then
        mkdir "$root$home/shared"
        mount --bind -o ro "$(readlink -f ../shared)" "$root$home/shared"
    fi
}

# Runs a command in the clone as the stranger, with no environment but that of a login.
as_stranger() {
    local variables="" name
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY NODE_EXTRA_CA_CERTS; do
        [ -z "${!name:-}" ] || variables+=" $name=${!name}"
    done
    # shellcheck disable=SC2086  # $variables is a list
    chroot "$root" runuser -u "$account" -- env -i HOME="$home" USER="$account" PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin $variables \
        bash -c "cd '$home/treeline' && $1" </dev/null
}

# shellcheck disable=SC2016  # dpkg's variables
packages() { chroot "$root" dpkg-query -W -f '${Package} ${Installed-Size}\n' | sort; }

# What apt installed since the list $1 was made.
print_installed() {
    packages | comm -13 "$1" - >"$1.new"
    [ -s "$1.new" ] || return 0
    awk '{ size += $2 } END { printf "apt installed %d packages, %.0f MB: ", NR, size / 1000 }' "$1.new"
    echo "$(chroot "$root" apt-mark showmanual | comm -23 - "$1.manual" | tr '\n' ' ')and what they need"
}

# Runs ./$1; result: a line of the summary.
run_script() {
    local script=$1 before=$SECONDS status=0 complaint=""
    packages >"$work/packages"
    chroot "$root" apt-mark showmanual >"$work/packages.manual"
    echo
    echo "=== ./$script as $who, nvcc: $nvcc"
    # Processor seconds count on a machine that is in use.
    local TIMEFORMAT="%U %S"
    { time { as_stranger "./$script" 2>&1 | tee "$work/output"; } 2>&3; } 3>&2 2>"$work/cpu" || status=$?
    local seconds=$((SECONDS - before))
    print_installed "$work/packages"
    if [ "$who" = no-sudo ]; then
        [ $status != 0 ] && grep -q "apt-get install" "$work/output" || complaint="a user without sudo was not told what to install"
    elif [ $status != 0 ]; then
        complaint="exit code $status"
    elif [ "$script" = run ] && ! as_stranger "test -s out/report.html"; then
        complaint="no report"
    elif [ -n "$(as_stranger "git status --porcelain")" ]; then
        complaint="it left files that git does not ignore: $(as_stranger "git status --porcelain" | head -3 | tr '\n' ' ')"
    fi
    printf '%-8s %-8s nvcc %-4s %5d s (%d s of processors)  %s\n' "./$script" "$who" "$nvcc" "$seconds" \
        "$(awk '{ print int($1 + $2) }' "$work/cpu")" "${complaint:-passed}" >>"$summary"
    [ -z "$complaint" ]
}

# One machine, in its own name space: who runs what stands in the environment.
inside() {
    mount_system "$root"
    local failed=0 script
    for script in $scripts; do
        run_script "$script" || failed=1
    done
    exit $failed
}

# -----------------------------------------------------------------------------------------------------------------------------

# Makes a machine for $who with $nvcc from the base, and enters it.
try_machine() {
    root=$work/$who-$nvcc account=root home=/root
    cp -a "$work/base" "$root"
    if [ "$who" != root ]; then
        account=stranger home=/home/stranger
        chroot "$root" useradd --create-home --shell /bin/bash stranger
    fi
    if [ "$who" = user ]; then
        echo "stranger ALL=(ALL) NOPASSWD:ALL" >"$root/etc/sudoers.d/stranger"
    else
        SUDO_FORCE_REMOVE=yes chroot "$root" dpkg --purge sudo >/dev/null
    fi
    [ ! -f "$root/etc/skel/.npmrc" ] || cp "$root/etc/skel/.npmrc" "$root$home/.npmrc"
    git clone --quiet --no-hardlinks . "$root$home/treeline"
    chroot "$root" chown -R "$account:" "$home"
    local status=0
    root=$root account=$account home=$home who=$who nvcc=$nvcc scripts=$scripts shared=$shared work=$work summary=$summary \
        unshare --mount --pid --fork --kill-child bash scripts/bare_machine.sh --inside || status=$?
    [ -n "$keep" ] || remove "$root"
    return $status
}

# Removes a machine, but nothing that is mounted in it.
remove() {
    if grep -qF " $1/" /proc/self/mountinfo; then
        echo "bare_machine: $1 stays, something is mounted in it" >&2
    else
        rm -rf --one-file-system "$1"
    fi
}

if [ "${1:-}" = --inside ]; then
    inside
fi
read_options "$@"
work=$(mktemp -d "$parent/treeline-bare.XXXXXX")
summary=$work/summary
trap '[ -n "$keep" ] || remove "$work"' EXIT
echo "Building a bare Debian 12 in $work"
started=$SECONDS
build_base "$work/base"
echo "Built in $((SECONDS - started)) s: $(chroot "$work/base" dpkg-query -W | wc -l) packages, $(du -sm "$work/base" | cut -f1) MB"
failed=0
for nvcc in $compilers; do
    for who in $people; do
        try_machine || failed=1
    done
done
echo
cat "$summary"
exit $failed
