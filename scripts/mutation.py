#!/usr/bin/env python3
"""Which wrong operators and constants do the unit tests of a folder not notice?

Takes a checkout's sim/ or sweeps/, changes one operator, constant or bound at a time in a copy, rebuilds the unit tests and
runs those of the same folder. Prints each change that no test noticed, and the share that was. Changes in which nothing can
differ are listed in tests/mutation/equivalent.txt, each with its reason, and are not counted.

    scripts/mutation.py sim --mutants 500 --seed 1
    scripts/mutation.py sim --file attention.cpp       # every change of one file
"""
import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What a slip of the pen looks like. Operators stand between blanks (clang-format), so that templates, pointers and references are none.
CHANGES = [
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "),
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+= ", " -= "), (r" \*= ", " /= "),
    (r"std::min\b", "std::max"), (r"std::max\b", "std::min"),
    (r"\b0\.5\b", "0.25"), (r"\b1\.0\b", "2.0"), (r"\b2\.0\b", "3.0"), (r"\b4\.0\b", "5.0"),
]


def code_of(line):
    """The line without its remark and texts; blanks keep the places."""
    blank = lambda found: " " * len(found.group())
    return re.sub(r"//.*", blank, re.sub(r'"(\\.|[^"\\])*"', blank, line))


def mutants_of(path):
    found = []
    for number, line in enumerate(path.read_text().split("\n")):
        code = code_of(line)
        if code.lstrip().startswith(("#", "template", "static_assert", "namespace", "using")):
            continue
        for pattern, instead in CHANGES:
            for match in re.finditer(pattern, code):
                found.append((path, number, match.start(), match.end(), instead))
    return found


def equivalents():
    """Lines "file: code | reason"; the code is the changed line without its indentation."""
    file = ROOT / "tests" / "mutation" / "equivalent.txt"
    lines = file.read_text().split("\n") if file.exists() else []
    return {tuple(part.strip() for part in line.split(" | ")[0].split(": ", 1)) for line in lines if line and not line.startswith("#")}


def changed_line(mutant):
    path, number, begin, end, instead = mutant
    line = path.read_text().split("\n")[number]
    return line[:begin] + instead + line[end:]


class Copy:
    """A checkout of its own, built once and then mutated in place."""

    def __init__(self, folder, jobs):
        self.root = ROOT / "build-mutation" / "checkout"
        self.build = ROOT / "build-mutation" / "build"
        self.jobs = jobs
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.split(b"\0")
        for name in filter(None, (file.decode() for file in files)):
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_file():
                shutil.copy2(ROOT / name, target)
        subprocess.run(["cmake", "-S", self.root, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTREELINE_CUDA=OFF",
                        "-DTREELINE_PYTHON=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"], check=True, stdout=subprocess.DEVNULL)
        tests = sorted((self.root / "tests" / folder).glob("*_test.cpp"))
        self.tags = ",".join("[#" + test.stem + "]~[shared]~[slow]" for test in tests)

    def make(self):
        return subprocess.run(["ninja", "-C", self.build, f"-j{self.jobs}", "treeline_tests"], capture_output=True).returncode == 0

    def tests_pass(self):
        try:
            return subprocess.run([self.build / "tests" / "treeline_tests", "--filenames-as-tags", "--abort", self.tags],
                                  capture_output=True, timeout=600).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def verdict(self, mutant):
        path = self.root / mutant[0].relative_to(ROOT)
        before = path.read_text()
        lines = before.split("\n")
        lines[mutant[1]] = changed_line(mutant)
        path.write_text("\n".join(lines))
        try:
            return "does not compile" if not self.make() else "survived" if self.tests_pass() else "noticed"
        finally:
            path.write_text(before)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", choices=["sim", "sweeps"])
    options.add_argument("--mutants", type=int, default=500, help="how many are drawn (default 500)")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--file", help="only files whose name ends so; every mutant of them")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--list", action="store_true", help="only list the mutants")
    given = options.parse_args()

    files = sorted(path for pattern in ("*.cpp", "*.h") for path in (ROOT / given.folder).rglob(pattern))
    known = equivalents()
    mutants = [mutant for path in files if not given.file or path.name.endswith(given.file) for mutant in mutants_of(path)
               if (str(path.relative_to(ROOT)), changed_line(mutant).strip()) not in known]
    if not given.file:
        mutants = random.Random(given.seed).sample(mutants, min(given.mutants, len(mutants)))
    if given.list:
        for mutant in mutants:
            print(f"{mutant[0].relative_to(ROOT)}:{mutant[1] + 1}: {changed_line(mutant).strip()}")
        return 0
    copy = Copy(given.folder, given.jobs)
    if not copy.make() or not copy.tests_pass():
        sys.exit("the unmodified tests do not build or do not pass")
    counts = {"noticed": 0, "survived": 0, "does not compile": 0}
    for mutant in mutants:
        verdict = copy.verdict(mutant)
        counts[verdict] += 1
        if verdict == "survived":
            print(f"{mutant[0].relative_to(ROOT)}:{mutant[1] + 1}: {changed_line(mutant).strip()}", flush=True)
    judged = counts["noticed"] + counts["survived"]
    print(f"{counts['noticed']} of {judged} mutants noticed ({100.0 * counts['noticed'] / max(1, judged):.0f} %); "
          f"{counts['does not compile']} do not compile")
    return 0 if counts["noticed"] >= 0.9 * judged else 1


if __name__ == "__main__":
    sys.exit(main())
