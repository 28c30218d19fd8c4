// A chart given wholly as data (reports/figure.h): lines with intervals and measured points, points, bars, or ranges (a timeline).
import { cell, isNumber, unique } from './format.js';
import { seriesColours } from './palette.js';
import { chart } from './chart.js';
import { openRecord } from './table.js';
import { linearAxis, logAxis, nameAxis, zoomParameter } from './vega.js';

const DASHES = [[1, 0], [7, 4], [2, 3], [10, 3, 2, 3], [1, 4], [14, 4]];
const ONE_SERIES = 'all';

export function figureChart(figure) {
  const rows = figure.rows.map((row) => ({ ...row, series: figure.series ? String(row[figure.series]) : ONE_SERIES }));
  const names = unique(rows, 'series');
  const choices = (figure.choices ?? []).map(({ key, label }) => choiceOf(rows, key, label));
  return chart({
    id: figure.id,
    title: figure.title,
    reading: figure.reading,
    alternative: figure.alternative ?? `${figure.title}. ${figure.reading}`,
    columns: figure.columns,
    rows: figure.rows,
    onmark: ({ record }) => isNumber(record) && openRecord(record),
    choices,
    legend: (palette) =>
      names.length < 2
        ? []
        : names.map((value) => ({
            value,
            label: value,
            colour: seriesColours(names, palette).get(value),
            shape: figure.mark === 'line' ? 'line' : 'square',
          })),
    zoom: zooms(figure) ? { x: figure.x.key, y: figure.y.key } : undefined,
    measured: figure.mark === 'bar',
    specification: ({ palette, inner, state, shown }) => {
      const chosen = rows.filter(
        (row) => shown(row.series) && choices.every(({ key }) => state[key] === null || row[key] === state[key]),
      );
      return specification(figure, chosen, names, palette, inner);
    },
  });
}

const zooms = ({ mark }) => mark === 'line' || mark === 'point';

/** A list that keeps one value of `key`. */
function choiceOf(rows, key, label) {
  const values = unique(rows, key);
  return { key, label, value: values[0] ?? null, options: values.map((value) => ({ value, label: cell(value) })) };
}

function specification(figure, rows, names, palette, inner) {
  const colours = seriesColours(names, palette);
  const values = rows.map((row) => ({ ...row, colour: colours.get(row.series) }));
  const parts = { figure, values, names, palette, inner };
  const layers = { line: lineLayers, point: pointLayers, bar: barLayers, range: rangeLayers }[figure.mark](parts);
  const categories = figure.mark === 'range' ? unique(rows, figure.y.key).length : 0;
  return {
    height: figure.mark === 'range' ? 60 + 34 * categories : 340,
    data: { values },
    layer: [...ruleLayers(figure, palette), ...diagonalLayer(figure, values, palette), ...layers],
  };
}

/** Numbers on a linear or log scale, or names in the order of the rows. */
function axisOf(channel, axis, parts, extra = {}) {
  const room = 8; // pixels between the outermost marks and the edge, so that these are not cut
  const numeric = parts.values.some((row) => isNumber(row[axis.key]));
  if (!numeric || axis.discrete) {
    const order = [...new Set(parts.values.map((row) => row[axis.key]))];
    const beside = channel === 'x' && !numeric ? nameAxis(order, parts.inner) : { labelAngle: 0, grid: false };
    return { field: axis.key, type: 'nominal', sort: order, axis: { title: axis.title, ...beside }, ...extra };
  }
  return {
    field: axis.key,
    type: 'quantitative',
    scale: axis.log ? { type: 'log', nice: false, padding: room } : linearScale(axis, parts, room),
    axis: { title: axis.title, ...(axis.log ? logAxis(channel, axis.key === 'batch' ? 2 : 10) : linearAxis(channel)) },
    ...extra,
  };
}

/** Room on both sides, but never below zero where nothing lies there: no axis of times or rounds begins at -5,000. */
function linearScale(axis, { figure, values }, room) {
  const keys = axis === figure.y ? [axis.key, figure.low, figure.high, figure.points] : [axis.key];
  const numbers = values.flatMap((row) => keys.map((key) => row[key])).filter(isNumber);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  if (axis.zero) return { zero: true, nice: true, padding: 0 };
  return least >= 0 && most > 0 && least < 0.15 * most
    ? { domain: [0, most * 1.04], nice: true, padding: 0 }
    : { zero: false, nice: true, padding: room };
}

