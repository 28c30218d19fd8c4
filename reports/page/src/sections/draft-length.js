// Speed-up against the number of draft tokens, a line for each drafter and batch.
import { number, placeable, quantity, times, unique } from '../lib/format.js';
import { drafterColours } from '../lib/drafters.js';
import { chart } from '../lib/chart.js';
import { domainWithRoom, widest } from '../lib/text.js';
import { OUTSIDE, askedRanges, isAsked, outsideEntry } from '../lib/traffic.js';
import { linearAxis, zoomParameter } from '../lib/vega.js';

const DASHES = [
  [1, 0],
  [7, 4],
  [2, 3],
  [10, 3, 2, 3],
  [1, 4],
  [14, 4],
];
const MOST_LINES = 12;
const columns = [
  { key: 'drafter', title: 'Drafter' },
  { key: 'batch', title: 'Batch' },
  { key: 'context', title: 'Context', unit: 'tokens' },
  { key: 'draft_tokens', title: 'Draft tokens' },
  { key: 'shape', title: 'Shape' },
  { key: 'speedup', title: 'Speed-up', unit: '×', digits: 2 },
  { key: 'accept_length', title: 'Accept length', digits: 2 },
  { key: 'tpot_ms', title: 'TPOT', unit: 'ms', digits: 2 },
];

const tooltip = [
  { field: 'drafter', title: 'Drafter' },
  { field: 'batch', title: 'Batch' },
  { field: 'draft_tokens', title: 'Draft tokens' },
  { field: 'speedup_text', title: 'Speed-up' },
  { field: 'accept_text', title: 'Accept length' },
  { field: 'tpot_text', title: 'TPOT' },
];

export const draftLength = {
  id: 'draft-length',
  heading: 'What each draft length gains',
  present: (data) => rowsOf(data).length > 0,
  build(data) {
    const rows = rowsOf(data);
    const [drafters, batches, contexts] = ['drafter', 'batch', 'context'].map((key) => unique(rows, key));
    const asked = askedRanges(data);
    const tooMany = drafters.length * batches.length > MOST_LINES;
    return [
      chart({
        id: 'draft-length-chart',
        title: 'Speed-up by draft length',
        reading:
          'Each line is a drafter at one batch size; a ring marks its best length, and below the line at 1 plain decoding is faster.' +
          (rows.some((row) => row.extrapolated) ? ' Hollow points lie beyond the measured acceptance.' : ''),
        alternative: inWords(rows),
        columns,
        rows,
        choices: [
          {
            key: 'batch',
            label: 'Batch',
            value: tooMany ? batches[0] : null,
            options: [{ value: null, label: 'all' }, ...batches.map((value) => ({ value, label: number(value) }))],
          },
          {
            key: 'context',
            label: 'Context',
            value: contexts[0],
            options: contexts.map((value) => ({ value, label: `${number(value)} tokens` })),
          },
        ].filter((choice) => choice.key !== 'batch' || batches.length > 1),
        legend: (palette) => [
          ...drafters.map((value) => ({ value, label: value, colour: drafterColours(data, palette).get(value), shape: 'line' })),
          ...outsideEntry(asked, rows, palette, 'line'),
        ],
        zoom: { x: 'draft_tokens', y: 'speedup' },
        measured: true,
        specification: ({ palette, inner, state, shown }) => {
          const chosen = rows.filter(
            (row) =>
              shown(row.drafter) &&
              (isAsked(asked, row) || shown(OUTSIDE)) &&
              (state.batch === null || state.batch === undefined || row.batch === state.batch) &&
              (contexts.length === 0 || row.context === state.context),
          );
          const colours = drafterColours(data, palette);
          const colourOf = (row) => (isAsked(asked, row) ? colours.get(row.drafter) : palette.outside);
          return lines(chosen, colourOf, batches, palette, inner);
        },
      }),
    ];
  },
};

const rowsOf = (data) => placeable(data.by_draft_length, 'draft_tokens', 'speedup');
const lineOf = (row) => `${row.drafter}\n${row.batch}`;

function bestOfEachLine(rows) {
  const best = new Map();
  for (const row of rows) {
    const known = best.get(lineOf(row));
    if (!known || row.speedup > known.speedup) best.set(lineOf(row), row);
  }
  return [...best.values()];
}

