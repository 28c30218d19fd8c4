"""Treeline: which speculative-decoding configuration to run, what it gains, and how sure that is.

    import treeline
    answer = treeline.recommend("workload.json")
    print(answer.sentence)
    print(answer.recommendation.drafter, answer.recommendation.gain)

Inputs are the JSON files of the program (docs/inputs.md), as a path or as a dict. Answers are dicts with the names of its JSON
output, which can also be read as attributes. Keys carry their unit: tpot_ms, memory_gb, tokens_per_s_user. Bad input raises
InputError, whose attribute `problems` lists every problem as a sentence.

Descriptions of models and hardware are found by name in a catalogue: `catalogue=` names its folder; without it $TREELINE_DATA does,
else the one that was installed with this module is used.
"""

import json as _json
import os as _os

from . import _plots, _treeline
from ._answers import Answer, Listing, Listings, Recommendation, Record
from ._sweep import Sweep
from ._treeline import InputError

__version__ = _treeline.version
__all__ = [
    "Answer", "InputError", "Recommendation", "Record", "Sweep", "Tree",
    "calibrate", "estimate", "hardware", "models", "recommend", "sweep", "validate",
]


def _catalogue(folder):
    if folder is not None:
        return _treeline.catalogue_in(_os.fspath(folder))
    package = _os.path.dirname(_os.path.abspath(__file__))
    beside = _os.path.normpath(_os.path.join(package, _treeline.data_beside))
    return _treeline.catalogue_among([_os.path.join(package, "data"), beside])


def _read(source, from_file, from_text, catalogue, *rest):
    """Calls `from_file` for a path, `from_text` for a dict, whose paths are relative to the current folder."""
    if isinstance(source, (str, _os.PathLike)):
        return from_file(_os.fspath(source), _catalogue(catalogue), *rest)
    return from_text(_json.dumps(source), _catalogue(catalogue), "", *rest)


def recommend(workload, *, catalogue=None, threads=0):
    """The best speculative configuration for a workload, as `treeline recommend` finds it.

    workload: path of a JSON file, or a dict of the same keys (docs/inputs.md).
    threads: 0 is one a core; results do not depend on it.

    Among the fields of the answer: `sentence`; `recommendation` (None where nothing keeps the limits) with drafter, shape,
    draft_tokens, gain and speedup (ratios to plain decoding), tpot_ms, ttft_ms, tokens_per_s_user,
    tokens_per_s_device, memory_gb, accept_length (tokens a round); `schedule` with batch_from, batch_to and
    draft_tokens, a pandas.DataFrame where pandas is there; `runners_up`, `pareto`, `excluded`, `engine_flags`, `uncertainty`. Methods: json(), table(), csv(), html().
    """
    return Recommendation(_read(workload, _treeline.recommend_file, _treeline.recommend_json, catalogue, threads))


def estimate(point, *, catalogue=None):
    """One design point, as `treeline estimate` explains it.

    point: path of a JSON file, or a dict: target, platform, drafter, draft_tokens or shape, batch (sequences), context (tokens).

    Among the fields of the answer: `speedup` (ratio to plain decoding), `accept_length` (tokens a round),
    `break_even_accept_length`, `fits`, `speculative` and `plain` with tpot_ms, ttft_ms, tokens_per_s_user, memory in GB.
    """
    return Answer(_read(point, _treeline.estimate_file, _treeline.estimate_json, catalogue))


def sweep(axes, *, columns=None, best_by="speedup", top=10, pareto_of=("tokens_per_s_user", "tokens_per_s_device"),
          ignore_memory=False, catalogue=None, threads=0):
    """Prices a whole design space, as `treeline sweep` does; every point becomes a row of columns.

    axes: path of a JSON file, or a dict {"axes": {...}, "conditions": [...]}.
    columns: figures to keep of every point, 8 bytes each; None keeps all of them, [] none (the summary is there anyhow).
    best_by, top: the column that says which points `summary.best` lists, and how many.
    pareto_of: the two columns that `summary.pareto` trades off.
    ignore_memory: also list points that do not fit. They are always among the columns, marked by "fits".

    Ctrl-C ends it.
    """
    data = _read(axes, _treeline.sweep_input_file, _treeline.sweep_input_json, catalogue)
    options = _treeline.SweepOptions(best_by, top, list(pareto_of), ignore_memory, threads)
    kept = _treeline.sweep_figures() if columns is None else list(columns)
    return Sweep(_treeline.sweep(data, options, kept), kept)


