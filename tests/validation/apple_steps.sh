#!/usr/bin/env bash
# Plain steps of one request on Apple's chips as others published them (apple_steps.csv; the id of a row names its source: a
# repository, its thread, or a site), beside what is predicted. Some sources are known to be slow: a laptop of 2023 with an M2 Max,
# and one without a fan with an M5.
#   apple_steps.sh TREELINE SOURCE
set -euo pipefail
predicted=$(mktemp)
trap 'rm -f "$predicted"' EXIT
"$1" validate --serving "$2/tests/validation/apple_steps.csv" --no-papers --mode roofline --format csv --output "$predicted"
python3 - "$predicted" <<'PYTHON'
import csv
import statistics
import sys

steps = {}
for row in csv.DictReader(open(sys.argv[1])):
    if not row["left_out"]:
        steps.setdefault(row["stack"], []).append((row["id"].rsplit("-", 1)[0], float(row["error"])))
for stack, rows in sorted(steps.items()):
    errors = sorted(abs(error) for _, error in rows)
    sources = {}
    for source, error in rows:
        sources.setdefault(source, []).append(error)
    votes = [abs(statistics.median(errors)) for errors in sources.values()]
    print(f"{stack}: {len(rows)} steps, median error {100 * statistics.median(errors):.1f} %, p90 "
          f"{100 * errors[int(0.9 * (len(errors) - 1))]:.1f} %; a vote each of {len(votes)} sources {100 * statistics.median(votes):.1f} %")
    assert len(rows) > 250 and statistics.median(errors) < 0.11 and statistics.median(votes) < 0.13
PYTHON
