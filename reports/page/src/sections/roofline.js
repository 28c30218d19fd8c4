// The roofline: what bounds each operation of a round.
import { isNumber, microseconds, number, percent, placeable, unique } from '../lib/format.js';
import { seriesColours } from '../lib/palette.js';
import { chart } from '../lib/chart.js';
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
        specification: ({ palette, width, shown }) =>
          plot(
            roof,
            operations.filter((row) => shown(row.pass)),
            operations,
            seriesColours(passes, palette),
            palette,
            width,
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

/** Where the bandwidth is written: along the slope, at its middle, turned as steep as the slope is on the screen. */
function slopeLabel([begin, corner, end], [lowest, highest], width) {
  const between = (field) => Math.sqrt(begin[field] * corner[field]);
  const perDecade = (pixels, low, high) => pixels / Math.log(high / low);
  const rise =
    perDecade(HEIGHT - 60, lowest, highest) / perDecade(width - 60, begin.intensity_flop_per_byte, end.intensity_flop_per_byte);
  return {
    intensity_flop_per_byte: between('intensity_flop_per_byte'),
    attained_tflop_per_s: between('attained_tflop_per_s'),
    angle: (-Math.atan(rise) * 180) / Math.PI,
  };
}

/** The operations that take the most time, leaving out labels that would lie on one another. */
function labelled(values, width) {
  const spans = [
    ['intensity_flop_per_byte', Math.max(200, width - 80), 110],
    ['attained_tflop_per_s', 380, 16],
  ].map(([field, pixels, apart]) => {
    const logs = values.map((row) => Math.log(row[field]));
    return { field, apart: (apart / pixels) * (Math.max(...logs) - Math.min(...logs) + 2) };
  });
  const chosen = [];
  for (const row of [...values].sort((a, b) => b.share - a.share)) {
    const clear = chosen.every((other) =>
      spans.some(({ field, apart }) => Math.abs(Math.log(row[field] / other[field])) > apart),
    );
    if (clear && chosen.length < MOST_LABELS) chosen.push(row);
  }
  return chosen;
}

function plot(roof, shown, operations, colours, palette, width) {
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
  const slope = slopeLabel(corners, [lowest, roof.peak_tflop_per_s * 1.9], width);
  const x = {
    field: 'intensity_flop_per_byte',
    type: 'quantitative',
    scale: { type: 'log', nice: false, domain: [corners[0].intensity_flop_per_byte, corners[2].intensity_flop_per_byte] },
    axis: { title: 'Arithmetic intensity (FLOP/byte)', ...logAxis(palette) },
  };
  const y = {
    field: 'attained_tflop_per_s',
    type: 'quantitative',
    scale: { type: 'log', nice: false, domain: [lowest, roof.peak_tflop_per_s * 1.9] },
    axis: { title: 'Attained (TFLOP/s)', ...logAxis(palette) },
  };
  const colour = { field: 'colour', type: 'nominal', scale: null };
  const note = { type: 'text', fill: palette.muted, fontSize: 11, clip: true };
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
      {
        data: { values: labelled(values, width) },
        mark: { ...note, fill: palette.ink, align: 'left', baseline: 'middle', dx: 13, dy: 12 },
        encoding: { x, y, text: { field: 'name' } },
      },
    ],
  };
}
