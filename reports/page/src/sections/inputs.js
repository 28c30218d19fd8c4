// Every number that went in, with its source and what kind of number it is.
import { element } from '../lib/dom.js';
import { dataTable } from '../lib/table.js';

const MEANING = {
  datasheet: 'from the vendor’s data sheet',
  measured: 'measured on the device',
  published: 'from a paper or a public table',
  assumed: 'an assumption',
  derived: 'computed from other inputs',
};

const badge = (kind) =>
  kind ? element('span', { class: `badge ${Object.hasOwn(MEANING, kind) ? kind : 'other'}`, title: MEANING[kind] }, kind) : '–';

const columns = [
  { key: 'name', title: 'Input' },
  { key: 'value', title: 'Value' },
  { key: 'kind', title: 'Kind', show: badge },
  { key: 'source', title: 'Source' },
];

export const inputs = {
  id: 'inputs',
  heading: 'Where the numbers come from',
  present: (data) => data.inputs?.length > 0,
  build({ inputs: rows }) {
    const kinds = Object.keys(MEANING).filter((kind) => rows.some((row) => row.kind === kind));
    return [
      element(
        'p',
        { class: 'kinds' },
        kinds.map((kind) => element('span', {}, badge(kind), ` ${MEANING[kind]}`)),
      ),
      dataTable({ columns, rows, name: 'inputs', small: rows.length < 12 }),
    ];
  },
};
