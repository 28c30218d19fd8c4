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
      'Click a heading to sort; words typed into the box keep the rows that hold all of them.',
    ),
    dataTable({ columns, rows, name: 'candidates' }),
  ],
};
