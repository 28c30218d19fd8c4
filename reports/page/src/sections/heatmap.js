// Speed-up over batch and context, with the best draft length in each cell.
import { element } from '../lib/dom.js';
import { number, placeable, times, unique } from '../lib/format.js';
import { divergingColour, inkOn, mixed } from '../lib/palette.js';
import { chart } from '../lib/chart.js';
import { textWidth } from '../lib/text.js';
import { askedRanges, isAsked, onGrid } from '../lib/traffic.js';

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
    const asked = onGrid(askedRanges(data), unique(rows, 'batch'), unique(rows, 'context'));
    const allAsked = rows.every((row) => isAsked(asked, row));
    return [
      chart({
        id: 'speedup-map',
        title: 'Speed-up over batch and context',
        reading:
          'Blue cells gain, brown cells lose, cells without colour match plain decoding; the large number is the best draft length.',
        alternative: inWords(rows),
        columns,
        rows,
        scale: (palette) => colourScale(palette, reach, allAsked),
        measured: true,
        specification: ({ palette, inner }) => cells(rows, reach, asked, palette, inner),
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
  if (gaining.length === 0) return 'Heat map of speed-up over batch and context: speculation gains nowhere.';
  const best = gaining.reduce((a, b) => (b.speedup > a.speedup ? b : a));
  return (
    `Heat map of speed-up over batch and context: speculation gains in ${gaining.length} of ${fitting.length} cells that fit in memory, ` +
    `at most ${times(best.speedup)} at batch ${number(best.batch)} and context ${number(best.context)}.`
  );
}

/** The largest size in which every one of `texts` keeps clear of the edges of a cell; 0 where none does. */
const sizeFor = (texts, sizes, weight, room) =>
  sizes.find((size) => texts.every((text) => textWidth(text, { size, weight }) <= room - 5)) ?? 0;

const lengthOf = (row) => (row.fits === false ? '–' : row.draft_tokens === 0 ? 'off' : number(row.draft_tokens));

function cells(rows, reach, asked, palette, inner) {
  const room = inner / unique(rows, 'batch').length;
  const values = rows.map((row) => {
    const fits = row.fits !== false;
    const colour = fits && row.speedup > 0 ? colourAt(row.speedup, reach, palette) : palette.faint;
    const fill = isAsked(asked, row) ? colour : mixed(colour, palette.faint, 0.7);
    const off = row.draft_tokens === 0;
    return {
      ...row,
      fill,
      ink: fits ? inkOn(fill) : palette.muted,
      length: lengthOf(row),
      detail: fits && !off ? times(row.speedup, 1) : '',
      speedup_text: times(row.speedup),
      fits_text: fits ? 'yes' : 'no, out of memory',
      length_text: lengthOf(row),
      context_text: `${number(row.context)} tokens`,
    };
  });
  const texts = (field) => values.map((row) => row[field]);
  const [size, detailSize] = [sizeFor(texts('length'), [13, 12, 11, 10, 9], 600, room), sizeFor(texts('detail'), [11], 400, room)];
  const detailed = size > 0 && detailSize > 0;
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
      ...(size > 0 ? [text('length', detailed ? "datum.detail == ''" : 'true', 0, size, 500, 1)] : []),
      ...(detailed
        ? [
            text('length', "datum.detail != ''", -7, size, 600, 1),
            text('detail', "datum.detail != ''", 10, detailSize, 400, 0.9),
          ]
        : []),
    ],
  };
}

function colourScale(palette, reach, allAsked) {
  const places = Array.from({ length: 21 }, (_, i) => -1 + i / 10);
  const gradient = places.map((place) => divergingColour(place, palette.diverging)).join(', ');
  return element(
    'div',
    { class: 'colour-scale' },
    element(
      'div',
      { class: 'ends' },
      element('span', {}, `slower, ${times(1 / reach, 1)}`),
      element('span', { class: 'gradient', style: `background: linear-gradient(to right, ${gradient})`, 'aria-hidden': 'true' }),
      element('span', {}, `faster, ${times(reach, 1)}`),
    ),
    element(
      'span',
      { class: 'key' },
      `off: plain decoding is best; –: does not fit in memory${allAsked ? '' : '; greyed: outside the given traffic'}`,
    ),
  );
}
