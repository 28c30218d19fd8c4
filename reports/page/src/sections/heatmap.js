// Speed-up over batch and context, with the best draft length in each cell.
import { element } from '../lib/dom.js';
import { number, placeable, times, unique } from '../lib/format.js';
import { divergingColour, inkOn } from '../lib/palette.js';
import { chart } from '../lib/chart.js';

const columns = [
  { key: 'batch', title: 'Batch' },
  { key: 'context', title: 'Context', unit: 'tokens' },
  { key: 'speedup', title: 'Speed-up', unit: '×', digits: 2 },
  { key: 'draft_tokens', title: 'Draft tokens' },
  { key: 'fits', title: 'Fits in memory' },
];

const tooltip = [
  { field: 'batch', title: 'Batch' },
  { field: 'context_text', title: 'Context' },
  { field: 'speedup_text', title: 'Speed-up' },
  { field: 'length_text', title: 'Draft tokens' },
  { field: 'fits_text', title: 'Fits' },
];

export const heatmap = {
  id: 'where-it-pays',
  heading: 'Where speculation pays',
  present: (data) => rowsOf(data).length > 0,
  build(data) {
    const rows = rowsOf(data);
    const reach = colourReach(rows);
    return [
      chart({
        id: 'speedup-map',
        title: 'Speed-up over batch and context',
        reading:
          'Blue cells gain, brown cells lose, cells without colour are level with plain decoding; the large number is the best draft length.',
        alternative: inWords(rows),
        columns,
        rows,
        scale: (palette) => colourScale(palette, reach),
        specification: ({ palette, width }) => cells(rows, reach, palette, width),
      }),
    ];
  },
};

const rowsOf = (data) => placeable(data.heatmap?.rows, 'batch', 'context');

/** The speed-up at the ends of the colour scale: the scale is symmetric around 1 on a log axis, and never narrower than 1.25 times. */
function colourReach(rows) {
  const speedups = rows.filter((row) => row.fits !== false && row.speedup > 0).map((row) => row.speedup);
  return Math.max(1.25, ...speedups, ...speedups.map((value) => 1 / value));
}

const colourAt = (speedup, reach, palette) => divergingColour(Math.log(speedup) / Math.log(reach), palette.diverging);

function inWords(rows) {
  const fitting = rows.filter((row) => row.fits !== false);
  const gaining = fitting.filter((row) => row.speedup > 1 && row.draft_tokens !== 0);
  if (gaining.length === 0) return 'Heat map of speed-up over batch and context: speculation gains in no cell.';
  const best = gaining.reduce((a, b) => (b.speedup > a.speedup ? b : a));
  return (
    `Heat map of speed-up over batch and context: speculation gains in ${gaining.length} of ${fitting.length} cells that fit in memory, ` +
    `at most ${times(best.speedup)} at batch ${number(best.batch)} and context ${number(best.context)}.`
  );
}

function cells(rows, reach, palette, width) {
  const batches = unique(rows, 'batch');
  const room = (width - 70) / batches.length;
  const values = rows.map((row) => {
    const fits = row.fits !== false;
    const fill = fits && row.speedup > 0 ? colourAt(row.speedup, reach, palette) : palette.faint;
    const off = row.draft_tokens === 0;
    return {
      ...row,
      fill,
      ink: fits ? inkOn(fill) : palette.muted,
      length: !fits ? '–' : off ? 'off' : number(row.draft_tokens),
      detail: fits && !off ? times(row.speedup, 1) : '',
      speedup_text: times(row.speedup),
      fits_text: fits ? 'yes' : 'no, out of memory',
      length_text: !fits ? '–' : off ? 'off' : number(row.draft_tokens),
      context_text: `${number(row.context)} tokens`,
    };
  });
  const detailed = room >= 44;
  const encoding = {
    x: {
      field: 'batch',
      type: 'ordinal',
      axis: { title: 'Sequences in the batch', labelAngle: 0, ticks: false, domain: false },
    },
    y: { field: 'context', type: 'ordinal', sort: 'descending', axis: { title: 'Context (tokens)', format: ',d' } },
  };
  const text = (field, filter, dy, size, weight, opacity) => ({
    transform: [{ filter }],
    mark: { type: 'text', fontSize: size, fontWeight: weight, dy, opacity, tooltip: false },
    encoding: { ...encoding, text: { field }, color: { field: 'ink', type: 'nominal', scale: null } },
  });
  return {
    height: unique(rows, 'context').length * (detailed ? 44 : 34) + 50,
    data: { values },
    layer: [
      {
        mark: { type: 'rect', stroke: palette.surface, strokeWidth: 2, cornerRadius: 3, tooltip: true },
        encoding: {
          ...encoding,
          color: { field: 'fill', type: 'nominal', scale: null },
          tooltip,
        },
      },
      ...(room >= 18 ? [text('length', detailed ? "datum.detail == ''" : 'true', 0, room < 24 ? 10 : 13, 500, 1)] : []),
      ...(detailed
        ? [text('length', "datum.detail != ''", -7, 13, 600, 1), text('detail', "datum.detail != ''", 10, 11, 400, 0.9)]
        : []),
    ],
  };
}

function colourScale(palette, reach) {
  const places = Array.from({ length: 21 }, (_, i) => -1 + i / 10);
  const gradient = places.map((place) => divergingColour(place, palette.diverging)).join(', ');
  return element(
    'div',
    { class: 'colour-scale' },
    element('span', {}, `slower, ${times(1 / reach, 1)}`),
    element('span', { class: 'gradient', style: `background: linear-gradient(to right, ${gradient})`, 'aria-hidden': 'true' }),
    element('span', {}, `faster, ${times(reach, 1)}`),
    element('span', { class: 'key' }, 'off: plain decoding is best; –: does not fit in memory'),
  );
}
