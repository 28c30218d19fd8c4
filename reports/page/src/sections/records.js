// Rows of a table that each open to their details.
import { element } from '../lib/dom.js';
import { dataTable } from '../lib/table.js';

export const records = (data) => ({
  id: 'records',
  heading: data.records?.heading ?? 'Every row',
  present: () => data.records?.rows?.length > 0 && data.records.columns?.length > 0,
  build: () => [
    data.records.text && element('p', { class: 'screen-only' }, data.records.text),
    dataTable({ columns: data.records.columns, rows: data.records.rows, name: 'records' }),
  ],
});
