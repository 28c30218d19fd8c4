#!/usr/bin/env python3
"""Do the runs that `treeline plan` proposes make predictions better? On published sweeps over batches (shared/data/speculation/measured.json):
the planned times are taken from the sweep, `treeline calibrate --serving` fits the stack to them, and the other batches are predicted; so with
as many runs drawn at random.

    planned_runs.py TREELINE MEASURED_JSON [SWEEPS_OF_A_SOURCE]
"""
import collections
import csv
import io
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile

PROGRAM, MEASURED = sys.argv[1:3]
MOST_OF_A_SOURCE = int(sys.argv[3]) if len(sys.argv) > 3 else 2
COLUMNS = {"output_tok_s": "tokens_per_s", "tok_s_per_user": "tpot_ms", "tpot_ms": "tpot_ms"}
DRAWS = 4
LEAST_BATCHES = 4


def treeline(*arguments):
    """Standard output; raises RuntimeError where the program refuses."""
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    return result.stdout


def sweeps():
    """Lists of rows, one a batch, that differ in nothing but the batch; few of each source."""
    with open(MEASURED, encoding="utf-8") as file:
        data = json.load(file)
    measured = {row["id"]: row for row in (data if isinstance(data, list) else data["rows"])}
    text = treeline("validate", "--no-papers", "--speculation", MEASURED, "--mode", "roofline", "--format", "csv")
    groups = collections.defaultdict(dict)
    for row in csv.DictReader(io.StringIO(text)):
        source = measured[row["id"]]
        if row["accept_length"] and source.get("value_with") and source.get("value_without") and source["metric"] in COLUMNS:
            if "context" not in row["cut"]:
                key = (*(row[k] for k in ("series", "model", "device", "stack", "devices", "drafter", "draft_tokens")), source["metric"])
                groups[key][float(row["batch"])] = (row, source)
    taken = collections.Counter()
    for key, rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        family = (key[0].split("/")[0], key[5], key[6])
        if len(rows) >= LEAST_BATCHES and taken[family] < MOST_OF_A_SOURCE:
            taken[family] += 1
            yield key, rows


class Sweep:
    def __init__(self, key, rows, folder):
        self.name, model, device, self.stack, devices, drafter, drafts, self.metric = key
        self.rows, self.batches, self.drafts, self.folder = rows, sorted(rows), int(drafts), folder
        self.context = round(float(rows[self.batches[0]][0]["context"] or 0)) or 1024
        self.served = ["--target", model, "--device", device, "--tensor-parallel", devices, "--mode", "roofline"]
        self.served += ["--drafter", json.dumps({"kind": drafter})]

    def plan(self):
        lengths = statistics.median(float(row["accept_length"]) for row, _ in self.rows.values())
        load = ["--batch", ",".join(f"{b:g}" for b in self.batches), "--context", self.context]
        shape = ["--accept-length", lengths, "--draft-tokens", self.drafts]
        return json.loads(treeline("plan", *self.served, "--stack", self.stack, *shape, *load, "--runs", 3, "--format", "json"))

    def step(self, drafts, batch):
        """A line of the table that calibrate --serving reads."""
        row, source = self.rows[batch]
        value = source["value_with" if drafts else "value_without"]
        value = 1000 / value if self.metric == "tok_s_per_user" else value
        return f"{batch:g},{drafts},{self.context},{row['accept_length'] if drafts else ''},{value}"

    def errors(self, stack):
        """log(predicted / measured) of the speed-up at each batch."""
        errors = []
        for batch in self.batches:
            row = self.rows[batch][0]
            point = ["--draft-tokens", self.drafts, "--accept-length", row["accept_length"], "--batch", int(batch), "--context", self.context]
            estimate = json.loads(treeline("estimate", *self.served, "--stack", stack, *point, "--format", "json"))
            errors.append(math.log(estimate["speedup"] / float(row["measured"])))
        return errors

    def errors_after(self, steps):
        table, stack = f"{self.folder}/steps.csv", f"{self.folder}/stack.json"
        with open(table, "w", encoding="utf-8") as file:
            file.write(f"batch,draft_tokens,context,accept_length,{COLUMNS[self.metric]}\n")
            file.writelines(self.step(*step) + "\n" for step in steps)
        treeline("calibrate", "--serving", table, *self.served, "--stack", self.stack, "--output", stack)
        return self.errors(stack)

    def study(self):
        """Errors by choice of runs, and whether the mean gain lies within the interval before and after the planned ones."""
        plan = self.plan()
        nearest = lambda batch: min(self.batches, key=lambda each: abs(math.log(each / batch)))
        steps = sorted({(run["draft_tokens"], nearest(run["batch"])) for run in plan["runs"] if run["run"] == "time"})
        if not steps:
            return None
        errors = {"none": self.errors(self.stack), "planned": self.errors_after(steps)}
        every = [(drafts, batch) for drafts in (0, self.drafts) for batch in self.batches]
        for draw in range(DRAWS):
            errors[f"random {draw + 1}"] = self.errors_after(random.sample(every, len(steps)))
        halves = [(each["high"] - each["low"]) / (2 * plan["gain"]) for each in (plan, plan["runs"][-1])]
        return errors, halves


def main():
    random.seed(3)
    errors, held, halves = collections.defaultdict(list), [0, 0], []
    with tempfile.TemporaryDirectory() as folder:
        for key, rows in sweeps():
            sweep = Sweep(key, rows, folder)
            try:
                result = sweep.study()
            except RuntimeError as refusal:
                print(f"{sweep.name}: left out: {refusal.args[0].splitlines()[0][:120]}")
                continue
            if result is None:
                continue
            for choice, of_batches in result[0].items():
                errors[choice].append(of_batches)
            halves.append(result[1])
            for i, choice in enumerate(("none", "planned")):
                held[i] += abs(statistics.mean(result[0][choice])) <= result[1][i]
            print(f"{sweep.name}: median error {', '.join(f'{c} {100 * statistics.median(map(abs, e)):.1f} %' for c, e in result[0].items())}", flush=True)
    print(f"\n{len(halves)} sweeps    error of the mean gain (median)    of a batch: median, p90")
    for choice, sweeps_of in errors.items():
        batches = sorted(abs(error) for sweep in sweeps_of for error in sweep)
        mean = statistics.median(abs(statistics.mean(sweep)) for sweep in sweeps_of)
        print(f"{choice:10}   {100 * mean:.1f} %   {100 * statistics.median(batches):.1f} %, {100 * batches[int(0.9 * len(batches))]:.1f} %")
    for i, when in enumerate(("before", "after the planned runs")):
        print(f"interval {when}: half as wide as {100 * statistics.median(h[i] for h in halves):.0f} %, holds {held[i]} of {len(halves)}")


main()