const colour = { field: 'colour', type: 'nominal', scale: null };
/** Vega-Lite puts titles into an expression without escaping quotes and backslashes. */
const tooltipOf = (figure) => figure.columns.map(({ key, title }) => ({ field: key, title: title.replace(/["\\]/g, '') }));

/** Leaves out rows without a number of that name. */
const having = (...keys) => keys.map((key) => ({ filter: `isValid(datum['${key}'])` }));

/** Vega warns of a layer whose scale has nothing to span. */
const has = ({ values }, ...keys) => values.some((row) => keys.every((key) => isNumber(row[key])));

function lineLayers(parts) {
  const { figure, names } = parts;
  const x = axisOf('x', figure.x, parts);
  const y = axisOf('y', figure.y, parts);
  const strokeDash = { field: 'series', type: 'nominal', scale: { domain: names, range: names.map((_, i) => DASHES[i % 6]) } };
  const layers = [];
  if (figure.low && has(parts, figure.low, figure.high)) {
    layers.push({
      transform: having(figure.low, figure.high),
      mark: { type: 'area', opacity: 0.16, clip: true },
      encoding: { x, y: { ...y, field: figure.low }, y2: { field: figure.high }, color: colour, detail: { field: 'series' } },
    });
  }
  layers.push(
    {
      transform: having(figure.y.key),
      mark: { type: 'line', strokeWidth: 2, clip: true, interpolate: figure.step ? 'step-after' : 'linear' },
      encoding: { x, y, color: colour, detail: { field: 'series' }, strokeDash },
    },
    {
      params: [zoomParameter],
      transform: having(figure.y.key),
      mark: { type: 'point', filled: true, size: parts.values.length > 150 ? 1 : 30, opacity: 1, clip: true, tooltip: true },
      encoding: { x, y, color: colour, tooltip: tooltipOf(figure) },
    },
  );
  if (figure.points && has(parts, figure.points)) {
    layers.push({
      transform: having(figure.points),
      mark: { type: 'point', filled: false, size: 46, strokeWidth: 1.5, opacity: 0.9, clip: true, tooltip: true },
      encoding: { x, y: { ...y, field: figure.points }, color: colour, tooltip: tooltipOf(figure) },
    });
  }
  return layers;
}

function pointLayers(parts) {
  const { figure, names } = parts;
  const shape = { field: 'series', type: 'nominal', scale: { domain: names, range: POINT_SHAPES } };
  return [
    {
      params: [zoomParameter],
      mark: { type: 'point', size: 48, opacity: 0.85, clip: true, tooltip: true },
      encoding: {
        x: axisOf('x', figure.x, parts),
        y: axisOf('y', figure.y, parts),
        stroke: colour,
        shape,
        fill: figure.hollow
          ? { condition: { test: `datum['${figure.hollow}']`, value: 'transparent' }, ...colour }
          : colour,
        tooltip: tooltipOf(figure),
      },
    },
  ];
}

const POINT_SHAPES = ['circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down'];

/** Bars of one place stand on one another (`stacked`) or side by side. */
function barLayers(parts) {
  const { figure, names } = parts;
  const x = axisOf('x', { ...figure.x, discrete: true }, parts);
  const y = { ...axisOf('y', { ...figure.y, zero: true }, parts), stack: figure.stacked ? 'zero' : null };
  const offset = figure.stacked ? {} : { xOffset: { field: 'series', type: 'nominal', sort: names } };
  return [
    {
      mark: { type: 'bar', tooltip: true },
      encoding: { x, y, ...offset, color: colour, order: { field: 'order', type: 'quantitative' }, tooltip: tooltipOf(figure) },
      transform: [{ calculate: `indexof(${JSON.stringify(names)}, datum.series)`, as: 'order' }],
    },
  ];
}

/** From `x.key` to `end` on the line of `y.key`. */
function rangeLayers(parts) {
  const { figure } = parts;
  return [
    {
      mark: { type: 'bar', height: { band: 0.62 }, tooltip: true },
      encoding: {
        x: axisOf('x', { ...figure.x, zero: true }, parts),
        x2: { field: figure.end },
        y: axisOf('y', { ...figure.y, discrete: true }, parts, { axis: { title: null, grid: false } }),
        color: colour,
        tooltip: tooltipOf(figure),
      },
    },
  ];
}

function ruleLayers({ rules = [] }, palette) {
  return rules.flatMap(({ at, label }) => [
    { data: { values: [{}] }, mark: { type: 'rule', strokeDash: [3, 3], clip: true }, encoding: { y: { datum: at } } },
    {
      data: { values: [{}] },
      mark: {
        type: 'text',
        align: 'left',
        baseline: { expr: `scale('y', ${at}) < 16 ? 'top' : 'bottom'` },
        dy: { expr: `scale('y', ${at}) < 16 ? 4 : -3` },
        limit: { expr: 'width - 8' },
        fontSize: 11,
        clip: true,
        fill: palette.muted,
        text: label,
      },
      encoding: { y: { datum: at }, x: { value: 4 } },
    },
  ]);
}

/** Where both axes have the same value, and the edges of a band around it. */
function diagonalLayer(figure, values, palette) {
  if (!figure.diagonal) return [];
  const all = values.flatMap((row) => [row[figure.x.key], row[figure.y.key]]).filter(isNumber);
  if (all.length === 0) return [];
  const ends = [Math.min(...all), Math.max(...all)];
  const line = (share, strokeDash) => ({
    data: { values: ends.map((end) => ({ [figure.x.key]: end, [figure.y.key]: end * share })) },
    mark: { type: 'line', strokeDash, strokeWidth: 1, stroke: palette.muted },
    encoding: {
      x: { field: figure.x.key, type: 'quantitative' },
      y: { field: figure.y.key, type: 'quantitative' },
    },
  });
  const edges = figure.band ? [1 - figure.band, 1 + figure.band].map((share) => line(share, [1, 4])) : [];
  return [line(1, [3, 3]), ...edges];
}
