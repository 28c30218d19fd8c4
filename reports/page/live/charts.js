// Charts that are drawn anew at every change of the form, and so are plain SVG and plain tables: a few milliseconds each.
import { element } from '../src/lib/dom.js';
import { number } from '../src/lib/format.js';
import { currentPalette } from '../src/lib/theme.js';
import { seriesColours } from '../src/lib/palette.js';
import { svg } from './curve.js';

/** Values for an axis between two ends: about `count` round ones, or powers of two or ten where it is logarithmic. */
export function ticks([low, high], { log, count = 5 } = {}) {
  if (log) {
    const base = high / low > 300 ? 10 : 2;
    const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
    const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
    const every = Math.ceil((last - first + 1) / (count + 2));
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => base ** (first + i)).filter(
      (_, i) => i % every === 0,
    );
  }
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** As wide as the results are, so that its words are as large as those beside it. */
const chartWidth = () => Math.min(760, Math.max(300, document.getElementById('results').clientWidth || 640));

const scaleOf = ([low, high], [from, to], log) => {
  const place = log ? Math.log : (value) => value;
  const span = place(high) - place(low) || 1;
  return (value) => from + ((place(value) - place(low)) / span) * (to - from);
};

const SHAPES = {
  circle: (r) => svg('circle', { r }),
  square: (r) => svg('rect', { x: -r, y: -r, width: 2 * r, height: 2 * r }),
  triangle: (r) => svg('path', { d: `M0 ${-r * 1.2}L${r * 1.1} ${r * 0.8}H${-r * 1.1}Z` }),
  diamond: (r) => svg('path', { d: `M0 ${-r * 1.3}L${r * 1.3} 0L0 ${r * 1.3}L${-r * 1.3} 0Z` }),
};

/**
 * Points in series, joined where `joined`. `series`: [{name, points: [{x, y, title, faint, marked}]}]; `x`, `y`: {title, log, zero};
 * `rule`: a value of y that a dashed line marks.
 */
