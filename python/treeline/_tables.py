"""Answers as tables: of HTML where a notebook shows them, of pandas where that is there."""
import csv as _csv
import html as _html
import io as _io

_LONGEST = 20  # rows that a notebook shows


def frame(rows):
    """A DataFrame of dicts; the list itself where pandas is missing."""
    try:
        import pandas
    except ImportError:
        return list(rows)
    return pandas.DataFrame([dict(row) for row in rows])


def _cell(value):
    if value is None or value == "":
        return "<td></td>"
    if isinstance(value, bool) or isinstance(value, str):
        return f"<td>{_html.escape(str(value))}</td>"
    if isinstance(value, (dict, list)):
        return f"<td>{len(value)} {'entries' if isinstance(value, list) else 'fields'}</td>"
    text = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    return f'<td style="text-align: right">{text}</td>'


def table(rows, columns=None, caption=None):
    """An HTML table of dicts, the first rows of many."""
    rows = list(rows)
    names = list(columns) if columns is not None else list(rows[0]) if rows else []
    text = f"<caption>{_html.escape(caption)}</caption>" if caption else ""
    text += "<thead><tr>" + "".join(f"<th>{_html.escape(str(name))}</th>" for name in names) + "</tr></thead><tbody>"
    for row in rows[:_LONGEST]:
        text += "<tr>" + "".join(_cell(row.get(name)) for name in names) + "</tr>"
    left = len(rows) - _LONGEST
    if left > 0:
        text += f'<tr><td colspan="{len(names)}">and {left:,} more</td></tr>'
    return f"<table>{text}</tbody></table>"


def _number(text):
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def table_of_csv(text, caption=None):
    return table([{name: _number(value) for name, value in row.items()} for row in _csv.DictReader(_io.StringIO(text))],
                 caption=caption)


def paragraph(text, strong=False):
    return f"<p>{'<b>' if strong else ''}{_html.escape(text)}{'</b>' if strong else ''}</p>"
