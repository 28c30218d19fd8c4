// The batch-size schedule of the draft length, as steps and as a table.
import { element } from '../lib/dom.js';
import { batchRange, number, placeable, times } from '../lib/format.js';
import { chart } from '../lib/chart.js';
import { textWidth } from '../lib/text.js';
import { OUTSIDE, askedRanges, isAsked } from '../lib/traffic.js';
import { linearAxis } from '../lib/vega.js';

const columns = [
  { key: 'batch_from', title: 'From batch' },
  { key: 'batch_to', title: 'To batch' },
  { key: 'draft_tokens', title: 'Draft tokens' },
  { key: 'shape', title: 'Shape' },
  { key: 'least', title: 'Least speed-up', unit: '×', digits: 2 },
  { key: 'greatest', title: 'Greatest speed-up', unit: '×', digits: 2 },
  { key: 'drafter', title: 'Drafter' },
];

const tooltip = [
  { field: 'range', title: 'Batch' },
  { field: 'length_text', title: 'Draft tokens' },
  { field: 'speedup_text', title: 'Speed-up' },
  { field: 'drafter', title: 'Drafter' },
];

export const schedule = {
  id: 'schedule',
  heading: 'How many tokens to draft, by load',
  present: (data) => rowsOf(data).length > 0,
  build(data) {
    const rows = rowsOf(data);
    const verdict = data.schedule_sentence ?? sentence(rows);
    const asked = askedRanges(data).batch;
    const pieces = rows.flatMap((row) => piecesOf(row, asked));
    return [
      verdict && element('p', {}, verdict),
      scheduleTable(rows),
      chart({
        id: 'schedule-chart',
        title: 'Draft tokens by batch size',
        reading:
          'Each step is a range of batch sizes; its height is the number of tokens to draft there, the label the least and the greatest speed-up within.',
        alternative: `Step chart of draft tokens against batch size. ${verdict} ${rows.map(stepInWords).join('; ')}.`,
        columns,
        rows,
        legend: (palette) =>
          pieces.every((piece) => piece.asked)
            ? []
            : [
                { label: 'the given traffic', colour: palette.series[0] },
                { label: OUTSIDE, colour: palette.outside },
              ],
        measured: true,
        specification: ({ palette, inner }) => steps(rows, pieces, palette, inner),
      }),
    ];
  },
};

const rowsOf = (data) => placeable(data.schedule, 'batch_from', 'batch_to', 'draft_tokens');

function sentence(rows) {
  const off = rows.find((row) => row.draft_tokens === 0);
  if (!off) return `Speculation is predicted to gain at every batch size up to ${number(rows.at(-1).batch_to)}.`;
  if (rows.every((row) => row.draft_tokens === 0)) return 'Speculation is not predicted to gain at any of these batch sizes.';
  const resumes = rows.some((row) => row.draft_tokens > 0 && row.batch_from > off.batch_from);
  if (resumes) return 'Speculation is predicted to gain only in some ranges of batch size, as the steps show.';
  return `Speculate up to batch ${number(off.batch_from - 1)}, with fewer draft tokens as the batch grows; from ${number(off.batch_from)} on, plain decoding is faster.`;
}

/** "1.10× to 1.66×": the least and the greatest speed-up of the range. */
function speedupRange(row) {
  const [least, greatest] = [times(row.least), times(row.greatest ?? row.least)];
  return least === greatest ? least : `${least} to ${greatest}`;
}

const lengthText = (row) => `${number(row.draft_tokens)}${row.extrapolated ? ' (extrapolated)' : ''}`;
const stepInWords = (row) => `batch ${batchRange(row)}: ${lengthText(row)} draft tokens, speed-up ${speedupRange(row)}`;

/** The row, cut where the batches of the traffic begin and end. */
function piecesOf(row, [low, high]) {
  const cuts = [row.batch_from, Math.ceil(low), Math.floor(high) + 1, row.batch_to + 1];
  const inside = cuts.filter((cut) => cut >= row.batch_from && cut <= row.batch_to + 1).sort((a, b) => a - b);
  return inside
    .slice(1)
    .map((end, i) => ({ ...row, from: inside[i], end, asked: isAsked({ batch: [low, high], context: [] }, { batch: inside[i] }) }))
    .filter((piece) => piece.end > piece.from);
}

const LABEL = { size: 12, weight: 600 };

/** What fits over a step `pixels` wide: both ends on one line, or one under the other, or nothing. */
function labelOf(row, pixels) {
  const text = row.draft_tokens === 0 ? 'off' : speedupRange(row);
  const lines = [[text], text.split(/ (?=to )/)];
  return lines.find((candidate) => candidate.every((line) => textWidth(line, LABEL) <= pixels - 6)) ?? [];
}

