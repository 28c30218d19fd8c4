#!/usr/bin/env bash
# Rounds of llama.cpp that we measured (llama.cpp-0.5.0-h200): read from our table, priced, and as wrong as docs/claims.md says.
#   llama_cpp_rounds.sh TREELINE SOURCE
set -euo pipefail
folder=$2/tests/validation/llama.cpp-0.5.0-h200
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$2/scripts/llama_cpp/speedup_rows.py" "$folder/rounds.csv" --version 0.5.0 >"$work/rounds.json"
cmp "$work/rounds.json" "$folder/rounds.json"
"$1" validate --speculation "$folder/rounds.json" --no-papers --mode calibrated --format csv --output "$work/predicted.csv"
python3 - "$work/predicted.csv" <<'PYTHON'
import csv
import statistics
import sys

rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["table"] == "given-accept-length"]
assert len(rows) == 71 and not any(row["left_out"] for row in rows), len(rows)
errors = sorted(abs(float(row["error"])) for row in rows)
p90 = errors[int(0.9 * (len(errors) - 1))]
print(f"{len(errors)} rounds, median error {100 * statistics.median(errors):.1f} %, p90 {100 * p90:.1f} %")
assert statistics.median(errors) < 0.15 and p90 < 0.40
# Most draft models lose here, and are said to.
losing = [row for row in rows if float(row["measured"]) < 1]
found = [row for row in losing if float(row["predicted"]) < 1]
wrong = [row for row in rows if float(row["measured"]) > 1 and float(row["predicted"]) < 1]
print(f"{len(found)} of {len(losing)} losing rounds found, {len(wrong)} false alarms")
assert len(found) >= 0.9 * len(losing) and len(wrong) <= 2
PYTHON
