"""What a sweep through Python costs beside the program's, the same work asked of both: sixteen million points for the summary
alone (a million take less than a tenth of a second, of which the noise of starting Python is a tenth), a million with columns.

Goal: at most 10 % slower. Both run with one thread, in processes of their own, and are judged by the processor time that the
kernel charges them, the least of several runs in turn, more of them until the goal is met: other work on the machine makes wall
time longer, not the sweep slower. Starting each (`import treeline`, `treeline --version`) is measured apart and subtracted.
Exits with 1 when it is more than 25 % slower.

The program writes every point only as text; a sweep that keeps all columns is compared with its CSV.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

AXES = os.path.join(os.environ["SOURCE"], "examples", "sweeps", "million-points.json")
GOAL = 1.10
FAILS = 1.25
LEAST_ROUNDS = 3
MOST_ROUNDS = 6


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def finer(folder):
    """The same axes with sixteen times as many contexts."""
    with open(AXES) as file:
        request = json.load(file)
    request["axes"]["context"] = {"from": 128, "to": 8192, "step": 4}
    path = os.path.join(folder, "sixteen-million-points.json")
    with open(path, "w") as file:
        json.dump(request, file)
    return path


def in_python(axes, columns):
    code = f"import treeline; sweep = treeline.sweep({axes!r}, columns={columns}, threads=1); assert len(sweep) > 1_000_000"
    return [sys.executable, "-c", code + ("" if columns == "[]" else "; sweep['speedup'].max()")]


def main():
    program = os.environ["TREELINE"]
    with tempfile.TemporaryDirectory() as folder:
        many = finer(folder)
        commands = ([program, "--version"], [sys.executable, "-c", "import treeline"], [sys.executable, "-c", "import treeline, numpy"],
                    [program, "sweep", many, "--threads", "1"], in_python(many, "[]"),
                    [program, "sweep", AXES, "--threads", "1", "--csv", "/dev/null"], in_python(AXES, "None"))
        least = [float("inf")] * len(commands)
        for rounds in range(1, MOST_ROUNDS + 1):
            least = [min(best, processor_seconds(command)) for best, command in zip(least, commands)]
            start, start_python, start_numpy, summary, summary_python, csv, columns_python = least
            pairs = (("summary alone", summary_python - start_python, summary - start),
                     ("every point", columns_python - start_numpy, csv - start))
            worst = max(ours / theirs for _, ours, theirs in pairs)
            if rounds >= LEAST_ROUNDS and worst <= GOAL:
                break
    print(f"       starting: {1e3 * start:.0f} ms the program, {1e3 * start_python:.0f} ms Python with treeline, "
          f"{1e3 * start_numpy:.0f} ms with NumPy, too; {rounds} rounds")
    for what, ours, theirs in pairs:
        ratio = ours / theirs
        print(f"{'met   ' if ratio <= GOAL else 'MISSED'} {what}: {ours:.3f} s through Python, {theirs:.3f} s by the program: "
              f"{ratio:.2f} times, goal at most {GOAL:.2f}")
    return 0 if worst <= FAILS else 1


if __name__ == "__main__":
    sys.exit(main())
