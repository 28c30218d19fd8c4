// Tokens/s for each user against tokens/s for each device: what one buys with the other.
import { number, placeable, times, unique } from '../lib/format.js';
import { drafterColours } from '../lib/drafters.js';
import { chart } from '../lib/chart.js';
import { OUTSIDE, askedRanges, isAsked, outsideEntry } from '../lib/traffic.js';
import { linearAxis, logAxis, zoomParameter } from '../lib/vega.js';

const PLAIN = 'plain decoding';
const columns = [
  { key: 'label', title: 'Configuration' },
  { key: 'drafter', title: 'Drafter' },
  { key: 'draft_tokens', title: 'Draft tokens' },
  { key: 'batch', title: 'Batch' },
  { key: 'context', title: 'Context', unit: 'tokens' },
  { key: 'device', title: 'Device' },
  { key: 'tokens_per_s_user', title: 'Per user', unit: 'tokens/s' },
  { key: 'tokens_per_s_device', title: 'Per device', unit: 'tokens/s' },
  { key: 'speedup', title: 'Speed-up', unit: '×', digits: 2 },
  { key: 'on_front', title: 'On the front' },
];

const tooltip = [
  { field: 'label', title: 'Configuration' },
  { field: 'device', title: 'Device' },
  { field: 'batch', title: 'Batch' },
  { field: 'context_text', title: 'Context' },
  { field: 'draft_tokens', title: 'Draft tokens' },
  { field: 'user_text', title: 'Each user' },
  { field: 'device_text', title: 'Each device' },
  { field: 'speedup_text', title: 'Speed-up' },
];

export const pareto = {
  id: 'trade-off',
  heading: 'Speed for each user, or output of each device?',
  present: (data) => rowsOf(data).length > 0,
  build(data) {
    const rows = rowsOf(data);
    const drafters = unique(
      rows.filter((row) => row.speculative !== false),
      'drafter',
    );
    const groups = rows.some((row) => row.speculative === false) ? [...drafters, PLAIN] : drafters;
    const asked = askedRanges(data);
    const coloursOf = (palette) => drafterColours(data, palette).set(PLAIN, palette.neutral);
    return [
      chart({
        id: 'pareto-chart',
        title: 'Tokens per second: each user against each device',
        reading: 'Up and to the right is better; no configuration beats one on the line in both. Squares are plain decoding.',
        alternative: inWords(rows),
        columns,
        rows: [...rows].sort((a, b) => Number(b.on_front) - Number(a.on_front)),
        legend: (palette) => [
          ...groups.map((value) => ({
            value,
            label: value,
            colour: coloursOf(palette).get(value),
            shape: value === PLAIN ? 'square' : 'dot',
          })),
          ...outsideEntry(asked, rows, palette, 'dot'),
        ],
        zoom: { x: 'tokens_per_s_user', y: 'tokens_per_s_device' },
        specification: ({ palette, shown }) =>
          points(
            rows.filter((row) => shown(groupOf(row)) && (isAsked(asked, row) || shown(OUTSIDE))),
            (row) => (isAsked(asked, row) ? coloursOf(palette).get(groupOf(row)) : palette.outside),
            palette,
          ),
      }),
    ];
  },
};

const rowsOf = (data) =>
  placeable(data.pareto, 'tokens_per_s_user', 'tokens_per_s_device').filter(
    (row) => row.tokens_per_s_user > 0 && row.tokens_per_s_device > 0,
  );
const groupOf = (row) => (row.speculative === false ? PLAIN : row.drafter);

function inWords(rows) {
  const front = rows.filter((row) => row.on_front);
  const ends = [...front].sort((a, b) => a.tokens_per_s_user - b.tokens_per_s_user);
  const say = (row) =>
    `${row.label}: ${number(row.tokens_per_s_user)} tokens/s for each user and ${number(row.tokens_per_s_device)} for each device`;
  return (
    `Scatter plot of ${rows.length} configurations, ${front.length} of them on the Pareto front` +
    (ends.length > 1 ? `, which runs from ${say(ends[0])} to ${say(ends.at(-1))}.` : '.')
  );
}

/** Log axes, both of them, where the values of one span more than a factor of 20. */
function scaleFor(rows) {
  const ratio = (field) => {
    const values = rows.map((row) => row[field]).filter((value) => value > 0);
    return Math.max(...values) / Math.min(...values);
  };
  const wide = Math.max(ratio('tokens_per_s_user'), ratio('tokens_per_s_device')) > 20;
  return wide ? { type: 'log', nice: false, padding: 16 } : { type: 'linear', zero: false, nice: true, padding: 16 };
}

function points(rows, colourOf, palette) {
  const values = rows.map((row) => ({
    ...row,
    colour: colourOf(row),
    shape: row.speculative === false ? 'square' : 'circle',
    user_text: `${number(row.tokens_per_s_user)} tokens/s`,
    device_text: `${number(row.tokens_per_s_device)} tokens/s`,
    speedup_text: times(row.speedup),
    context_text: `${number(row.context)} tokens`,
    weight: row.on_front ? 110 : 44,
    strength: row.on_front ? 1 : 0.6,
  }));
  const scale = scaleFor(rows);
  const axis = (channel, title) => ({ title, ...(scale.type === 'log' ? logAxis(channel) : linearAxis(channel)) });
  const x = { field: 'tokens_per_s_user', type: 'quantitative', scale, axis: axis('x', 'Tokens/s for each user') };
  const y = { field: 'tokens_per_s_device', type: 'quantitative', scale, axis: axis('y', 'Tokens/s for each device') };
  const colour = { field: 'colour', type: 'nominal', scale: null };
  const shape = { field: 'shape', type: 'nominal', scale: null };
  return {
    height: 400,
    data: { values },
    layer: [
      ...(rows.some((row) => row.on_front)
        ? [
            {
              transform: [{ filter: 'datum.on_front' }],
              mark: { type: 'line', stroke: palette.muted, strokeWidth: 1.5, clip: true },
              encoding: { x, y, order: { field: 'tokens_per_s_user', type: 'quantitative' } },
            },
          ]
        : []),
      {
        params: [zoomParameter],
        mark: { type: 'point', filled: true, strokeWidth: 1, clip: true, tooltip: true },
        encoding: {
          x,
          y,
          tooltip,
          shape,
          color: colour,
          size: { field: 'weight', type: 'quantitative', scale: null },
          opacity: { field: 'strength', type: 'quantitative', scale: null },
        },
      },
    ],
  };
}
