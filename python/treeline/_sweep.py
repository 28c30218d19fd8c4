import json as _json

from . import _plots, _tables, _treeline
from ._answers import Record


class Sweep:
    """The points of a sweep as columns, and its summary.

    sweep["speedup"] is a NumPy array on the answer's own memory, read-only: all figures lie in one buffer, and nothing is copied.
    Names carry units: tpot_ms, memory_gb, tokens_per_s_device. A figure that the device's description cannot fill is NaN.
    sweep["device"] and the other labels are arrays of text, made when asked for; "variant" and "shape_index" are the int32 codes
    behind them, and "fits" tells which points fit in memory. `columns` lists all names; dict(sweep) suits pandas.DataFrame.

    The fields title, source, inputs and summary have the names of the program's JSON output: `summary.points`, `summary.best`,
    `summary.pareto`, `summary.dropped`, `summary.too_large`, `summary.excluded`.
    """

    def __init__(self, native, figures):
        self._native = native
        self._figures = list(figures)
        self._document = _json.loads(native.json(), object_hook=Record)
        titles = _treeline.sweep_titles()
        labels = titles[:titles.index(_treeline.sweep_figures()[0])]
        self._variant_labels = labels[:-2]
        self._shape_labels = labels[-2:]

    @property
    def columns(self):
        if not self._figures:
            return []
        return [*self._variant_labels, *self._shape_labels, *self._figures, "fits"]

    def keys(self):
        return self.columns

    def __len__(self):
        """Points that were priced."""
        return self._document.summary.points

    def __getitem__(self, name):
        if name in self._figures:
            return self._native.figures(name)
        codes = {"fits": self._native.fits, "variant": self._native.variants, "shape_index": self._native.shapes}
        if self._figures and name in codes:
            return codes[name]()
        if self._figures and name in self._variant_labels:
            return self._labels(self._native.variant_labels(), self._variant_labels.index(name), self._native.variants())
        if self._figures and name in self._shape_labels:
            return self._labels(self._native.shape_labels(), self._shape_labels.index(name), self._native.shapes())
        raise KeyError(f"no column {name!r}; there are {', '.join(self.columns) or 'none: none was asked for'}")

    @staticmethod
    def _labels(lists, which, codes):
        import numpy  # here: what needs no array starts without it

        return numpy.asarray(lists[which])[codes]

    def __getattr__(self, name):
        document = self.__dict__.get("_document", {})
        if name in document:
            return document[name]
        raise AttributeError(f"no field {name!r}; there are {', '.join(document)}")

    def json(self):
        """The summary as JSON text (format "treeline-sweep-summary")."""
        return self._native.json()

    def table(self):
        """The summary as the program prints it."""
        return self._native.table()

    def _repr_html_(self):
        """How a notebook shows it: how many points there are, the best of them, and the Pareto set."""
        summary = self._document.summary
        return (_tables.paragraph(f"{summary.points:,} points", strong=True) + _tables.table(summary.best, caption="The best")
                + _plots.front(summary.get("pareto", [])))
