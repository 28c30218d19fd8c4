// A table that sorts on a click, filters as one types, and leaves as CSV. It scrolls inside its own box, under a heading that stays.
import { button, copyButton, download, element } from './dom.js';
import { cell, plural } from './format.js';
import { toCsv } from './csv.js';
import { rowTest } from './filter.js';
import { pinColumns } from './pinned.js';
import { scrollHint } from './scroll_hint.js';
import { emsOf } from './table_need.js';

const FIRST_ROWS = 100;
const OPEN_RECORD = 'treeline-open-record';

/** Shows the row of any table whose `record` this is, opened. */
export const openRecord = (record) => document.dispatchEvent(new CustomEvent(OPEN_RECORD, { detail: record }));

/**
 * `columns`: [{key, title, unit, digits, objective}]; `rows`: objects; `name`: file name of the download, without ending.
 * `pinned` is how many of the first columns stay in sight when the others are scrolled sideways, at most 3. `small` leaves out
 * the filter box; a row with `recommended: true` stands out. A row with `details` ([{heading, entries: [{name, value}]}]) opens
 * below itself on a click, and on openRecord() of its `record`.
 */
export function dataTable({ columns, rows, name, small = false, pinned = 1 }) {
  const shown = columns.map((column) => ({ ...column, numeric: isNumeric(rows, column.key) }));
  const state = { key: null, descending: false, keeps: () => true, all: rows.length <= FIRST_ROWS };
  const body = element('tbody');
  const status = element('span', { class: 'count', role: 'status' });
  const more = button(
    '',
    () => {
      state.all = true;
      update();
    },
    { class: 'more' },
  );
  const headings = shown.map((column) => heading(column, () => sortBy(column)));

  function sortBy(column) {
    state.descending = state.key === column.key ? !state.descending : column.numeric;
    state.key = column.key;
    headings.forEach((node, i) =>
      setSorted(node, shown[i].key === state.key && (state.descending ? 'descending' : 'ascending')),
    );
    update();
  }

  const visibleRows = () =>
    sorted(
      rows.filter((row) => state.keeps(textOf(row, shown))),
      state,
    );

  function update() {
    const visible = visibleRows();
    const limited = state.all ? visible : visible.slice(0, FIRST_ROWS);
    body.replaceChildren(...limited.flatMap((row) => (row.details ? openingRow(row, shown) : [tableRow(row, shown)])));
    status.textContent =
      visible.length === rows.length ? plural(rows.length, 'row') : `${visible.length} of ${plural(rows.length, 'row')}`;
    more.hidden = limited.length === visible.length;
    more.textContent = `Show all ${visible.length} rows`;
  }

  const filter =
    !small &&
    filterBox(name, (typed) => {
      state.keeps = rowTest(typed, rows.map((row) => textOf(row, shown)));
      update();
    });

  function open(record) {
    if (!rows.some((row) => row.details && row.record === record)) return;
    state.keeps = () => true;
    state.all = true;
    if (filter) filter.value = '';
    update();
    const node = body.querySelector(`tr[data-record="${record}"]`);
    if (node.nextElementSibling.hidden) node.click();
    node.scrollIntoView({ block: 'center' });
  }

  update();
  const table = element('table', { style: `--need: ${emsOf(shown, rows).toFixed(2)}` }, element('thead', {}, element('tr', {}, headings)), body);
  const scroller = element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Table: ${name}` }, table);
  pinColumns(scroller, table, pinned);
  document.addEventListener(OPEN_RECORD, ({ detail }) => open(detail));
  const csv = () => toCsv(columns, visibleRows());
  return element(
    'div',
    { class: small ? 'data-table small' : 'data-table' },
    element(
      'div',
      { class: 'table-tools' },
      filter,
      status,
      element(
        'span',
        { class: 'save' },
        copyButton(csv, 'Copy CSV'),
        button('Download CSV', () => download(`${name}.csv`, 'text/csv', csv()), { class: 'quiet' }),
      ),
    ),
    scrollHint(scroller),
    more,
  );
}

function heading(column, onclick) {
  return element(
    'th',
    { scope: 'col', class: column.numeric && 'numeric', 'aria-sort': 'none' },
    element(
      'button',
      { type: 'button', onclick },
      column.title,
      column.unit && element('span', { class: 'unit' }, ` ${column.unit}`),
      column.objective && element('span', { class: 'objective' }, ' objective'),
    ),
  );
}

const setSorted = (node, direction) => node.setAttribute('aria-sort', direction || 'none');

function filterBox(name, ontyped) {
  const input = element('input', {
    type: 'search',
    placeholder: 'Filter rows',
    'aria-label': `Filter ${name}`,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  input.addEventListener('input', () => ontyped(input.value));
  return input;
}

function tableRow(row, columns) {
  return element(
    'tr',
    { class: row.recommended && 'recommended' },
    columns.map((column) => {
      const value = column.show ? column.show(row[column.key], row) : cell(row[column.key], column.digits);
      return element('td', { class: column.numeric ? 'numeric' : width(value) }, value);
    }),
  );
}

/** The row and, hidden until it is clicked, what stands behind it. The first cell is the button that keyboards reach. */
function openingRow(row, columns) {
  const behind = element('tr', { class: 'details', hidden: true });
  const node = tableRow(row, columns);
  const first = node.firstElementChild;
  const toggle = button(first.textContent, () => {}, { class: 'opens', 'aria-expanded': 'false' });
  first.replaceChildren(toggle);
  node.classList.add('opens');
  if (row.record !== undefined) node.dataset.record = row.record;
  node.addEventListener('click', () => {
    if (String(document.getSelection() ?? '') !== '') return; // text is being selected, not the row
    if (behind.children.length === 0) {
      behind.append(element('td', { colspan: columns.length }, element('div', { class: 'groups' }, row.details.map(detailGroup))));
    }
    behind.hidden = !behind.hidden;
    toggle.setAttribute('aria-expanded', String(!behind.hidden));
  });
  return [node, behind];
}

const detailGroup = ({ heading, entries }) =>
  element(
    'div',
    {},
    element('h4', {}, heading),
    element(
      'dl',
      {},
      entries.map(({ name, value }) => [element('dt', {}, name), element('dd', {}, value)]),
    ),
  );

/** Short texts stay on one line; long ones wrap, but not into a pillar. */
const width = (value) => (typeof value !== 'string' || value.length <= 32 ? 'short' : 'long');

const isMissing = (value) => value === undefined || value === null || value === '';

function isNumeric(rows, key) {
  return (
    rows.some((row) => typeof row[key] === 'number') && rows.every((row) => isMissing(row[key]) || typeof row[key] === 'number')
  );
}

const texts = new WeakMap();

/** The cells of a row as lines, worked out when first looked for. */
function textOf(row, columns) {
  if (!texts.has(row))
    texts.set(
      row,
      columns
        .map((column) => cell(row[column.key], column.digits))
        .join('\n'),
    );
  return texts.get(row);
}

/** Missing values come last in both directions; equal rows keep their order. */
function sorted(rows, { key, descending }) {
  if (key === null) return rows;
  const compare = (a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
  return [...rows].sort((one, two) => {
    const [a, b] = [one[key], two[key]];
    if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
    return descending ? compare(b, a) : compare(a, b);
  });
}
