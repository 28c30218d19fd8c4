import json as _json

from . import _plots, _tables


class Record(dict):
    """A dict whose keys can be read as attributes: record.gain is record["gain"]. Names of dict's own methods need brackets."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no field {name!r}; there are {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


class Answer(Record):
    """What was found, with the names of the program's JSON output."""

    def __init__(self, native):
        super().__init__(_json.loads(native.json(), object_hook=Record))
        self.__dict__["_native"] = native

    def json(self):
        """The JSON that the program writes, as text."""
        return self._native.json()

    def table(self, **options):
        """The text that the program prints. Of a recommendation and of an estimate, explain="all" or names of sections
        (--explain); of a validation, all_rows=True."""
        return self._native.table(**options)

    def csv(self):
        """The CSV that the program writes, as text."""
        return self._native.csv()

    def html(self):
        """Of a recommendation: a self-contained page with plots, as text. Other answers have none."""
        if not hasattr(self._native, "page"):
            raise TypeError("only a recommendation has a page; table() and csv() show this answer")
        return self._native.page()

    def _repr_html_(self):
        """How a notebook shows it: the sentence, the parts of an estimate's round as bars, and the lines of csv()."""
        sentence, parts = self.get("sentence"), self.get("round_ms", {})
        return ((_tables.paragraph(sentence, strong=True) if sentence else "")
                + _plots.bars([part for part in parts.items() if part[0] != "total"], "Parts of a round", "ms")
                + _tables.table_of_csv(self.csv()))


class Recommendation(Answer):
    """The answer of recommend()."""

    @property
    def schedule(self):
        """How much to draft by batch: a pandas.DataFrame with batch_from, batch_to, draft_tokens and speed-ups, or a list of
        dicts where pandas is missing. ["schedule"] holds the rest of what is known of it."""
        return _tables.frame(self._entries())

    def _entries(self):
        """None where no configuration meets the limits."""
        return self.get("schedule", {}).get("entries", [])

    def _repr_html_(self):
        text = _tables.paragraph(self["sentence"], strong=True)
        found, plain = self["recommendation"], self.get("plain")
        if found and plain:
            figures = ["tokens_per_s_device", "tpot_ms", "ttft_ms", "memory_gb"]
            text += _tables.table([{"": name, **row} for name, row in (("plain", plain), ("recommended", found))], ["", *figures])
        if self._entries():
            text += _tables.table(self._entries(), caption="Draft tokens by batch")
        return text + _plots.schedule(self._entries()) + _plots.front(self.get("pareto", []))


class Listing(list):
    """A list of records, which a notebook shows as a table."""

    def _repr_html_(self):
        return _tables.table(self)


class Listings(Record):
    """Lists by name, which a notebook shows one below the other."""

    def _repr_html_(self):
        return "".join(_tables.table(rows, caption=name) for name, rows in self.items())
