# Completions hold every command and flag of --help, and the manual page is one that man reads.
. "$(dirname "$0")/lib.sh"
"$TREELINE" completions bash >treeline.bash || fail "completions bash"
"$TREELINE" completions zsh >treeline.zsh || fail "completions zsh"
"$TREELINE" completions fish >treeline.fish || fail "completions fish"
"$TREELINE" manual >treeline.1 || fail "manual"
expect 2 'must be bash, zsh or fish, not "fisk"; did you mean "fish"' completions fisk

# complete WORD...: what bash offers for the last word.
complete() {
    bash -c '. ./treeline.bash; COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _treeline; printf "%s\n" "${COMPREPLY[@]}"' _ "$TREELINE" "$@"
}
offers() {
    local wanted=$1
    shift
    checks=$((checks + 1))
    complete "$@" >offered.txt
    grep -qxF -- "$wanted" offered.txt || fail "after \"treeline $*\" bash does not offer $wanted: $(tr '\n' ' ' <offered.txt)"
}
offers recommend rec
offers --version --v
offers --target recommend --ta
offers bandit study b
offers simulate study s
touch a-workload.json
offers a-workload.json recommend a-w
touch good.json 'a file.json'
offers 'a file.json' recommend a
offers 'github' lint --format g
offers 'sarif' lint --format = s
offers 'roofline' recommend --mode r
offers 'sampling' estimate --decoding s
offers 'llama.cpp' recommend --engine l
offers 'llama-3.1-8b' recommend --target llama-3.1-8
offers 'h100-sxm' estimate --device h100-s
offers 'h100-sxm,h200' estimate --device h100-sxm,h2
offers 'eagle3-llama-3.1-8b' recommend --drafter eagle3-llama-3.1-8
offers 'llama-3.1-8b' models llama-3.1-8
offers 'vck190' hardware vck
offers 'starter' examples sta
offers 'fish' completions ''
offers 'good.json' recommend --acceptance g
# only WORD...: bash offers nothing else.
only() {
    checks=$((checks + 1))
    complete "$@" >offered.txt
    ! grep -qE '^--|\.json$' offered.txt || fail "after \"treeline $*\" bash offers $(tr '\n' ' ' <offered.txt)"
}
only lint --format ''
only recommend --mode ''
only completions f
only examples a
only estimate --engine a
expect 2 'there are no names of "cats"' completions --names cats
expect 2 'needs a shell' completions
expect 0 '^(.* )?h200 ' completions --names devices
for shell in bash zsh fish; do
    checks=$((checks + 1))
    for command in recommend sweep lint; do
        "$TREELINE" "$command" --help | grep -oE '^  --[a-z-]+' | while read -r flag; do
            grep -qE -- "${flag#--}" treeline.$shell || echo "$flag"
        done
    done >missing.txt
    [ ! -s missing.txt ] || fail "$shell lacks $(tr '\n' ' ' <missing.txt)"
done
for shell in zsh fish; do
    if command -v $shell >/dev/null; then
        checks=$((checks + 1))
        $shell -n treeline.$shell || fail "$shell cannot read its completions"
    fi
done
checks=$((checks + 1))
grep -q '^\.SS treeline study simulate$' treeline.1 || fail "the manual lacks a command"
if command -v man >/dev/null; then
    checks=$((checks + 1))
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z treeline.1 >/dev/null 2>warnings.txt
    [ ! -s warnings.txt ] || fail "man warns: $(head -3 warnings.txt)"
fi
finish
