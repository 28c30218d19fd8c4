// Every candidate that the search priced.
import { element } from '../lib/dom.js';
import { dataTable } from '../lib/table.js';

export const candidates = {
  id: 'candidates',
  heading: 'Every candidate',
  present: (data) => data.candidates?.rows?.length > 0 && data.candidates.columns?.length > 0,
  build: ({ candidates: { columns, rows } }) => [
    element(
      'p',
      { class: 'screen-only' },
      'Click a heading to sort. Words typed into the box keep the rows that hold all of them; a number goes with the word before it ' +
        '(chain 2), and quotes keep any words together.',
      columns.some((column) => column.objective) && ' The column marked as the objective is what the best candidate is best in.',
    ),
    dataTable({ columns, rows, name: 'candidates', pinned: 3 }),
  ],
};
