#!/usr/bin/env python3
"""Which wrong operators and constants do the unit tests of a folder not notice?

Changes single operators, constants and bounds of sim/ or sweeps/ in a copy of the checkout. All changes are compiled at once, each
behind a switch (tests/mutation/switches.h); each test case then says which it meets, and each change is tried on the cases that
meet it. Prints every change that no unit test of the folder notices, and the share that was. Changes in which nothing can differ
are listed in tests/mutation/equivalent.txt, each with its reason, and are not counted; nor are those that no compiler takes or
that cannot be switched at run time.

    scripts/mutation.py sim --mutants 500 --seed 1
    scripts/mutation.py sim --file attention.cpp       # every change of one file
    scripts/mutation.py sim --again last.txt           # those that an earlier run has printed
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Where the unit tests of a folder lie.
TESTS_OF = {"sim": ["sim", "fpga"], "sweeps": ["sweeps"]}

# What a slip of the pen looks like: pattern, what stands there instead, the switch. Operators stand between blanks (clang-format), so
# that templates, pointers and references are none.
CHANGES = [
    (r" \+ ", " - ", "Plus"), (r" - ", " + ", "Minus"), (r" \* ", " / ", "Times"), (r" / ", " * ", "Over"),
    (r" < ", " <= ", "Less"), (r" <= ", " < ", "LessOrEqual"), (r" > ", " >= ", "Greater"), (r" >= ", " > ", "GreaterOrEqual"),
    (r" == ", " != ", "Equal"), (r" && ", " || ", "and"), (r" \|\| ", " && ", "or"),
    (r" \+= ", " -= ", "PlusAssign"), (r" \*= ", " /= ", "TimesAssign"),
    (r"std::min\b", "std::max", "smallest"), (r"std::max\b", "std::min", "largest"),
    (r"\b0\.5\b", "0.25", "value"), (r"\b1\.0\b", "2.0", "value"), (r"\b2\.0\b", "3.0", "value"), (r"\b4\.0\b", "5.0", "value"),
]


class Mutant:
    """A change of one place of a file; `begin` and `end` count characters of the file."""

    def __init__(self, path, number, line, begin, end, start_of_line, instead, switch):
        self.path, self.number, self.instead, self.switch = path, number, instead, switch
        self.begin, self.end = start_of_line + begin, start_of_line + end
        self.changed = (line[:begin] + instead + line[end:]).strip()

    def __str__(self):
        return f"{self.path.relative_to(ROOT)}:{self.number + 1}: {self.changed}"


def code_of(text):
    """The text without its remarks and texts; blanks keep the places."""
    blank = lambda found: re.sub(r"[^\n]", " ", found.group())
    return re.sub(r"//.*", blank, re.sub(r'"(\\.|[^"\\\n])*"', blank, text))


def mutants_of(path):
    found = []
    start = 0
    text = path.read_text()
    for number, (line, code) in enumerate(zip(text.split("\n"), code_of(text).split("\n"))):
        if not code.lstrip().startswith(("#", "template", "static_assert", "namespace", "using")):
            for pattern, instead, switch in CHANGES:
                for match in re.finditer(pattern, code):
                    found.append(Mutant(path, number, line, match.start(), match.end(), start, instead, switch))
        start += len(line) + 1
    return found


def equivalents():
    """Lines "file: code | reason"; the code is the changed line without its indentation."""
    file = ROOT / "tests" / "mutation" / "equivalent.txt"
    lines = file.read_text().split("\n") if file.exists() else []
    return {tuple(part.strip() for part in line.rsplit(" | ", 1)[0].split(": ", 1)) for line in lines if line and not line.startswith("#")}


def operand_begin(code, place, stops):
    """Where the expression begins whose last character is before `place`."""
    depth = 0
    while place > 0:
        before = code[place - 1]
        if before in ")]}":
            depth += 1
        elif before in "([{":
            depth -= 1
        if depth < 0 or (depth == 0 and (before in ",;?" or code[place - 2:place] in stops or re.search(r"\breturn$", code[max(0, place - 7):place])
                                         or (before == ":" and code[place - 2] != ":" and code[place] != ":")
                                         or (before == "=" and code[place].isspace() and code[place - 2] not in "=!<>"))):
            break
        place -= 1
    while code[place].isspace():
        place += 1
    return place


def operand_end(code, place, stops):
    """Where the expression ends that begins at `place`."""
    depth = 0
    while place < len(code):
        here = code[place]
        if here in "([{":
            depth += 1
        elif here in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and (here in ",;?" or code[place:place + 2] in stops
                                         or (here == ":" and code[place + 1] != ":" and code[place - 1] != ":"))):
            break
        place += 1
    while code[place - 1].isspace():
        place -= 1
    return place


def edits_of(mutant, number, code):
    """(begin, end, order, text): what stands in place of the file's characters from begin to end; insertions at one place in their order."""
    here = f"::treeline::mutation::{{}}<{number}"
    if mutant.switch == "value":
        return [(mutant.begin, mutant.end, 0, f"{here.format('value')}>({code[mutant.begin:mutant.end]}, {mutant.instead})")]
    if mutant.switch in ("smallest", "largest"):
        typed = code[mutant.end] == "<"
        return [(mutant.begin, mutant.end + typed, 0, here.format(mutant.switch) + (", " if typed else ">"))]
    operator = code[mutant.begin:mutant.end].strip()
    if mutant.switch not in ("and", "or"):
        return [(mutant.begin, mutant.end, 0, f" {operator} {here.format(mutant.switch)}>{{}} {operator} ")]
    begin = operand_begin(code, mutant.begin, ("||",) if mutant.switch == "and" else ())
    end = operand_end(code, mutant.end, ("&&", "||") if mutant.switch == "and" else ("||",))
    decided = ("" if mutant.switch == "and" else "!") + here.format("on") + ">()"
    return [(begin, begin, 1e9 - end, f"({here.format('first_decides_' + mutant.switch)}>("),
            (mutant.begin, mutant.end, 0, f") ? {decided} : static_cast<bool>("), (end, end, -begin, "))")]