function steps(rows, pieces, palette, inner) {
  const [first, last] = [rows[0].batch_from, rows.at(-1).batch_to + 1];
  const pixels = (from, to) => (Math.log(to / from) / Math.log(last / first)) * inner;
  const described = (row) => ({
    ...row,
    range: batchRange(row),
    speedup_text: speedupRange(row),
    length_text: lengthText(row),
    drafter: row.draft_tokens === 0 ? 'none: plain decoding' : (row.drafter ?? '–'),
  });
  const values = pieces.map((piece) => ({
    ...described(piece),
    colour: piece.asked ? palette.series[0] : palette.outside,
  }));
  const labels = rows
    .map((row) => ({
      ...row,
      middle: Math.sqrt(row.batch_from * (row.batch_to + 1)),
      lines: labelOf(row, pixels(row.batch_from, row.batch_to + 1)),
    }))
    .filter((row) => row.lines.length > 0);
  const tallest = Math.max(1, ...rows.map((row) => row.draft_tokens));
  const top = tallest * (labels.some((row) => row.lines.length > 1) ? 1.28 : 1.16);
  const x = {
    type: 'quantitative',
    scale: { type: 'log', base: 2, domain: [first, last], nice: false },
    axis: { title: 'Sequences in the batch', values: ticks(rows, pixels), format: ',d', grid: false },
  };
  const y = {
    type: 'quantitative',
    scale: { domain: [0, top], nice: false },
    axis: { title: 'Draft tokens', ...linearAxis('y', { whole: true }), grid: true },
  };
  const color = { field: 'colour', type: 'nominal', scale: null };
  return {
    height: 220,
    data: { values },
    layer: [
      {
        transform: [{ filter: 'datum.draft_tokens == 0' }],
        mark: { type: 'rect', fill: palette.band, tooltip: true },
        encoding: {
          x: { ...x, field: 'from' },
          x2: { field: 'end' },
          y: { ...y, datum: 0 },
          y2: { datum: top },
          tooltip,
        },
      },
      {
        mark: { type: 'rect', fillOpacity: palette.name === 'dark' ? 0.24 : 0.16, tooltip: true },
        encoding: {
          x: { ...x, field: 'from' },
          x2: { field: 'end' },
          y: { ...y, field: 'draft_tokens' },
          y2: { datum: 0 },
          color,
          tooltip,
        },
      },
      {
        transform: [{ filter: 'datum.draft_tokens > 0' }],
        mark: { type: 'rule', strokeWidth: 3, strokeCap: 'butt', tooltip: true },
        encoding: { x: { ...x, field: 'from' }, x2: { field: 'end' }, y: { ...y, field: 'draft_tokens' }, color, tooltip },
      },
      ...[1, 2].filter((count) => labels.some((row) => row.lines.length === count)).map((count) => ({
        data: { values: labels.filter((row) => row.lines.length === count) },
        mark: { type: 'text', baseline: 'bottom', dy: count === 1 ? -6 : -20, fontWeight: LABEL.weight, lineHeight: 14 },
        encoding: { x: { ...x, field: 'middle' }, y: { ...y, field: 'draft_tokens' }, text: { field: 'lines' } },
      })),
    ],
  };
}

/** The first batch of each step and the last of all, leaving out numbers that would lie on one another. */
function ticks(rows, pixels) {
  const chosen = [];
  for (const batch of [rows[0].batch_from, rows.at(-1).batch_to, ...rows.slice(1).map((row) => row.batch_from)]) {
    const half = textWidth(number(batch)) / 2 + 4;
    if (chosen.every((other) => Math.abs(pixels(other.batch, batch)) >= half + other.half)) chosen.push({ batch, half });
  }
  return chosen.map(({ batch }) => batch);
}

function scheduleTable(rows) {
  const trees = rows.some((row) => row.draft_tokens > 0 && row.shape && !row.shape.startsWith('chain'));
  const shown = [
    { title: 'Batch', numeric: true, cell: batchRange },
    { title: 'Draft tokens', numeric: true, cell: (row) => (row.draft_tokens === 0 ? 'off' : lengthText(row)) },
    ...(trees ? [{ title: 'Shape', cell: (row) => row.shape ?? '–' }] : []),
    { title: 'Speed-up', numeric: true, cell: (row) => (row.draft_tokens === 0 ? '–' : speedupRange(row)) },
    { title: 'Drafter', cell: (row) => (row.draft_tokens === 0 ? 'plain decoding' : (row.drafter ?? '–')) },
  ];
  const numeric = (column) => column.numeric && 'numeric';
  const heading = (column) => element('th', { scope: 'col', class: numeric(column) }, column.title);
  const line = (row) =>
    element(
      'tr',
      { class: row.draft_tokens === 0 && 'off' },
      shown.map((column) => element('td', { class: numeric(column) }, column.cell(row))),
    );
  return element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Schedule' },
    element(
      'table',
      { class: 'plain' },
      element('thead', {}, element('tr', {}, shown.map(heading))),
      element('tbody', {}, rows.map(line)),
    ),
  );
}