function inWords(rows) {
  const best = bestOfEachLine(rows).map(
    (row) =>
      `${row.drafter} at batch ${number(row.batch)}: ${times(row.speedup)} with ${number(row.draft_tokens)} draft tokens`,
  );
  return `Line chart of speed-up against draft tokens. Best of each line: ${best.slice(0, 8).join('; ')}${best.length > 8 ? '; and more' : ''}.`;
}

const END = { size: 11 };

function lines(rows, colourOf, batches, palette, inner) {
  const dashes = batches.map((_, i) => DASHES[i % DASHES.length]);
  const ring = new Set(bestOfEachLine(rows));
  const values = rows.map((row) => ({
    ...row,
    line: lineOf(row),
    colour: colourOf(row),
    best: ring.has(row),
    speedup_text: times(row.speedup),
    accept_text: `${number(row.accept_length)}${row.extrapolated ? ' (extrapolated)' : ''}`,
    tpot_text: quantity(row.tpot_ms, 'ms'),
  }));
  const labels = batches.length > 1 ? lineEnds(values, palette) : [];
  const lengths = unique(rows, 'draft_tokens');
  const [first, last] = [lengths[0] ?? 1, Math.max(lengths.at(-1) ?? 1, (lengths[0] ?? 1) + 1)];
  const room = labels.length > 0 ? 16 + widest(labels.map((row) => row.label), END) : 14;
  const x = {
    field: 'draft_tokens',
    type: 'quantitative',
    scale: { nice: false, domain: domainWithRoom([first, last], [14, room], inner) },
    axis: { title: 'Draft tokens per round', grid: false, ...linearAxis('x', { whole: true }) },
  };
  const y = {
    field: 'speedup',
    type: 'quantitative',
    scale: { zero: false, nice: true, padding: 12 },
    axis: { title: 'Speed-up (times plain decoding)', ...linearAxis('y') },
  };
  const color = { field: 'colour', type: 'nominal', scale: null };
  const strokeDash = { field: 'batch', type: 'ordinal', scale: { domain: batches, range: dashes } };
  const text = { type: 'text', align: 'left', fontSize: END.size, clip: true };
  return {
    height: 340,
    data: { values },
    layer: [
      { data: { values: [{}] }, mark: { type: 'rule', strokeDash: [3, 3], clip: true }, encoding: { y: { datum: 1 } } },
      {
        data: { values: [{}] },
        mark: { ...text, baseline: 'top', dy: 4, fill: palette.muted, text: 'plain decoding' },
        encoding: { y: { datum: 1 }, x: { value: 4 } },
      },
      { mark: { type: 'line', strokeWidth: 2, clip: true }, encoding: { x, y, color, detail: { field: 'line' }, strokeDash } },
      {
        params: [zoomParameter],
        mark: { type: 'point', filled: true, size: 44, strokeWidth: 1.5, opacity: 1, clip: true, tooltip: true },
        encoding: {
          x,
          y,
          stroke: color,
          fill: { condition: { test: 'datum.extrapolated', value: palette.surface }, field: 'colour', type: 'nominal', scale: null },
          tooltip,
        },
      },
      {
        transform: [{ filter: 'datum.best' }],
        mark: { type: 'point', filled: false, size: 170, strokeWidth: 2, opacity: 1, clip: true, tooltip: true },
        encoding: { x, y, color, tooltip },
      },
      ...(labels.length === 0
        ? []
        : [
            {
              data: { values: labels },
              mark: { ...text, baseline: 'middle', dx: 12 },
              encoding: { x, y, color: { field: 'ink', type: 'nominal', scale: null }, text: { field: 'label' } },
            },
          ]),
    ],
  };
}

/** The last point of each line with its label, leaving out labels that would lie on one another or on longer lines. */
function lineEnds(values, palette) {
  const speedups = values.map((row) => row.speedup);
  const spacing = ((Math.max(...speedups, 1) - Math.min(...speedups, 1)) * 14) / 340;
  const labelled = [];
  for (const end of new Map(values.map((row) => [row.line, row])).values()) {
    const clear = [...labelled, ...values.filter((row) => row.line !== end.line && row.draft_tokens > end.draft_tokens)];
    if (clear.every((other) => Math.abs(other.speedup - end.speedup) >= spacing))
      labelled.push({
        ...end,
        label: `batch ${number(end.batch)}`,
        ink: end.colour === palette.outside ? palette.muted : end.colour,
      });
  }
  return labelled;
}
