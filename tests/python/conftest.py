import json
import os
import pathlib
import subprocess

import pytest

source = pathlib.Path(os.environ["SOURCE"])


@pytest.fixture
def examples():
    return source / "examples"


@pytest.fixture
def program():
    """Runs the program: program("recommend", file, ...) gives its standard output."""

    def run(*arguments):
        return subprocess.run([os.environ["TREELINE"], *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def program_problems():
    """The sentences with which the program refuses its arguments."""

    def run(*arguments):
        done = subprocess.run([os.environ["TREELINE"], *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 2
        return [line.removeprefix("treeline: ") for line in done.stderr.splitlines()]

    return run


@pytest.fixture
def loaded():
    return lambda path: json.loads(pathlib.Path(path).read_text())
