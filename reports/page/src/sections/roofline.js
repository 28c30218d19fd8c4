// The roofline: what bounds each operation of a round.
import { isNumber, microseconds, number, percent, placeable, unique } from '../lib/format.js';
import { seriesColours } from '../lib/palette.js';
import { chart } from '../lib/chart.js';
import { shortened, textWidth } from '../lib/text.js';
import { logAxis, zoomParameter } from '../lib/vega.js';

const MOST_LABELS = 6;
const HEIGHT = 390;
const columns = [
  { key: 'pass', title: 'Pass' },
  { key: 'name', title: 'Operation' },
  { key: 'intensity_flop_per_byte', title: 'Intensity', unit: 'FLOP/byte' },
  { key: 'attained_tflop_per_s', title: 'Attained', unit: 'TFLOP/s' },
  { key: 'time_us', title: 'Time', unit: 'µs' },
  { key: 'share', title: 'Share', show: percent },
  { key: 'bound', title: 'Bound by' },
];

const tooltip = [
  { field: 'name', title: 'Operation' },
  { field: 'pass', title: 'Pass' },
  { field: 'time_text', title: 'Time' },
  { field: 'share_text', title: 'Share' },
  { field: 'intensity_text', title: 'Intensity' },
  { field: 'attained_text', title: 'Attained' },
  { field: 'bound', title: 'Bound by' },
];

export const roofline = {
  id: 'bounds',
  heading: 'What bounds each operation',
  present: (data) =>
    operationsOf(data.roofline).length > 0 &&
    isNumber(data.roofline.bandwidth_gb_per_s) &&
    isNumber(data.roofline.peak_tflop_per_s),
  build({ roofline: roof }) {
    const operations = operationsOf(roof);
    const passes = unique(operations, 'pass');
    return [
      chart({
        id: 'roofline-chart',
        title: 'Roofline of the operations',
        reading:
          `The line is the most the device can do at each arithmetic intensity${roof.unit_note ? ` (${roof.unit_note})` : ''}; larger discs take more of the time, ` +
          'and discs under the slope wait for memory.',
        alternative: inWords(roof, operations),
        columns,
        rows: roof.operations,
        legend: (palette) =>
          [...seriesColours(passes, palette)].map(([value, colour]) => ({ value, label: value, colour, shape: 'dot' })),
        zoom: { x: 'intensity_flop_per_byte', y: 'attained_tflop_per_s' },
        measured: true,
        specification: ({ palette, inner, shown }) =>
          plot(
            roof,
            operations.filter((row) => shown(row.pass)),
            operations,
            seriesColours(passes, palette),
            palette,
            inner,
          ),
      }),
    ];
  },
};

/** Operations that do arithmetic: a log axis has no place for the others (they stay in the table). */
const operationsOf = (roof) =>
  placeable(roof?.operations, 'intensity_flop_per_byte', 'attained_tflop_per_s').filter(
    (row) => row.intensity_flop_per_byte > 0 && row.attained_tflop_per_s > 0,
  );

const ridge = (roof) => (roof.peak_tflop_per_s * 1e3) / roof.bandwidth_gb_per_s;

function inWords(roof, operations) {
  const waiting = operations.filter((row) => row.bound === 'memory').reduce((sum, row) => sum + (row.share ?? 0), 0);
  return (
    `Roofline plot: ${number(roof.bandwidth_gb_per_s)} GB/s and ${number(roof.peak_tflop_per_s)} TFLOP/s meet at ${number(ridge(roof))} FLOP/byte. ` +
    `Of ${operations.length} operations, those bound by memory take ${percent(waiting)} of the time.`
  );
}

/** Corner points of the roof over the range of intensities that the operations and the ridge span. */
function roofLine(roof, operations) {
  const intensities = [...operations.map((row) => row.intensity_flop_per_byte), ridge(roof)];
  const [low, high] = [Math.min(...intensities) / 2.5, Math.max(...intensities) * 4];
  return [low, ridge(roof), high].map((intensity) => ({
    intensity_flop_per_byte: intensity,
    attained_tflop_per_s: Math.min(roof.peak_tflop_per_s, (intensity * roof.bandwidth_gb_per_s) / 1e3),
  }));
}

const NOTE = { size: 11 };
const between = (low, high) => (value) => Math.log(value / low) / Math.log(high / low);

/** Pixels of a point in a picture of `inner` by `high`. */
function placing(domains, inner, high) {
  const [across, up] = [between(...domains.x), between(...domains.y)];
  return (row) => [across(row.intensity_flop_per_byte) * inner, (1 - up(row.attained_tflop_per_s)) * high];
}

/** Where the bandwidth is written: along the slope, at its middle, turned as steep as the slope is on the screen. */
function slopeLabel([begin, corner], place) {
  const [[left, bottom], [right, top]] = [place(begin), place(corner)];
  const middle = (field) => Math.sqrt(begin[field] * corner[field]);
  return {
    intensity_flop_per_byte: middle('intensity_flop_per_byte'),
    attained_tflop_per_s: middle('attained_tflop_per_s'),
    angle: (-Math.atan2(bottom - top, right - left) * 180) / Math.PI,
  };
}