export function pointChart({ label, series, x, y, joined = false, rule, height = 300, width = chartWidth() }) {
  const [left, right, top, bottom] = [56, 14, 12, 44];
  const all = series.flatMap(({ points }) => points);
  const ends = (key, axis, extra = []) => {
    const values = [...all.map((point) => point[key]), ...extra];
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (axis.log) return [low / 1.1, high * 1.1];
    const room = (high - low) * 0.06 || 0.1 * Math.abs(high) || 1;
    return [axis.zero && low >= 0 ? 0 : low - room, high + room];
  };
  const [xEnds, yEnds] = [ends('x', x), ends('y', y, rule === undefined ? [] : [rule])];
  const toX = scaleOf(xEnds, [left, width - right], x.log);
  const toY = scaleOf(yEnds, [height - bottom, top], y.log);
  const colours = seriesColours(
    series.map(({ name }) => name),
    currentPalette(),
  );
  const drawing = svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'live-chart', role: 'img', 'aria-label': label });
  const xTicks = x.values ?? ticks(xEnds, { log: x.log, count: 6 });
  drawing.append(
    ...ticks(yEnds, { log: y.log, count: 4 }).flatMap((value) => [
      svg('line', { x1: left, x2: width - right, y1: toY(value), y2: toY(value), class: 'grid' }),
      svg('text', { x: left - 8, y: toY(value) + 4, 'text-anchor': 'end' }, number(value)),
    ]),
    ...xTicks.map((value) =>
      svg('text', { x: toX(value), y: height - bottom + 18, 'text-anchor': 'middle' }, number(value)),
    ),
    svg('text', { x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle', class: 'axis-title' }, x.title),
    svg(
      'text',
      {
        transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`,
        'text-anchor': 'middle',
        class: 'axis-title',
      },
      y.title,
    ),
  );
  if (rule !== undefined)
    drawing.append(svg('line', { x1: left, x2: width - right, y1: toY(rule), y2: toY(rule), class: 'rule' }));
  series.forEach(({ name, points }, i) => {
    const colour = colours.get(name);
    const shape = SHAPES[Object.keys(SHAPES)[i % 4]];
    if (joined && points.length > 1) {
      drawing.append(
        svg('polyline', {
          points: points.map((point) => `${toX(point.x)},${toY(point.y)}`).join(' '),
          fill: 'none',
          stroke: colour,
          'stroke-width': 2,
          'stroke-dasharray': ['', '7 4', '2 3', '10 3 2 3'][i % 4],
        }),
      );
    }
    drawing.append(
      ...points.map((point) => {
        const mark = svg(
          'g',
          { transform: `translate(${toX(point.x)} ${toY(point.y)})`, fill: colour, opacity: point.faint ? 0.35 : 1 },
          svg('title', {}, point.title),
          shape(point.marked ? 7 : 4),
        );
        if (point.marked) mark.setAttribute('class', 'marked');
        return mark;
      }),
    );
  });
  return element(
    'div',
    { class: 'live-figure' },
    drawing,
    series.length > 1 &&
      legend(
        series.map(({ name }) => name),
        colours,
      ),
  );
}

const legend = (names, colours) =>
  element(
    'ul',
    { class: 'live-legend' },
    names.map((name, i) => {
      const sample = svg('svg', { viewBox: '-8 -8 16 16', 'aria-hidden': 'true' });
      const mark = SHAPES[Object.keys(SHAPES)[i % 4]](5);
      mark.setAttribute('fill', colours.get(name));
      sample.append(mark);
      return element('li', {}, sample, name);
    }),
  );

/** Bars of parts on one scale: [{name, parts: [{name, value}], note}]; the part called `quiet` is grey. */
export function stackedBars({ label, bars, order, unit, quiet }) {
  const most = Math.max(...bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0)), 1e-12);
  const colours = seriesColours(order, currentPalette());
  if (quiet) colours.set(quiet, currentPalette().faint);
  return element(
    'div',
    { class: 'bars', role: 'img', 'aria-label': label },
    bars.map(({ name, parts, note }) => {
      const total = parts.reduce((sum, { value }) => sum + value, 0);
      return element(
        'div',
        { class: 'bar-row' },
        element('span', { class: 'bar-name' }, name),
        element(
          'span',
          { class: 'bar' },
          parts.map(({ name: part, value }) =>
            element('span', {
              class: 'bar-part',
              title: `${part}: ${number(value)} ${unit}`,
              style: `width: ${((100 * value) / most).toFixed(3)}%; background: ${colours.get(part)}`,
            }),
          ),
        ),
        element('span', { class: 'bar-total' }, note ?? `${number(total)} ${unit}`),
      );
    }),
    element(
      'ul',
      { class: 'live-legend' },
      order.map((part) =>
        element('li', {}, element('span', { class: 'swatch', style: `background: ${colours.get(part)}` }), part),
      ),
    ),
  );
}

/** Ranges around a middle on one scale: [{name, low, high, note}]. */
export function rangeBars({ label, ranges, middle, text }) {
  const [least, most] = [
    Math.min(middle, ...ranges.map(({ low }) => low)),
    Math.max(middle, ...ranges.map(({ high }) => high)),
  ];
  const place = (value) => ((value - least) / (most - least || 1)) * 100;
  return element(
    'div',
    { class: 'ranges', role: 'img', 'aria-label': label },
    ranges.map(({ name, low, high, note }) =>
      element(
        'div',
        { class: 'bar-row', title: note },
        element('span', { class: 'bar-name' }, name),
        element(
          'span',
          { class: 'bar range-bar' },
          element('span', {
            class: 'range',
            style: `left: ${place(low).toFixed(2)}%; width: ${Math.max(0.6, place(high) - place(low)).toFixed(2)}%`,
          }),
          element('span', { class: 'range-middle', style: `left: ${place(middle).toFixed(2)}%` }),
        ),
        element('span', { class: 'bar-total' }, `${text(low)} to ${text(high)}`),
      ),
    ),
  );
}
