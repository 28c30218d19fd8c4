// The batch-size schedule of the draft length, as steps and as a table.
import { element } from '../lib/dom.js';
import { batchRange, number, placeable, times } from '../lib/format.js';
import { chart } from '../lib/chart.js';

const columns = [
  { key: 'batch_from', title: 'From batch' },
  { key: 'batch_to', title: 'To batch' },
  { key: 'draft_tokens', title: 'Draft tokens' },
  { key: 'speedup', title: 'Speed-up', unit: '×', digits: 2 },
  { key: 'drafter', title: 'Drafter' },
];

const tooltip = [
  { field: 'range', title: 'Batch' },
  { field: 'draft_tokens', title: 'Draft tokens' },
  { field: 'speedup_text', title: 'Speed-up' },
  { field: 'drafter', title: 'Drafter' },
];

export const schedule = {
  id: 'schedule',
  heading: 'When to switch speculation off',
  present: (data) => rowsOf(data).length > 0,
  build(data) {
    const rows = rowsOf(data);
    const verdict = sentence(rows);
    return [
      element('p', {}, verdict),
      chart({
        id: 'schedule-chart',
        title: 'Draft tokens by batch size',
        reading:
          'Each step is a range of batch sizes; its height is the number of tokens to draft there, the label the expected speed-up.',
        alternative: `Step chart of draft tokens against batch size. ${verdict} ${rows.map(stepInWords).join('; ')}.`,
        columns,
        rows,
        specification: ({ palette, width }) => steps(rows, palette, width),
      }),
      scheduleTable(rows),
    ];
  },
};

const rowsOf = (data) => placeable(data.schedule, 'batch_from', 'batch_to', 'draft_tokens');

function sentence(rows) {
  const off = rows.find((row) => row.draft_tokens === 0);
  if (!off) return `Speculation pays at every batch size up to ${number(rows.at(-1).batch_to)}.`;
  if (rows.every((row) => row.draft_tokens === 0)) return 'Speculation does not pay at any of these batch sizes.';
  const resumes = rows.some((row) => row.draft_tokens > 0 && row.batch_from > off.batch_from);
  if (resumes) return 'Speculation pays in some ranges of the batch size only, as the steps show.';
  return `Speculate up to batch ${number(off.batch_from - 1)}, with fewer draft tokens as the batch grows; from ${number(off.batch_from)} on, plain decoding is faster.`;
}

const stepInWords = (row) => `batch ${batchRange(row)}: ${row.draft_tokens} draft tokens, speed-up ${times(row.speedup)}`;

function steps(rows, palette, width) {
  const [first, last] = [rows[0].batch_from, rows.at(-1).batch_to + 1];
  const pixels = (row) => (Math.log((row.batch_to + 1) / row.batch_from) / Math.log(last / first)) * (width - 60);
  const values = rows.map((row) => ({
    ...row,
    end: row.batch_to + 1,
    middle: Math.sqrt(row.batch_from * (row.batch_to + 1)),
    range: batchRange(row),
    speedup_text: times(row.speedup),
    drafter: row.draft_tokens === 0 ? 'none: plain decoding' : (row.drafter ?? '–'),
    label:
      pixels(row) < 26
        ? ''
        : row.draft_tokens === 0
          ? 'off'
          : pixels(row) < 32
            ? ''
            : times(row.speedup, pixels(row) < 48 ? 1 : 2),
  }));
  const tallest = Math.max(1, ...rows.map((row) => row.draft_tokens));
  const x = {
    type: 'quantitative',
    scale: { type: 'log', base: 2, domain: [first, last], nice: false },
    axis: { title: 'Sequences in the batch', values: ticks(rows, pixels), format: 'd', grid: false },
  };
  const y = {
    type: 'quantitative',
    scale: { domain: [0, tallest * 1.16], nice: false },
    axis: { title: 'Draft tokens', format: 'd', values: wholeNumbers(tallest), grid: true, labelOverlap: false },
  };
  return {
    height: 220,
    data: { values },
    layer: [
      {
        transform: [{ filter: 'datum.draft_tokens == 0' }],
        mark: { type: 'rect', fill: palette.band, tooltip: true },
        encoding: {
          x: { ...x, field: 'batch_from' },
          x2: { field: 'end' },
          y: { ...y, datum: 0 },
          y2: { datum: tallest * 1.16 },
          tooltip,
        },
      },
      {
        mark: { type: 'rect', fill: palette.series[0], fillOpacity: palette.name === 'dark' ? 0.24 : 0.16, tooltip: true },
        encoding: {
          x: { ...x, field: 'batch_from' },
          x2: { field: 'end' },
          y: { ...y, field: 'draft_tokens' },
          y2: { datum: 0 },
          tooltip,
        },
      },
      {
        transform: [{ filter: 'datum.draft_tokens > 0' }],
        mark: { type: 'rule', stroke: palette.series[0], strokeWidth: 3, strokeCap: 'butt', tooltip: true },
        encoding: { x: { ...x, field: 'batch_from' }, x2: { field: 'end' }, y: { ...y, field: 'draft_tokens' }, tooltip },
      },
      {
        mark: { type: 'text', baseline: 'bottom', dy: -6, fontWeight: 600 },
        encoding: { x: { ...x, field: 'middle' }, y: { ...y, field: 'draft_tokens' }, text: { field: 'label' } },
      },
    ],
  };
}

/** The first batch of each step, and the last batch of all where there is room for it. */
function ticks(rows, pixels) {
  const end = rows.at(-1);
  return [...rows.map((row) => row.batch_from), ...(pixels(end) > 56 ? [end.batch_to] : [])];
}

/** Tick values 0, 1, 2, ... or wider apart for long drafts. */
function wholeNumbers(tallest) {
  const step = Math.ceil(tallest / 8);
  return Array.from({ length: Math.floor(tallest / step) + 1 }, (_, i) => i * step);
}

function scheduleTable(rows) {
  return element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Schedule' },
    element(
      'table',
      { class: 'plain' },
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ['Batch', 'Draft tokens', 'Speed-up', 'Drafter'].map((title, i) =>
            element('th', { scope: 'col', class: i < 3 && 'numeric' }, title),
          ),
        ),
      ),
      element(
        'tbody',
        {},
        rows.map((row) =>
          element(
            'tr',
            { class: row.draft_tokens === 0 && 'off' },
            element('td', { class: 'numeric' }, batchRange(row)),
            element('td', { class: 'numeric' }, row.draft_tokens === 0 ? 'off' : number(row.draft_tokens)),
            element('td', { class: 'numeric' }, times(row.speedup)),
            element('td', {}, row.draft_tokens === 0 ? 'plain decoding' : (row.drafter ?? '–')),
          ),
        ),
      ),
    ),
  );
}