def without_constexpr(text, code, places):
    """A constant whose value is switched is known at run time alone."""
    for place in places:
        begin = code.rfind("\n", 0, place) + 1
        declaration = re.match(r"\s*((static |inline )*)constexpr ((?:const )?[\w:<>, ]+?[\w>*] \w+(\[\w*\])?( =|\{))", code[begin:code.find("\n", begin)])
        if declaration:
            at = code.index("constexpr", begin)
            text = text[:at] + "const    " + text[at + 9:]
    return text


def switched(path, numbered):
    text = path.read_text()
    code = code_of(text)
    text = without_constexpr(text, code, [mutant.begin for _, mutant in numbered])
    edits = [edit for number, mutant in numbered for edit in edits_of(mutant, number, code)]
    for begin, end, _, instead in sorted(edits, reverse=True):
        text = text[:begin] + instead + text[end:]
    return f'#include "{ROOT}/tests/mutation/switches.h"\n#line 1\n' + text


class Copy:
    """A checkout of its own with every change behind its switch."""

    def __init__(self, folder, jobs):
        self.root = ROOT / f"build-mutation-{folder}"  # a compiler cache knows files by their place relative to the build tree
        self.build = self.root / "build"
        self.jobs = jobs
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.split(b"\0")
        for name in filter(None, (file.decode() for file in files)):
            if (ROOT / name).is_file() and name not in (f"{folder}/CMakeLists.txt", "tests/CMakeLists.txt"):
                self.write(self.root / name, (ROOT / name).read_bytes())
        # Optimising a thousand switches takes longer than running them unoptimised. An index beyond the end of a list is noticed,
        # as by the unit tests with sanitizers. Headers with switches lie in a folder that only this library and the tests see, so
        # that no other library is compiled again.
        see = f"target_include_directories({{}} BEFORE PRIVATE {self.root}/switched)\n"
        self.append(f"{folder}/CMakeLists.txt", see.format(f"treeline_{folder}") + f"target_compile_options(treeline_{folder} PRIVATE -O1 -D_GLIBCXX_ASSERTIONS)\n")
        self.append("tests/CMakeLists.txt", see.format("treeline_tests"))
        shutil.rmtree(self.root / "switched", ignore_errors=True)
        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={shutil.which('ccache')}"] if shutil.which("ccache") else []
        options = ["CUDA=OFF", "KERNELS=ON", "MPI=OFF", "SERVE=OFF", "SCRAPE=OFF", "PYTHON=OFF", "DEV_BUILD=",
                   "TESTS_OF=" + ";".join(f"{tests}/" for tests in TESTS_OF[folder])]
        subprocess.run(["cmake", "--preset", "release", "-S", self.root, "-B", self.build, *(f"-DTREELINE_{option}" for option in options),
                        *launcher], cwd=self.root, check=True, stdout=subprocess.DEVNULL)
        tests = [test for tests in TESTS_OF[folder] for test in sorted((self.root / "tests" / tests).glob("*_test.cpp"))]
        self.tags = ",".join(f"[#{test.stem}]~[shared]~[slow]" for test in tests)
        self.program = self.build / "tests" / "treeline_tests"

    @staticmethod
    def write(path, content):
        """Files that do not change keep their time, so that what was built stays."""
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def append(self, name, lines):
        self.write(self.root / name, (ROOT / name).read_bytes() + lines.encode())

    def compile(self, mutants):
        """Compiles all changes; returns the numbers of those that cannot be switched, which are left out."""
        left_out = set()
        while True:
            for path in {mutant.path for mutant in mutants}:
                numbered = [(number, mutant) for number, mutant in enumerate(mutants) if mutant.path == path and number not in left_out]
                folder = self.root / "switched" if path.suffix == ".h" else self.root
                self.write(folder / path.relative_to(ROOT), (switched(path, numbered) if numbered else path.read_text()).encode())
            made = subprocess.run(["ninja", "-C", self.build, f"-j{self.jobs}", "-k0", "treeline_tests"], capture_output=True, text=True)
            if made.returncode == 0:
                return left_out
            wrong = self.named_in(made.stdout, mutants) - left_out
            if not wrong:
                sys.exit("the switched sources do not compile:\n" + made.stdout[-4000:])
            left_out |= wrong

    def named_in(self, said, mutants):
        """Changes that the compiler's errors name by number; where they name none, those of the lines with errors."""
        # A compiler names the template and the place of use before the error itself.
        parts = re.split(r"\n(?=\S+: In |\S+:\d+:\d+: (?:error|warning))", said)
        errors = [(before + "\n" if ": In instantiation of" in before else "") + part
                  for before, part in zip([""] + parts, parts) if ": error: " in part]
        wrong = set()
        for error in errors:
            named = {int(number) for number in re.findall(r"mutation::\w+<(\d+)|with int id = (\d+)", error) for number in number if number}
            for file, line in re.findall(r"(\S+?):(\d+):\d+: (?:error|note|  *required)", error) if not named else []:
                for number, mutant in enumerate(mutants):
                    if file.endswith(str(mutant.path.relative_to(ROOT))) and abs(mutant.number + 1 - int(line)) <= 1:
                        named.add(number)
            wrong |= named
        return wrong

    def run(self, cases, mutant=-1, trace="", seconds=3600):
        """Whether these cases pass; they have so many seconds of processor time, and 4 GB."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        names = self.build / f"cases-{os.getpid()}-{mutant}-{abs(hash(trace))}.txt"
        names.write_text("\n".join(f'"{case}"' for case in cases) + "\n")
        environment = dict(os.environ, TREELINE_MUTANT=str(mutant), OMP_NUM_THREADS="1", **({"TREELINE_MUTANT_TRACE": trace} if trace else {}))
        try:
            return subprocess.run([self.program, "--abort", "--input-file", names], env=environment, capture_output=True, preexec_fn=limit,
                                  timeout=2 * seconds).returncode == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            names.unlink()

    def cases(self):
        listed = subprocess.run([self.program, "--filenames-as-tags", "--list-test-names-only", self.tags], capture_output=True, text=True).stdout
        return [name for name in listed.split("\n") if name]


class Case:
    """A test case: which changes can be compiled, which ones it meets, how long it takes."""

    def __init__(self, copy, name):
        trace = copy.build / f"trace-{abs(hash(name))}.txt"
        before = time.monotonic()
        self.name = name
        self.passes = copy.run([re.sub(r"([,\[\]\\])", r"\\\1", name)], trace=str(trace))
        self.seconds = time.monotonic() - before
        marks = trace.read_text() if trace.exists() else ""
        trace.unlink(missing_ok=True)
        self.possible = {i // 2 for i in range(0, len(marks), 2) if marks[i] == "p"}
        self.meets = {i // 2 for i in range(0, len(marks), 2) if marks[i + 1] == "m"}


def judge(copy, cases, number):
    meeting = sorted((case for case in cases if number in case.meets), key=lambda case: case.seconds)
    for begin, end in ((0, 3), (3, 20), (20, len(meeting))):  # short ones first: most changes are noticed by many
        some = meeting[begin:end]
        if some and not copy.run([re.sub(r"([,\[\]\\])", r"\\\1", case.name) for case in some], mutant=number,
                                 seconds=10 + 5 * int(sum(case.seconds for case in some))):
            return "noticed"
    return "survived" if meeting else "not met"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", choices=sorted(TESTS_OF))
    options.add_argument("--mutants", type=int, help="how many are drawn (default 500; of named files, all)")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--file", help="only files whose name ends so")
    options.add_argument("--again", type=argparse.FileType(), help="only the changes that this output of an earlier run lists")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--list", action="store_true", help="only list the mutants")
    given = options.parse_args()

    files = sorted(path for pattern in ("*.cpp", "*.h") for path in (ROOT / given.folder).rglob(pattern))
    known = equivalents()
    mutants = [mutant for path in files if not given.file or path.name.endswith(given.file) for mutant in mutants_of(path)
               if (str(path.relative_to(ROOT)), mutant.changed) not in known]
    if given.again:
        listed = given.again.read()
        mutants = [mutant for mutant in mutants if f"{mutant}  (" in listed]
    wanted = given.mutants or (len(mutants) if given.file or given.again else 500)
    if wanted < len(mutants):
        mutants = random.Random(given.seed).sample(mutants, wanted)
    if given.list:
        print("\n".join(str(mutant) for mutant in mutants))
        return 0
    copy = Copy(given.folder, given.jobs)
    left_out = copy.compile(mutants)
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        cases = list(pool.map(lambda name: Case(copy, name), copy.cases()))
        failing = [case.name for case in cases if not case.passes]
        if failing or not cases:
            sys.exit("the unmodified tests do not pass: " + ", ".join(failing))
        possible = set().union(*(case.possible for case in cases)) - left_out
        print(f"{len(mutants)} changes, {len(left_out)} cannot be switched, {len(mutants) - len(left_out) - len(possible)} do not compile; "
              f"{len(cases)} test cases take {sum(case.seconds for case in cases):.0f} s", flush=True)
        verdicts = {}
        for number, verdict in zip(sorted(possible), pool.map(lambda number: judge(copy, cases, number), sorted(possible))):
            verdicts[number] = verdict
            if verdict != "noticed":
                print(f"{mutants[number]}  ({verdict})", flush=True)
    noticed = sum(verdict == "noticed" for verdict in verdicts.values())
    print(f"{noticed} of {len(verdicts)} mutants noticed ({100.0 * noticed / max(1, len(verdicts)):.0f} %)")
    return 0 if noticed >= 0.9 * len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
