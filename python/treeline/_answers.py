import json as _json


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
        """Of a recommendation: a self-contained page with plots, as text."""
        return self._native.page()
