"""Builds the wheel with CMake and Python's standard library (PEP 517), so that neither a package index nor a network is needed.

    pip wheel . --no-deps [--config-settings build-dir=FOLDER] [--config-settings cmake-args="-DX=Y ..."]

The wheel's bytes depend on what is built alone: files are sorted and have no time.
"""

import base64
import hashlib
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DTREELINE_WHEEL=ON", "-DTREELINE_CUDA=OFF", "-DTREELINE_TESTS=OFF", "-DTREELINE_KERNELS=OFF",
           "-DTREELINE_MPI=OFF", "-DTREELINE_SCRAPE=OFF", "-DTREELINE_SERVE=OFF"]


def _project():
    """The table [project] of pyproject.toml. tomllib came with Python 3.11; these keys are strings and one list of them."""
    table = (SOURCE / "pyproject.toml").read_text().split("[project]")[1].split("\n[")[0]
    project = dict(re.findall(r'^([a-z-]+) = "(.*)"$', table, re.MULTILINE))
    dependencies = re.search(r"^dependencies = \[(.*)\]$", table, re.MULTILINE)
    project["dependencies"] = re.findall(r'"([^"]+)"', dependencies.group(1)) if dependencies else []
    return project


def _metadata(project):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}", f"Summary: {project['description']}",
             "License: Apache-2.0", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (SOURCE / project["readme"]).read_text()


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _installed(settings, scratch):
    """Builds the module; {path in the wheel: bytes}."""
    build = settings.get("build-dir", str(scratch / "build"))
    tree = scratch / "tree"
    subprocess.run(["cmake", "-S", str(SOURCE), "-B", build, "-G", "Ninja", *OPTIONS, f"-DPython_EXECUTABLE={_interpreter()}",
                    *shlex.split(settings.get("cmake-args", ""))], check=True)
    subprocess.run(["cmake", "--build", build, "--target", "treeline_python"], check=True)
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", str(tree)], check=True)
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in sorted(tree.rglob("*")) if path.is_file()}


def _interpreter():
    """The one whose headers are there: a virtual environment has none of its own."""
    return getattr(sys, "_base_executable", sys.executable)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = _project()
    python = "cp" + sysconfig.get_config_var("py_version_nodot")
    tag = f"{python}-{python}-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    info = f"{project['name']}-{project['version']}.dist-info"
    with tempfile.TemporaryDirectory() as scratch:
        files = _installed(config_settings or {}, pathlib.Path(scratch))
    files[f"{info}/METADATA"] = _metadata(project).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: treeline_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/LICENSE"] = (SOURCE / "LICENSE").read_bytes()
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{project['name']}-{project['version']}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, wheel), "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980, the first time that an archive can hold
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel
