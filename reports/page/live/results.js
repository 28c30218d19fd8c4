// Everything behind the answer: sections that are always there, and long tables that are folded.
import { element } from '../src/lib/dom.js';
import { isNumber, quantity } from '../src/lib/format.js';
import { FOLDED, SECTIONS, sideBySide } from './sections.js';
import { tableRegion } from '../src/lib/scroll_hint.js';

const folds = new Map(); // whether a folded part is open, by its name

/** A part of the page under its heading; one that cannot be drawn does not take the others with it. */
export function section({ id, heading, build }, data) {
  const node = element(
    'section',
    { id, 'aria-labelledby': `${id}-heading` },
    element('h2', { id: `${id}-heading` }, heading),
  );
  try {
    node.append(...build(data).filter(Boolean));
  } catch (error) {
    console.error(error);
    node.append(element('p', {}, `This section could not be drawn: ${error.message}`));
  }
  return node;
}

/** A long table is built when it is opened, and again while it is open. */
function fold(part, data) {
  const details = element(
    'details',
    { class: 'fold', id: part.id, open: folds.get(part.id) },
    element('summary', {}, part.heading),
  );
  const fill = () => {
    folds.set(part.id, details.open);
    if (details.open && details.childElementCount === 1) details.append(...part.build(data).filter(Boolean));
  };
  details.addEventListener('toggle', fill);
  fill();
  return details;
}

function plainTable(data) {
  const rows = sideBySide(data).filter(({ plain }) => isNumber(plain));
  if (rows.length === 0) return null;
  return element(
    'table',
    { class: 'plain-table' },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        ['Figure', 'plain decoding', 'recommended'].map((name) => element('th', { scope: 'col' }, name)),
      ),
    ),
    element(
      'tbody',
      {},
      rows.map(({ name, plain, value, unit }) =>
        element(
          'tr',
          {},
          element('th', { scope: 'row' }, name),
          element('td', {}, quantity(plain, unit)),
          element('td', {}, quantity(value, unit)),
        ),
      ),
    ),
  );
}

export function resultsOf(data) {
  const parts = SECTIONS.filter((part) => part.present(data)).map((part) => section(part, data));
  const table = plainTable(data);
  if (table) {
    const box = tableRegion(
      'Table of figures beside plain decoding',
      table,
    );
    parts.splice(1, 0, section({ id: 'side-by-side', heading: 'Beside plain decoding', build: () => [box] }, data));
  }
  return [...parts, ...FOLDED.filter((part) => part.present(data)).map((part) => fold(part, data))];
}
