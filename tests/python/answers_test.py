"""The module says what the program says: the same figures, names and sentences."""
import json
import os
import subprocess
import sys

import pytest

import treeline


def test_a_recommendation_has_the_programs_fields(examples, program):
    answer = treeline.recommend(examples / "starter.json")
    text = program("recommend", examples / "starter.json", "--format", "json")
    assert answer.json() == text
    assert answer == json.loads(text)
    assert answer.table() == program("recommend", examples / "starter.json")
    assert answer.csv() == program("recommend", examples / "starter.json", "--format", "csv")
    assert answer.recommendation.gain == answer["recommendation"]["gain"]
    assert answer["schedule"].entries[0].batch_from == 1


def test_the_engine_is_a_key_of_the_platform(examples, loaded, program):
    workload = loaded(examples / "starter.json")
    workload["platforms"] = [{"device": "h100-sxm", "engine": "sglang"}]
    answer = treeline.recommend(workload)
    assert answer == json.loads(program("recommend", examples / "starter.json", "--engine", "sglang", "--format", "json"))
    assert answer.engine_flags[0].engine.startswith("SGLang")
    assert answer.html().rstrip().endswith("</html>")
    workload["platforms"][0]["engine"] = "vlm"
    with pytest.raises(treeline.InputError):
        treeline.recommend(workload)


def test_a_dict_is_a_file(examples, loaded):
    workload = loaded(examples / "starter.json")
    assert treeline.recommend(workload) == treeline.recommend(examples / "starter.json")
    workload["traffic"]["batch"] = 1
    assert treeline.recommend(workload).recommendation.gain != treeline.recommend(examples / "starter.json").recommendation.gain


def test_threads_change_nothing(examples):
    one = treeline.recommend(examples / "starter.json", threads=1)
    assert one == treeline.recommend(examples / "starter.json", threads=3)


def test_an_answer_can_be_asked_again(examples, tmp_path):
    answer = treeline.recommend(examples / "starter.json")
    (tmp_path / "answer.json").write_text(answer.json())
    assert treeline.recommend(tmp_path / "answer.json") == answer


def test_problems_are_the_programs_sentences(examples, loaded, program_problems, tmp_path):
    workload = loaded(examples / "starter.json")
    workload["target"] = "llama-3.1-8c"
    workload["objektive"] = "latency"
    file = tmp_path / "workload.json"
    file.write_text(json.dumps(workload))
    with pytest.raises(treeline.InputError) as raised:
        treeline.recommend(file)
    assert raised.value.problems == program_problems("recommend", file)
    assert len(raised.value.problems) == 2
    assert str(raised.value) == "\n".join(raised.value.problems)
    with pytest.raises(ValueError, match='workload: .*"llama-3.1-8c" is not in the catalogue'):
        treeline.recommend(workload)


def test_a_missing_file_and_a_bad_type_are_refused(tmp_path):
    with pytest.raises(treeline.InputError, match="nowhere.json"):
        treeline.recommend(tmp_path / "nowhere.json")
    with pytest.raises(treeline.InputError):
        treeline.estimate([1, 2])
    with pytest.raises(AttributeError, match="no field 'gian'; there are .*sentence"):
        treeline.estimate({"target": "llama-3-8b", "platform": "h100-sxm"}).gian


def test_an_estimate_is_the_programs(examples, program, loaded):
    file = examples / "estimate-mamba2-2.7b.json"
    answer = treeline.estimate(file)
    assert answer.table() == program("estimate", file)
    assert answer == json.loads(program("estimate", file, "--format", "json"))
    assert answer == treeline.estimate(loaded(file))
    assert answer.speculative.tpot_ms == pytest.approx(answer.plain.tpot_ms / answer.speedup)


def test_validation_is_the_programs(program):
    answer = treeline.validate()
    assert answer.json() == program("validate", "--format", "json")
    assert answer.measurements.rows > 100 and 0 < answer.measurements.median < 0.1
    assert answer.table(all_rows=True) == program("validate", "--rows")
    assert answer.problems == []
    assert "nowhere" in treeline.validate(["nowhere"]).problems[0]


def test_a_serving_stack_is_fitted(examples, program, tmp_path):
    csv = examples / "serving" / "qwen3-8b-h100-vllm.csv"
    arguments = ["--model", "qwen3-8b", "--device", "h100-sxm", "--stack", "vllm", "--drafter", "eagle3"]
    answer = treeline.calibrate("h100-sxm", serving=csv, model="qwen3-8b", stack="vllm", drafter="eagle3")
    same = treeline.calibrate("h100-sxm", serving=csv, model="qwen3-8b", stack="vllm", drafter={"kind": "eagle3"})
    assert answer == same
    assert answer.json() == program("calibrate", "--serving", csv, *arguments, "--format", "json")
    program("calibrate", "--serving", csv, *arguments, "--output", tmp_path / "stack.json")
    assert answer.stack_description == json.loads((tmp_path / "stack.json").read_text())
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps(answer.stack_description))
    point = {"target": "qwen3-8b", "platform": {"device": "h100-sxm", "stack": str(mine)}, "batch": 32}
    assert treeline.estimate(point).plain.tpot_ms > 0


def test_kernels_are_fitted(program, examples, tmp_path):
    folder = examples.parent / "calibrate" / "measurements" / "amd-epyc-2-cores"
    device = str(folder / "amd-epyc-2-cores.json")
    measured = (folder / "amd-epyc-2-cores_gemm.csv").read_text().splitlines()
    heading = next(i for i, line in enumerate(measured) if not line.startswith("#")) + 1
    gemm = tmp_path / "gemm.csv"  # a fourth of the rows: laws of all take four times as long to fit
    gemm.write_text("\n".join(measured[:heading] + measured[heading::4]) + "\n")
    answer = treeline.calibrate(device, measured=[gemm], resamples=4)
    flags = ["--from", gemm, "--resamples", "4", "--format", "json"]
    assert answer.json() == program("calibrate", "--device", device, *flags)
    with pytest.raises(treeline.InputError, match="nothing to calibrate from"):
        treeline.calibrate("h100-sxm")
    with pytest.raises(TypeError, match="serving="):
        treeline.calibrate("h100-sxm", model="qwen3-8b")


def test_the_catalogue_is_listed(program):
    models = {model.name: model for model in treeline.models()}
    assert models["llama-3-8b"] == [m for m in json.loads(program("models", "--format", "json"))["models"]
                                   if m["name"] == "llama-3-8b"][0]
    hardware = json.loads(program("hardware", "--format", "json"))
    assert treeline.hardware() == {key: hardware[key] for key in ("devices", "stacks", "expert_kernels", "attention_kernels", "boards", "designs")}


def test_another_catalogue(tmp_path):
    with pytest.raises(treeline.InputError, match="does not hold the folders models and hardware"):
        treeline.models(catalogue=tmp_path)
    with pytest.raises(treeline.InputError, match="TREELINE_DATA"):
        os.environ["TREELINE_DATA"] = str(tmp_path)
        try:
            treeline.models()
        finally:
            del os.environ["TREELINE_DATA"]


def test_importing_is_light():
    """NumPy is loaded when the first array is asked for."""
    code = "import sys, treeline; treeline.models(); assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
