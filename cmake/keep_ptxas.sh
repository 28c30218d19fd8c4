#!/bin/sh
# A launcher for nvcc: keep_ptxas.sh COMPILER ARGUMENT... runs it and keeps what its assembler says of registers and stacks (-Xptxas=-v) in
# OBJECT.ptxas, for tests/kernels/no_spills.sh; all else is passed on.
object=/dev/null
previous=
for argument; do
    [ "$previous" != -o ] || object=$argument
    previous=$argument
done
status=0
"$@" 2>"$object.ptxas" || status=$?
grep -v -e '^ptxas info' -e 'bytes stack frame' "$object.ptxas" >&2
exit $status
