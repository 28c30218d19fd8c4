// What was not priced, and why.
import { dataTable } from '../lib/table.js';

const columns = [
  { key: 'label', title: 'Candidate' },
  { key: 'reason', title: 'Why it was left out' },
];

export const excluded = {
  id: 'excluded',
  heading: 'What was left out, and why',
  present: (data) => data.excluded?.length > 0,
  build: ({ excluded: rows }) => [dataTable({ columns, rows, name: 'excluded', small: rows.length < 12 })],
};
