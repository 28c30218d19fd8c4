// How far the gain moves when each uncertain input moves: a tornado chart.
import { element } from '../lib/dom.js';
import { placeable, times } from '../lib/format.js';
import { chart } from '../lib/chart.js';
import { domainWithRoom, shortened, widest } from '../lib/text.js';
import { linearAxis } from '../lib/vega.js';

const columns = [
  { key: 'name', title: 'Input' },
  { key: 'low', title: 'Lowest', unit: '×', digits: 2 },
  { key: 'high', title: 'Highest', unit: '×', digits: 2 },
  { key: 'assumed', title: 'Assumed range' },
];

export const uncertainty = {
  id: 'trust',
  heading: 'How far to trust this',
  present: (data) => Boolean(data.uncertainty?.sentence || data.uncertainty?.inputs?.length > 0),
  build({ uncertainty: { sentence, inputs = [], quantity }, summary }) {
    const gain = quantity ? `gain in ${quantity}` : 'gain';
    const base = summary?.metrics?.find((metric) => metric.unit === 'x')?.value;
    const rows = placeable(inputs, 'low', 'high')
      .map((row) => ({ ...row, name: row.name ?? '–' }))
      .sort((a, b) => spread(b) - spread(a));
    return [
      sentence && element('p', {}, sentence),
      rows.length > 0 &&
        chart({
          id: 'tornado-chart',
          title: `How each uncertain input moves the ${gain}`,
          reading:
            'Each bar runs from the lowest to the highest gain as one input moves through its range and the others stay; the widest matters most.',
          alternative: `Bars of the range of the ${gain}. ${rows.map((row) => `${row.name}: ${times(row.low)} to ${times(row.high)}`).join('; ')}.`,
          columns,
          rows,
          measured: true,
          specification: ({ palette, width, inner }) => bars(rows, base, palette, { inner, narrow: width < 560 }),
        }),
    ];
  },
};

const low = (row) => Math.min(row.low, row.high);
const high = (row) => Math.max(row.low, row.high);
const spread = (row) => Math.abs(row.high - row.low);

const END = { size: 11 };

function bars(rows, base, palette, { inner, narrow }) {
  const middle = base ?? rows.reduce((sum, row) => sum + (row.low + row.high) / 2, 0) / rows.length;
  const values = rows.flatMap((row) => {
    const [from, to] = [low(row), high(row)];
    const shared = { name: row.name, assumed: row.assumed ?? '–', range: `${times(from)} to ${times(to)}` };
    return [
      { ...shared, from, to: Math.min(to, middle), colour: palette.series[1] },
      { ...shared, from: Math.max(from, middle), to, colour: palette.series[0] },
    ].filter((part) => part.to > part.from);
  });
  const order = rows.map((row) => row.name);
  const edge = [...rows.flatMap((row) => [row.low, row.high]), middle];
  const [least, most] = [Math.min(...edge), Math.max(...edge, Math.min(...edge) + 0.01)];
  const sides = [low, high].map((end) => 12 + widest(rows.map((row) => times(end(row))), END));
  const y = {
    field: 'name',
    type: 'nominal',
    sort: order,
    axis: narrow ? null : { title: null, labelColor: palette.ink, labelFontSize: 13, labelLimit: 240 },
  };
  const x = {
    type: 'quantitative',
    scale: { domain: domainWithRoom([least, most], sides, inner), nice: false, zero: false },
    axis: { title: 'Gain (times plain decoding)', ...linearAxis('x') },
  };
  const ends = rows.flatMap((row) => [
    { name: row.name, at: low(row), label: times(low(row)), side: 'low' },
    { name: row.name, at: high(row), label: times(high(row)), side: 'high' },
  ]);
  const endLabel = (side, align, dx) => ({
    data: { values: ends.filter((end) => end.side === side) },
    mark: { type: 'text', align, dx, fontSize: END.size, fill: palette.muted },
    encoding: { y, x: { ...x, field: 'at' }, text: { field: 'label' } },
  });
  return {
    height: rows.length * (narrow ? 52 : 38) + 50,
    data: { values },
    layer: [
      {
        mark: { type: 'bar', height: { band: narrow ? 0.38 : 0.6 }, tooltip: true },
        encoding: {
          y,
          x: { ...x, field: 'from' },
          x2: { field: 'to' },
          color: { field: 'colour', type: 'nominal', scale: null },
          tooltip: [
            { field: 'name', title: 'Input' },
            { field: 'range', title: 'Gain' },
            { field: 'assumed', title: 'Assumed range' },
          ],
        },
      },
      {
        data: { values: [{}] },
        mark: { type: 'rule', strokeWidth: 1.5, stroke: palette.ink },
        encoding: { x: { ...x, datum: middle } },
      },
      endLabel('low', 'right', -6),
      endLabel('high', 'left', 6),
      ...(narrow
        ? [
            {
              data: { values: rows.map(({ name }) => ({ name, text: shortened(name, inner) })) },
              mark: { type: 'text', align: 'left', dy: -19, fontSize: 12 },
              encoding: { y, x: { value: 0 }, text: { field: 'text' } },
            },
          ]
        : []),
    ],
  };
}