const radius = (row) => Math.sqrt((28 + Math.min(1, (row.share ?? 0) / 0.5) * 872) / Math.PI); // as the scale of the sizes below

/** The names of the operations that take the most time, each inside the picture and clear of the others; {dx, dy} are pixels from the disc. */
function labelled(values, place, inner, high) {
  const taken = [];
  const chosen = [];
  for (const row of [...values].sort((a, b) => b.share - a.share)) {
    if (chosen.length === MOST_LABELS) break;
    const label = shortened(row.name, inner - 4, NOTE);
    const [x, y] = place(row);
    const half = textWidth(label, NOTE) / 2;
    const away = radius(row) + 4;
    const free = [
      [away + half, 0],
      [-away - half, 0],
      [Math.max(0, half + 2 - x) + Math.min(0, inner - half - 2 - x), away + 7],
      [Math.max(0, half + 2 - x) + Math.min(0, inner - half - 2 - x), -away - 7],
    ].find(([dx, dy]) => {
      const box = [x + dx - half - 3, x + dx + half + 3, y + dy - 8, y + dy + 8];
      const inside = box[0] >= 0 && box[1] <= inner && box[2] >= 0 && box[3] <= high;
      return inside && taken.every((other) => box[1] < other[0] || box[0] > other[1] || box[3] < other[2] || box[2] > other[3]);
    });
    if (!free) continue;
    const [dx, dy] = free;
    taken.push([x + dx - half - 3, x + dx + half + 3, y + dy - 8, y + dy + 8]);
    chosen.push({ ...row, label, dx, dy });
  }
  return chosen;
}

function plot(roof, shown, operations, colours, palette, inner) {
  const values = shown.map((row) => ({
    ...row,
    colour: colours.get(row.pass),
    intensity_text: `${number(row.intensity_flop_per_byte)} FLOP/byte`,
    attained_text: `${number(row.attained_tflop_per_s)} TFLOP/s`,
    time_text: microseconds(row.time_us),
    share_text: percent(row.share),
  }));
  const corners = roofLine(roof, operations);
  const lowest = Math.min(corners[0].attained_tflop_per_s, ...operations.map((row) => row.attained_tflop_per_s / 2));
  const domains = {
    x: [corners[0].intensity_flop_per_byte, corners[2].intensity_flop_per_byte],
    y: [lowest, roof.peak_tflop_per_s * 1.9],
  };
  const high = HEIGHT - 56;
  const place = placing(domains, inner, high);
  const slope = slopeLabel(corners, place);
  const x = {
    field: 'intensity_flop_per_byte',
    type: 'quantitative',
    scale: { type: 'log', nice: false, domain: domains.x },
    axis: { title: 'Arithmetic intensity (FLOP/byte)', ...logAxis('x') },
  };
  const y = {
    field: 'attained_tflop_per_s',
    type: 'quantitative',
    scale: { type: 'log', nice: false, domain: domains.y },
    axis: { title: 'Attained (TFLOP/s)', ...logAxis('y') },
  };
  const colour = { field: 'colour', type: 'nominal', scale: null };
  const note = { type: 'text', fill: palette.muted, fontSize: NOTE.size, clip: true };
  return {
    height: HEIGHT,
    data: { values },
    layer: [
      {
        data: { values: corners },
        mark: { type: 'line', stroke: palette.ink, strokeWidth: 1.75, clip: true },
        encoding: { x, y },
      },
      {
        data: { values: [corners[2]] },
        mark: { ...note, align: 'right', baseline: 'bottom', dx: -4, dy: -5, text: `${number(roof.peak_tflop_per_s)} TFLOP/s` },
        encoding: { x, y },
      },
      {
        data: { values: [slope] },
        mark: {
          ...note,
          align: 'center',
          baseline: 'bottom',
          dy: -6,
          angle: slope.angle,
          text: `${number(roof.bandwidth_gb_per_s)} GB/s`,
        },
        encoding: { x, y },
      },
      {
        params: [zoomParameter],
        mark: {
          type: 'point',
          filled: true,
          opacity: 0.72,
          stroke: palette.surface,
          strokeWidth: 1,
          clip: true,
          tooltip: true,
        },
        encoding: {
          x,
          y,
          color: colour,
          size: { field: 'share', type: 'quantitative', scale: { range: [28, 900], domain: [0, 0.5], clamp: true } },
          tooltip,
        },
      },
      ...nameLayers(labelled(values, place, inner, high), { x, y }, note, palette),
    ],
  };
}

/** Names over an outline in the colour of the surface, so that they can be read where they lie on discs and lines. */
function nameLayers(names, places, note, palette) {
  const mark = { ...note, fill: palette.ink, align: 'center', baseline: 'middle', dx: { expr: 'datum.dx' }, dy: { expr: 'datum.dy' } };
  const encoding = { ...places, text: { field: 'label' } };
  const outline = { ...mark, stroke: palette.surface, strokeWidth: 3, strokeOpacity: 0.85, strokeJoin: 'round' };
  return names.length === 0 ? [] : [outline, mark].map((layer) => ({ data: { values: names }, mark: layer, encoding }));
}
