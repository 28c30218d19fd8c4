// Every candidate that the search priced.
import { element } from '../lib/dom.js';
import { dataTable } from '../lib/table.js';

export const candidates = {
  id: 'candidates',
  heading: 'Every candidate',
  present: (data) => data.candidates?.rows?.length > 0 && data.candidates.columns?.length > 0,
  build: ({ candidates: { columns, rows, note } }) => [
    element(
      'p',
      { class: 'screen-only' },
      'Click a heading to sort. Words typed into the box keep the rows that contain all of them; a number belongs to the word before it ' +
        '(chain 2), and quotes keep words together.',
      columns.some((column) => column.objective) && ' The marked column is the objective.',
    ),
    note && element('p', { class: 'reading' }, note),
    dataTable({ columns, rows, name: 'candidates', pinned: 3 }),
  ],
};
