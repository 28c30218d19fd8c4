// Memory by part against what the device has.
import { element } from '../lib/dom.js';
import { number, percent, placeable } from '../lib/format.js';
import { seriesColours } from '../lib/palette.js';
import { chart } from '../lib/chart.js';
import { linearAxis } from '../lib/vega.js';

const columns = [
  { key: 'part', title: 'Part' },
  { key: 'gb', title: 'Memory', unit: 'GB', digits: 2 },
];

export const memory = {
  id: 'memory',
  heading: 'Does it fit in memory?',
  present: (data) => placeable(data.memory?.parts, 'gb').length > 0,
  build({ memory: stated }) {
    const { sentence: capacity } = stated;
    const limit = stated.limit_gb ?? undefined;
    const parts = placeable(stated.parts, 'gb');
    const used = parts.reduce((sum, part) => sum + part.gb, 0);
    const sentence = inWords(used, limit);
    const names = parts.map((part) => part.part);
    return [
      element('p', {}, sentence, capacity && ` ${capacity}`),
      chart({
        id: 'memory-chart',
        title: 'Memory of one device, by part',
        reading:
          limit === undefined
            ? 'The bar adds up what is in memory at the peak.'
            : 'The bar adds up what is in memory at the peak; it must end left of the line.',
        alternative: `Stacked bar of memory. ${sentence} ${parts.map(({ part, gb }) => `${part}: ${number(gb)} GB`).join('; ')}.`,
        columns,
        rows: parts,
        legend: (palette) =>
          [...seriesColours(names, palette)].map(([name, colour]) => ({
            label: `${name}, ${number(parts.find((part) => part.part === name).gb)} GB`,
            colour,
          })),
        specification: ({ palette }) => stack(parts, used, limit, seriesColours(names, palette), palette),
      }),
    ];
  },
};

function inWords(used, limit) {
  if (limit === undefined) return `The configuration needs ${number(used)} GB on each device.`;
  if (used > limit) return `It does not fit: each device needs ${number(used)} GB but has ${number(limit)} GB.`;
  return `It fits: ${number(used)} GB of ${number(limit)} GB on each device (${percent(used / limit)}), which leaves ${number(limit - used)} GB.`;
}

function stack(parts, used, limit, colours, palette) {
  let begin = 0;
  const values = parts.map(({ part, gb }) => {
    const value = {
      part,
      begin,
      end: begin + gb,
      colour: colours.get(part),
      gb_text: `${number(gb)} GB`,
      share_text: percent(gb / used),
    };
    begin += gb;
    return value;
  });
  const x = {
    type: 'quantitative',
    scale: { domain: [0, Math.max(used, limit ?? 0) * 1.06], nice: false },
    axis: { title: 'Memory (GB)', ...linearAxis('x') },
  };
  const limitLayers =
    limit === undefined
      ? []
      : [
          {
            data: { values: [{ limit }] },
            mark: { type: 'rule', stroke: palette.warn, strokeWidth: 2 },
            encoding: { x: { ...x, field: 'limit' } },
          },
          {
            data: { values: [{ limit }] },
            mark: {
              type: 'text',
              align: 'right',
              baseline: 'top',
              dx: -6,
              y: 2,
              fill: palette.warn,
              fontWeight: 600,
              text: `${number(limit)} GB`,
            },
            encoding: { x: { ...x, field: 'limit' } },
          },
        ];
  return {
    height: 140,
    data: { values },
    layer: [
      {
        mark: { type: 'rect', y: 24, y2: 78, stroke: palette.surface, strokeWidth: 1.5, tooltip: true },
        encoding: {
          x: { ...x, field: 'begin' },
          x2: { field: 'end' },
          color: { field: 'colour', type: 'nominal', scale: null },
          tooltip: [
            { field: 'part', title: 'Part' },
            { field: 'gb_text', title: 'Memory' },
            { field: 'share_text', title: 'Share' },
          ],
        },
      },
      ...limitLayers,
    ],
  };
}
