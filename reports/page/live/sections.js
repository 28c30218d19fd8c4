// What the page shows of an answer, in the order of the report. The parts without charts are the report's own.
import { element } from '../src/lib/dom.js';
import { batchRange, number, placeable, times, unique } from '../src/lib/format.js';
import { candidates } from '../src/sections/candidates.js';
import { configuration } from '../src/sections/configuration.js';
import { excluded } from '../src/sections/excluded.js';
import { inputs } from '../src/sections/inputs.js';
import { notes } from '../src/sections/notes.js';
import { pointChart, rangeBars } from './charts.js';
import { heatmap } from './heatmap.js';
import { memory, round } from './parts.js';
import { tableRegion } from '../src/lib/scroll_hint.js';

const schedule = {
  id: 'schedule',
  heading: 'Draft tokens by batch',
  present: (data) => data.schedule?.length > 0,
  build: (data) => [
    data.schedule_sentence && element('p', {}, data.schedule_sentence),
    tableRegion(
      'Table of draft tokens by batch',
      element(
        'table',
        { class: 'plain-table' },
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            ['Batch', 'Drafter', 'Draft tokens', 'Speed-up'].map((name) => element('th', { scope: 'col' }, name)),
          ),
        ),
        element(
          'tbody',
          {},
          data.schedule.map((row) =>
            element(
              'tr',
              {},
              element('th', { scope: 'row' }, batchRange(row)),
              element('td', {}, row.draft_tokens === 0 ? '–' : row.drafter),
              element(
                'td',
                {},
                row.draft_tokens === 0 ? 'off' : row.shape?.startsWith('chain') ? row.draft_tokens : row.shape,
              ),
              element(
                'td',
                {},
                row.draft_tokens === 0
                  ? '–'
                  : `${times(row.least)} to ${times(row.greatest)}${row.extrapolated ? ', extrapolated' : ''}`,
              ),
            ),
          ),
        ),
      ),
    ),
  ],
};

const draftLength = {
  id: 'draft-length',
  heading: 'Speed-up against draft length',
  present: (data) => placeable(data.by_draft_length, 'draft_tokens', 'speedup').length > 0,
  build(data) {
    const rows = placeable(data.by_draft_length, 'draft_tokens', 'speedup', 'batch');
    const batches = unique(rows, 'batch');
    const shown = batches.length > 2 ? [batches[0], batches.at(-1)] : batches;
    const series = unique(rows, 'drafter')
      .flatMap((drafter) =>
        shown.map((batch) => ({
          name: shown.length > 1 ? `${drafter}, batch ${number(batch)}` : drafter,
          points: rows
            .filter((row) => row.drafter === drafter && row.batch === batch)
            .map((row) => ({
              x: row.draft_tokens,
              y: row.speedup,
              title: `${drafter}, ${row.shape}: ${times(row.speedup)}`,
              faint: row.extrapolated,
            })),
        })),
      )
      .filter(({ points }) => points.length > 0)
      .slice(0, 7);
    return [
      pointChart({
        label: 'Speed-up against draft length',
        series,
        joined: true,
        rule: 1,
        x: {
          title: 'Draft tokens',
          values: unique(rows, 'draft_tokens').filter((_, i, all) => i % Math.ceil(all.length / 12) === 0),
        },
        y: { title: 'Speed-up' },
      }),
      rows.some((row) => row.extrapolated) &&
        element('p', { class: 'reading' }, 'Pale points lie beyond the positions that were measured.'),
    ];
  },
};

const pareto = {
  id: 'pareto',
  heading: 'Speed for one user against throughput',
  present: (data) => placeable(data.pareto, 'tokens_per_s_user', 'tokens_per_s_device').length > 0,
  build(data) {
    const rows = placeable(data.pareto, 'tokens_per_s_user', 'tokens_per_s_device');
    const series = unique(rows, 'drafter')
      .slice(0, 7)
      .map((drafter) => ({
        name: drafter,
        points: rows
          .filter((row) => row.drafter === drafter)
          .map((row) => ({
            x: row.tokens_per_s_user,
            y: row.tokens_per_s_device,
            faint: !row.on_front,
            title: `${row.label}, ${row.shape}, batch ${number(row.batch)}: ${number(row.tokens_per_s_user)} tokens/s for each user, ${number(row.tokens_per_s_device)} of a device`,
          })),
      }));
    return [
      element('p', { class: 'reading' }, 'Up and to the right is better; pale points are beaten by another in both.'),
      pointChart({
        label: 'Tokens/s of each user against tokens/s of a device',
        series,
        x: { title: 'Tokens/s for each user' },
        y: { title: 'Tokens/s per device', log: true },
      }),
    ];
  },
};

const uncertainty = {
  id: 'how-sure',
  heading: 'How sure that is',
  present: (data) => Boolean(data.uncertainty?.sentence),
  build(data) {
    const gain = data.summary.metrics?.find(({ unit }) => unit === 'x')?.value ?? 1;
    const ranges = (data.uncertainty.inputs ?? []).map(({ name, low, high, assumed }) => ({
      name,
      low: Math.min(low, high),
      high: Math.max(low, high),
      note: assumed,
    }));
    return [
      element('p', {}, data.uncertainty.sentence),
      ranges.length > 0 && element('h3', {}, 'What each input does to the gain'),
      ranges.length > 0 &&
        rangeBars({
          label: 'Range of the gain over the range of each input',
          ranges,
          middle: gain,
          text: (value) => times(value),
        }),
    ];
  },
};

/** In reading order after the answer itself; folded ones are built when they are opened. */
export const SECTIONS = [schedule, uncertainty, heatmap, draftLength, pareto, round, memory];
export const FOLDED = [candidates, configuration, excluded, inputs, notes];

/** Plain decoding beside what is recommended: [{name, plain, value, unit}]. */
export const sideBySide = (data) => [...(data.summary.metrics ?? []), ...(data.summary.further ?? [])];
