// Predictions against measurements: filters choose the rows that the figures, the chart and the table by source are about.
import { element } from '../lib/dom.js';
import { figureChart } from '../lib/figure.js';
import { number, plural } from '../lib/format.js';
import { dataTable } from '../lib/table.js';

const FILTERS = [
  { key: 'what', label: 'What is predicted', always: true },
  { key: 'mode', label: 'Cost mode', always: true },
  { key: 'kind', label: 'Class of model' },
  { key: 'engine', label: 'Engine' },
  { key: 'model', label: 'Model' },
  { key: 'device', label: 'Device' },
  { key: 'source', label: 'Source' },
  { key: 'fitted', label: 'Fitted or not' },
];

const ROW_COLUMNS = [
  { key: 'row', title: 'Row' },
  { key: 'source', title: 'Source' },
  { key: 'stated_at', title: 'Where' },
  { key: 'model', title: 'Model' },
  { key: 'device', title: 'Device' },
  { key: 'engine', title: 'Engine' },
  { key: 'batch', title: 'Batch' },
  { key: 'measured', title: 'Measured' },
  { key: 'predicted', title: 'Predicted' },
  { key: 'percent', title: 'Error', unit: '%', digits: 1 },
  { key: 'fitted', title: 'Fitted or not' },
];

const SOURCE_COLUMNS = [
  { key: 'source', title: 'Source' },
  { key: 'rows', title: 'Rows' },
  { key: 'median', title: 'Median error', unit: '%', digits: 1 },
  { key: 'p90', title: 'p90', unit: '%', digits: 1 },
  { key: 'bias', title: 'Bias', unit: '%', digits: 1 },
  { key: 'left_out', title: 'Left out' },
  { key: 'fitted', title: 'Fitted or not' },
];

const REASON_COLUMNS = [
  { key: 'reason', title: 'Why' },
  { key: 'rows', title: 'Rows' },
];

const LEFT_OUT_COLUMNS = [
  { key: 'row', title: 'Row' },
  { key: 'source', title: 'Source' },
  { key: 'reason', title: 'Why' },
  { key: 'detail', title: 'Detail' },
];

export const board = {
  id: 'board',
  heading: 'Predictions against measurements',
  present: (data) => data.board?.rows?.length > 0,
  build: (data) => {
    const all = rowsOf(data.board);
    const chosen = {};
    const status = element('p', { class: 'board-figures', role: 'status' });
    const chart = element('div');
    const sources = element('div');
    const missing = element('div');
    const lists = FILTERS.map((filter) => listOf(filter, chosen, update));

    /** What the other filters leave, so that no list offers what would show nothing. */
    const leftBy = (others) =>
      all.filter((row) => FILTERS.every(({ key }) => key === others || chosen[key] === undefined || row[key] === chosen[key]));

    function update() {
      for (const list of lists) list.offer(leftBy(list.key));
      const rows = leftBy(null);
      const leftOut = data.board.left_out.filter(({ source }) => chosen.source === undefined || source === chosen.source);
      status.textContent = `${sentence(rows)} ${plural(leftOut.length, 'row')} of ${chosen.source ?? 'all sources'} left out.`;
      chart.replaceChildren(figureChart(parity(rows, chosen.what ?? '')));
      sources.replaceChildren(dataTable({ columns: SOURCE_COLUMNS, rows: bySource(rows, data.board.left_out), name: 'sources', small: true }));
      missing.replaceChildren(
        element('h3', {}, 'What was left out, and why'),
        dataTable({ columns: REASON_COLUMNS, rows: countsOf(leftOut), name: 'reasons', small: true }),
        dataTable({ columns: LEFT_OUT_COLUMNS, rows: leftOut, name: 'left-out' }),
      );
    }

    update();
    return [
      element('div', { class: 'controls board-filters' }, lists.map(({ node }) => node)),
      status,
      chart,
      element('h3', {}, 'By source'),
      sources,
      missing,
    ];
  },
};

function rowsOf({ columns, categories, rows }) {
  return rows.map((cells) =>
    Object.fromEntries(columns.map((column, i) => [column, categories[column] ? categories[column][cells[i]] : cells[i]])),
  );
}

/** A drop-down list of the values of one column. What must always be chosen has no entry for all. */
function listOf({ key, label, always }, chosen, onchange) {
  const list = element('select', {
    onchange: () => {
      chosen[key] = list.value === '' ? undefined : list.value;
      onchange();
    },
  });
  const offer = (rows) => {
    const counts = new Map();
    for (const row of rows) counts.set(row[key], (counts.get(row[key]) ?? 0) + 1);
    const values = always ? [...counts.keys()] : [...counts.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    if (!counts.has(chosen[key])) chosen[key] = always ? values[0] : undefined;
    list.replaceChildren(
      ...(always ? [] : [element('option', { value: '' }, `all (${number(rows.length)})`)]),
      ...values.map((value) =>
        element('option', { value, selected: value === chosen[key] }, always ? value : `${value} (${number(counts.get(value))})`),
      ),
    );
  };
  return { key, offer, node: element('label', { class: 'choice' }, element('span', {}, label), list) };
}

/** As numerics/quantile.h has it, so that the page says what docs/trust.md says. */
function quantile(sorted, share) {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  return sorted[below] + (position - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}

/** Of absolute errors; the bias is the median of the signed ones. */
function errorsOf(rows) {
  const signed = rows.map(({ percent }) => percent).sort((a, b) => a - b);
  const absolute = signed.map(Math.abs).sort((a, b) => a - b);
  return { rows: rows.length, median: quantile(absolute, 0.5), p90: quantile(absolute, 0.9), bias: quantile(signed, 0.5) };
}

function sentence(rows) {
  const { median, p90, bias } = errorsOf(rows);
  const count = new Set(rows.map(({ source }) => source)).size;
  return (
    `${plural(rows.length, 'row')} of ${plural(count, 'source')}: median error ${number(median, 1)} %, ` +
    `90th percentile ${number(p90, 1)} %, bias ${number(bias, 1)} %.`
  );
}

function bySource(rows, leftOut) {
  return [...grouped(rows, 'source')]
    .map(([source, own]) => ({
      source,
      ...errorsOf(own),
      left_out: leftOut.filter((row) => row.source === source).length,
      fitted: [...new Set(own.map(({ fitted }) => fitted))].join('; '),
    }))
    .sort((a, b) => b.rows - a.rows);
}

function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row[key])) groups.set(row[key], []);
    groups.get(row[key]).push(row);
  }
  return groups;
}

function countsOf(leftOut) {
  return [...grouped(leftOut, 'reason')]
    .map(([reason, own]) => ({ reason, rows: own.length }))
    .sort((a, b) => b.rows - a.rows);
}

function parity(rows, what) {
  const unit = what.match(/\(([^()]*)\)$/)?.[0] ?? '';
  return {
    id: 'parity',
    title: 'Predicted against measured',
    reading: 'Each mark is a row; on the line the two agree, between the dotted lines within 20 %. A mark says where its number is from.',
    mark: 'point',
    x: { key: 'measured', title: `Measured ${unit}`, log: true },
    y: { key: 'predicted', title: `Predicted ${unit}`, log: true },
    series: 'engine',
    diagonal: true,
    band: 0.2,
    columns: ROW_COLUMNS,
    rows: rows.filter(({ measured, predicted }) => measured > 0 && predicted > 0),
  };
}
