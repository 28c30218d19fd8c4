"""What users get: stubs that fit the module, examples and documents that run, an installed package that finds its catalogue."""
import ast
import inspect
import os
import pathlib
import re
import subprocess
import sys

import treeline

source = pathlib.Path(os.environ["SOURCE"])


def parameters(function):
    arguments = function.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    return names + [a.arg for a in (arguments.vararg, arguments.kwarg) if a]


def test_stubs_fit_the_module():
    stub = ast.parse((pathlib.Path(treeline.__file__).parent / "__init__.pyi").read_text())
    functions = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    assert {*functions, *classes} == set(treeline.__all__)
    for name, node in functions.items():
        function = getattr(treeline, name)
        assert parameters(node) == list(inspect.signature(function).parameters), name
        assert function.__doc__
    for name, node in classes.items():
        for member in node.body:
            if isinstance(member, ast.FunctionDef):
                assert hasattr(getattr(treeline, name), member.name), f"{name}.{member.name}"


def blocks(language):
    text = (source / "docs" / "library.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_document_runs(monkeypatch):
    monkeypatch.chdir(source)
    names = {}
    assert len(blocks("python")) >= 3
    for block in blocks("python"):
        exec(compile(block, "docs/library.md", "exec"), names)


def test_the_document_shows_the_examples():
    assert (source / "examples" / "cpp" / "hello.cpp").read_text() in blocks("cpp")


def test_the_plot_is_drawn(tmp_path):
    script = source / "examples" / "python" / "draft_length.py"
    subprocess.run([sys.executable, script, "--output", tmp_path / "plot.svg"], check=True)
    plot = (tmp_path / "plot.svg").read_text()
    assert plot.startswith("<?xml") or plot.startswith("<svg")
    assert "batch 128" in plot


def test_an_installed_package_finds_its_catalogue(tmp_path):
    cmake = [os.environ["CMAKE"], "--install", os.environ["BUILD"], "--prefix", str(tmp_path)]
    subprocess.run([*cmake, "--component", "python"], check=True, capture_output=True)
    package = next(tmp_path.rglob("treeline/__init__.py")).parent
    assert {file.name for file in package.iterdir()} >= {"__init__.pyi", "py.typed"}
    data = tmp_path / "share" / "treeline"
    (data / "models").mkdir(parents=True)
    (data / "hardware").mkdir()
    (data / "models" / "llama-3-8b.json").write_text((source / "models" / "llama-3-8b.json").read_text())
    code = "import treeline; print([model.name for model in treeline.models()], treeline.__file__)"
    environment = {key: value for key, value in os.environ.items() if key != "TREELINE_DATA"}
    environment["PYTHONPATH"] = str(package.parent)
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment).stdout
    assert shown == f"['llama-3-8b'] {package / '__init__.py'}\n"
