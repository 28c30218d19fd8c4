"""Plots for notebooks: SVG in the colours of the page around them, made without a library. Each is "" where there is nothing to draw."""
import html as _html
import math as _math

_WIDTH, _HEIGHT = 480, 260  # pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 30, 42
_MARKS = "#2f7ed8"


class _Axis:
    """From numbers to pixels, by their logarithms where the largest is ten times the smallest or more."""

    def __init__(self, values, pixels):
        self.low, self.high = min(values), max(values)
        self.pixels = pixels
        self.logarithmic = self.low > 0 and self.high >= 10 * self.low
        if self.low == self.high:
            self.low, self.high = self.low - 1, self.high + 1

    def __call__(self, value):
        low, high, value = (_math.log(each) if self.logarithmic else each for each in (self.low, self.high, value))
        return round(self.pixels[0] + (value - low) / (high - low) * (self.pixels[1] - self.pixels[0]), 1)

    def ticks(self):
        if self.logarithmic:
            decades = range(_math.floor(_math.log10(self.low)), _math.ceil(_math.log10(self.high)) + 1)
            steps = (1, 2, 5) if len(decades) <= 4 else (1,)
            candidates = [step * 10.0**decade for decade in decades for step in steps]
        else:
            rough = (self.high - self.low) / 5
            unit = 10.0 ** _math.floor(_math.log10(rough))
            step = next(unit * of for of in (1, 2, 5, 10) if unit * of >= rough)
            candidates = [step * i for i in range(_math.floor(self.low / step), _math.ceil(self.high / step) + 1)]
        return [tick for tick in candidates if self.low <= tick <= self.high]


def _text(x, y, text, anchor="middle", more=""):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor" {more}>{_html.escape(str(text))}</text>'


def _drawing(title, marks, height=_HEIGHT):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" role="img" '
            f'aria-label="{_html.escape(title)}" font-family="sans-serif" font-size="12">'
            + _text(_WIDTH / 2, 16, title, more='font-weight="bold"') + "".join(marks) + "</svg>")


def _axes(across, up, x_title, y_title):
    bottom = _HEIGHT - _BOTTOM
    marks = [f'<path d="M{_LEFT} {_TOP}V{bottom}H{_WIDTH - _RIGHT}" fill="none" stroke="currentColor"></path>']
    marks += [_text(across(tick), bottom + 16, f"{tick:,g}") for tick in across.ticks()]
    marks += [_text(_LEFT - 6, up(tick) + 4, f"{tick:,g}", "end") for tick in up.ticks()]
    middle = (_TOP + bottom) / 2
    return [*marks, _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, x_title),
            _text(14, middle, y_title, more=f'transform="rotate(-90 14 {middle})"')]


def _plane(xs, ys):
    return _Axis(xs, (_LEFT + 8, _WIDTH - _RIGHT - 8)), _Axis(ys, (_HEIGHT - _BOTTOM - 8, _TOP + 8))


def schedule(entries):
    """Speed-ups over the batch: a box for each range of batches, from the least to the greatest, with its draft tokens. The axis
    has 1, plain decoding, which a line marks."""
    if not entries:
        return ""
    across, up = _plane([entry[key] for entry in entries for key in ("batch_from", "batch_to")],
                        [1.0, *(entry[key] for entry in entries for key in ("least_speedup", "greatest_speedup"))])
    marks = [f'<path d="M{_LEFT} {up(1.0)}H{_WIDTH - _RIGHT}" stroke="currentColor" stroke-dasharray="4 4"></path>']
    for entry in entries:
        left, right = across(entry["batch_from"]), across(entry["batch_to"])
        top, bottom = up(entry["greatest_speedup"]), up(entry["least_speedup"])
        marks.append(f'<rect x="{left}" y="{top}" width="{max(right - left, 3):g}" height="{max(bottom - top, 3):g}" fill="{_MARKS}" '
                     'fill-opacity="0.5"></rect>')
        marks.append(_text((left + right) / 2, top - 4, entry["draft_tokens"]))
    return _drawing("Draft tokens by batch", _axes(across, up, "running requests", "speed-up") + marks)


def front(rows):
    """A Pareto set: what a user gets against what a device gives, a dot for each of `rows`."""
    x, y = "tokens_per_s_user", "tokens_per_s_device"
    rows = [row for row in rows if row.get(x) is not None and row.get(y) is not None]
    if not rows:
        return ""
    across, up = _plane([row[x] for row in rows], [row[y] for row in rows])
    marks = [f'<circle cx="{across(row[x])}" cy="{up(row[y])}" r="3.5" fill="{_MARKS}"></circle>' for row in rows]
    return _drawing("Pareto set", _axes(across, up, "tokens/s of a user", "tokens/s of a device") + marks)


def bars(parts, title, unit):
    """A bar for each name and number above zero."""
    parts = [(name, value) for name, value in parts if value > 0]
    if not parts:
        return ""
    longest, marks = max(value for _, value in parts), []
    for i, (name, value) in enumerate(parts):
        top, width = _TOP + 22 * i, round((_WIDTH - 200) * value / longest, 1)
        marks.append(_text(92, top + 13, name, "end"))
        marks.append(f'<rect x="100" y="{top}" width="{width}" height="18" fill="{_MARKS}" fill-opacity="0.7"></rect>')
        marks.append(_text(106 + width, top + 13, f"{value:.3g} {unit}", "start"))
    return _drawing(title, marks, _TOP + 22 * len(parts) + 8)


def tree(parents):
    """A draft tree: the root at the top, each level below the one before, leaves side by side."""
    children = [[] for _ in range(len(parents) + 1)]
    for node, parent in enumerate(parents, 1):
        children[parent].append(node)
    level, column, leaves = [0] * len(children), [0.0] * len(children), 0
    for node, parent in enumerate(parents, 1):
        level[node] = level[parent] + 1
    for node in _leaves_first(children):
        if children[node]:
            column[node] = (column[children[node][0]] + column[children[node][-1]]) / 2
        else:
            column[node], leaves = leaves, leaves + 1
    step = min(28, (_WIDTH - 2 * _RIGHT) / leaves)
    at = [(round(_RIGHT + (place + 0.5) * step, 1), _TOP + 14 + 28 * down) for place, down in zip(column, level)]
    marks = [f'<path d="M{at[parent][0]} {at[parent][1]}L{at[node][0]} {at[node][1]}" stroke="currentColor"></path>'
             for node, parent in enumerate(parents, 1)]
    marks += [f'<circle cx="{x}" cy="{y}" r="{min(5, step / 3):.3g}" fill="{_MARKS if node else "currentColor"}"></circle>'
              for node, (x, y) in enumerate(at)]
    return _drawing(f"Draft tree of {len(parents)} nodes", marks, _TOP + 28 * (max(level) + 1))


def _leaves_first(children):
    """Each node after all that hang from it, from left to right."""
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(children[node])
    return order[::-1]
