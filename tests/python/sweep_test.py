import csv
import io
import json

import numpy
import pytest

import treeline

AXES = {"target": "llama-3.1-8b", "device": ["h100-sxm", "l40s"], "stack": "vllm",
        "drafter": [{"kind": "eagle3", "acceptance": {"per_position": [0.605, 0.361, 0.233]}},
                    {"kind": "ngram", "acceptance": {"per_position": [0.132, 0.101, 0.083]}}],
        "draft_tokens": {"from": 1, "to": 8}, "batch": {"from": 1, "to": 64}, "context": [1024, 4096, 65536]}
DROPPING = {"axes": AXES, "conditions": [{"require": "batch * draft_tokens <= 200 && batch != 7"}]}


@pytest.fixture
def dropping_file(tmp_path):
    (tmp_path / "sweep.json").write_text(json.dumps(DROPPING))
    return tmp_path / "sweep.json"


@pytest.mark.parametrize("threads", [1, 3])
def test_columns_are_the_programs_csv(dropping_file, program, threads):
    """Also where conditions leave gaps, whatever thread fills which chunk."""
    sweep = treeline.sweep(dropping_file, threads=threads)
    rows = list(csv.DictReader(io.StringIO(program("sweep", dropping_file, "--format", "csv"))))
    assert len(sweep) == len(rows) and sweep.summary.dropped > 0
    assert sweep.columns == list(rows[0])
    for name in sweep.columns:
        if sweep[name].dtype == float:
            wanted = numpy.array([float(row[name]) if row[name] else numpy.nan for row in rows])
            assert numpy.array_equal(sweep[name].astype("float32"), wanted.astype("float32"), equal_nan=True), name
        elif name == "fits":
            assert sweep[name].tolist() == [row[name] == "1" for row in rows]
        else:
            assert sweep[name].tolist() == [row[name] for row in rows], name


def test_the_summary_is_the_programs(dropping_file, program):
    sweep = treeline.sweep(dropping_file, best_by="tokens_per_s_device", top=3, pareto_of=("tpot_ms", "memory_gb"))
    flags = ["--by", "tokens_per_s_device", "--top", "3", "--pareto", "tpot_ms,memory_gb", "--format", "json"]
    assert sweep.json() == program("sweep", dropping_file, *flags)
    assert [point.tokens_per_s_device for point in sweep.summary.best] == sorted(
        sweep["tokens_per_s_device"][sweep["fits"]])[:-4:-1]
    assert treeline.sweep(DROPPING).table() == program("sweep", dropping_file)


def test_nothing_is_copied():
    sweep = treeline.sweep({"axes": AXES})
    figures = [name for name in sweep.columns if sweep[name].dtype == float]
    addresses = [sweep[name].__array_interface__["data"][0] for name in figures]
    assert numpy.diff(addresses).tolist() == [8 * len(sweep)] * (len(figures) - 1)  # one buffer, column after column
    assert addresses == [sweep[name].__array_interface__["data"][0] for name in figures]
    column = sweep["speedup"]
    assert not column.flags.owndata and not column.flags.writeable and column.flags.c_contiguous
    kept = column.copy()
    del sweep
    treeline.sweep({"axes": AXES}, columns=["batch"])  # would overwrite memory that was let go
    assert numpy.array_equal(column, kept)


def test_few_columns_or_none():
    sweep = treeline.sweep({"axes": AXES}, columns=["speedup", "batch"])
    assert sweep["batch"].max() == 64 and "tpot_ms" not in sweep.keys()
    with pytest.raises(KeyError, match="no column 'tpot_ms'"):
        sweep["tpot_ms"]
    nothing = treeline.sweep({"axes": AXES}, columns=[])
    assert nothing.columns == [] and len(nothing) == len(sweep) and nothing.summary == sweep.summary


def test_unknown_columns_are_refused():
    for options in ({"columns": ["speedupp"]}, {"best_by": "speedupp"}, {"pareto_of": ("speedupp", "batch")}):
        with pytest.raises(treeline.InputError, match='"speedupp"; did you mean "speedup"'):
            treeline.sweep({"axes": AXES}, **options)
    with pytest.raises(treeline.InputError, match="axes"):
        treeline.sweep({})


def test_ctrl_c_ends_it():
    import signal
    import threading

    axes = dict(AXES, batch={"from": 1, "to": 4096}, context={"from": 1, "to": 40000, "step": 4})  # 1.3 billion points
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores Ctrl-C
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        treeline.sweep({"axes": axes}, columns=[])
