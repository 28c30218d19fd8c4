# The released program as the linker left it: what cmake/TreelineHardening.cmake asks for is there.
. "$(dirname "$0")/lib.sh"
command -v readelf >/dev/null || { echo "readelf is missing here"; exit 77; }

says() {
    checks=$((checks + 1))
    readelf "$1" "$TREELINE" 2>/dev/null | grep -qE -- "$2" || fail "readelf $1 says nothing like \"$2\""
}
says_not() {
    checks=$((checks + 1))
    ! readelf "$1" "$TREELINE" 2>/dev/null | grep -qE -- "$2" || fail "readelf $1: $(readelf "$1" "$TREELINE" | grep -E -- "$2" | head -3)"
}
says -hW 'Type: +DYN'
says -dW 'FLAGS_1.*PIE'
says -dW 'FLAGS_1.*NOW'
says -lW 'GNU_RELRO'
says -lW 'GNU_STACK.* RW '
says_not -lW 'LOAD.* RWE '
says -sW '__stack_chk_fail'
says -sW '__(memcpy|snprintf|vsnprintf|fread|read|longjmp|fdelt|fprintf|vfprintf)_chk'
# Libraries come from absolute folders: an empty or relative one is whatever folder the program is started in.
for folder in $(readelf -dW "$TREELINE" | sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]$/\2:end/p' | sed 's/^:/empty:/; s/::/:empty:/g; s/:/ /g'); do
    checks=$((checks + 1))
    case $folder in /* | end) ;; *) fail "libraries are looked for in \"$folder\"" ;; esac
done
# A program that only prices loads no library for measuring: OpenBLAS takes hundreds of megabytes of address space.
says_not -dW 'NEEDED.*(blas|lapack)'
finish
