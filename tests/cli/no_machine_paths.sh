# What a command writes can be passed on: it names files of the catalogue and of the input, not where this machine keeps them.
. "$(dirname "$0")/lib.sh"

clean() {
    checks=$((checks + 1))
    ! grep -nF -e "$SOURCE/" -e "$WORK" "$1" || fail "$2 holds a path of this machine"
}

ln -sfn "$SOURCE/examples" examples
for example in "$SOURCE"/examples/*.json; do
    file=examples/$(basename "$example")
    "$JSON_GET" "$file" /objective >/dev/null 2>&1 || continue
    "$TREELINE" report "$file" --output report.html >/dev/null || fail "report $file"
    clean report.html "the report of $file"
    "$TREELINE" recommend "$file" --format json >recommend.json || fail "recommend $file"
    clean recommend.json "recommend $file --format json"
done
[ "$checks" -ge 10 ] || fail "only $checks results were looked at"

"$TREELINE" estimate examples/estimate-spire.json --format json >estimate.json
clean estimate.json "estimate --format json"
[ "$("$JSON_GET" estimate.json /input/platform/device)" = examples/devices/spire-hoi-600.json ] || fail "a path is not as it was given"
mkdir -p results
"$TREELINE" estimate examples/estimate-spire.json --format json --output results/estimate.json
"$TREELINE" estimate results/estimate.json >/dev/null || fail "a result in another folder cannot be run again"

for arguments in 'models llama-3-8b' 'hardware h100-sxm' 'hardware specmamba-vck190' 'fpga estimate examples/fpga/specmamba-vck190.json'; do
    # shellcheck disable=SC2086
    "$TREELINE" $arguments --format json >any.json || fail "treeline $arguments --format json"
    clean any.json "treeline $arguments --format json"
    grep -q '"name": "\(models\|hardware\)/' any.json || fail "treeline $arguments names no file of the catalogue"
done
finish