def validate(experiments=(), *, catalogue=None):
    """Predicts published results and scores the predictions, as `treeline validate` does.

    experiments: further files or folders of them; platforms that the published ones fit are only predicted.

    Errors are shares: 0.04 is 4 %. `problems` lists what faulty files left out.
    """
    return Answer(_treeline.validate([_os.fspath(path) for path in experiments], _catalogue(catalogue)))


def calibrate(device, *, measured=(), derive_from="", source="", resamples=100, serving=None, stack=None, catalogue=None,
              **served):
    """Laws fitted to measurements: of a device's kernels, or of a serving stack.

    Kernels: `measured` are tables of measured times (CSV, or the JSON of nvbench or Google Benchmark), or one folder of them;
    `derive_from` is a calibrated device whose laws stand in for what was not measured. The answer is a calibration file.

    Serving: `serving` is a CSV of measured steps of your deployment, `stack` the stack to begin with; `model`, and where they
    apply `drafter` (name, kind or dict), `precision`, `tensor_parallel`, `interconnect`, `mode`, `context` (tokens), `rollback`
    say what was served. The fitted stack's description is the field `stack_description`; save it as a JSON file and name it in
    a platform.
    """
    found = _catalogue(catalogue)
    if serving is None:
        if stack is not None or served:
            raise TypeError("stack=, model= and the like say what was served; they need serving=")
        tables = [measured] if isinstance(measured, (str, _os.PathLike)) else measured
        native = _treeline.calibrate_kernels(device, [_os.fspath(path) for path in tables], derive_from, source, resamples, found)
        return Answer(native)
    if measured or derive_from or source:
        raise TypeError("serving= fits a software stack; measured=, derive_from= and source= are for kernels, in a call of their own")
    known = {"model", "drafter", "precision", "tensor_parallel", "interconnect", "mode", "context", "rollback"}
    if served.keys() - known:
        raise TypeError(f"calibrate() got an unexpected argument {sorted(served.keys() - known)[0]!r}")
    words = {key: _json.dumps(value) if isinstance(value, dict) else value for key, value in served.items()}
    native = _treeline.fit_serving(_os.fspath(serving), {"device": device, "stack": stack or "", **words}, found)
    answer = Answer(native)
    answer["stack_description"] = _json.loads(native.stack(stack, found), object_hook=Record)
    return answer


def models(*, catalogue=None):
    """The models of the catalogue: a list of records with name, layers, parameters, and bytes of weights, cache and state."""
    return Listing(_json.loads(_treeline.models_json(_catalogue(catalogue)), object_hook=Record))


def hardware(*, catalogue=None):
    """The hardware of the catalogue: lists `devices`, `stacks`, `boards` and `designs` of records whose keys end in their unit."""
    lists = _json.loads(_treeline.hardware_json(_catalogue(catalogue)), object_hook=Record)
    return Listings({name: Listing(records) for name, records in lists.items()})


class Tree(_treeline.Tree):
    """A draft tree. Token 0 is the root, the last accepted token; tokens 1, 2, ... are the drafted nodes, level by level.

    Tree([0, 0, 1]) takes the parent of each node. Fields: parents, nodes (root excluded), depth (levels below the root), leaves,
    level_widths, verified_tokens (nodes + 1), unrolled_tokens (of one sequence for each leaf).
    """

    @classmethod
    def from_shape(cls, shape, ranks=(), *, catalogue=None):
        """The tree of "chain:5", "branching:3,2", "sglang:5,4,32", "optimal:32,5", a published one's name, or a dict such as
        {"widths": [4, 8, 8]}. `ranks`: P(the child of rank 1, 2, ... is the accepted one | its parent was accepted), which
        shapes that prefer likely nodes need."""
        text = shape if isinstance(shape, str) else _json.dumps(shape)
        return cls(_treeline.find_tree(text, list(ranks), _catalogue(catalogue)).parents)

    def accept_length(self, ranks):
        """Mean tokens a round yields, the bonus token included, with these probabilities by rank."""
        return super().accept_length(list(ranks))

    def mask(self):
        """Which tokens attend to which: a NumPy array of bool, [token, ancestor], each token attending to itself."""
        return super().mask()

    def __repr__(self):
        return f"Tree({self.parents})"

    def _repr_html_(self):
        return _plots.tree(self.parents)

    def __eq__(self, other):
        return isinstance(other, Tree) and self.parents == other.parents

    def __hash__(self):
        return hash(tuple(self.parents))
