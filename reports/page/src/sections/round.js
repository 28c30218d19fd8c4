// Where the time of a round goes, next to a plain decoding step.
import { element } from '../lib/dom.js';
import { microseconds, number, percent, placeable, times, unique } from '../lib/format.js';
import { chart } from '../lib/chart.js';
import { domainWithRoom, shortened, widest } from '../lib/text.js';
import { linearAxis } from '../lib/vega.js';

const PHASES = ['draft', 'verify', 'rollback', 'sampling', 'host', 'prompts'];
const PLAIN = 'plain decoding';
const columns = [
  { key: 'configuration', title: 'Configuration' },
  { key: 'phase', title: 'Phase' },
  { key: 'time_us', title: 'Time', unit: 'µs' },
];

export const round = {
  id: 'why',
  heading: 'Why: where a round’s time goes',
  present: (data) => rowsOf(data).length > 0,
  build(data) {
    const rows = rowsOf(data);
    const tokens = data.summary.accept_length ?? undefined;
    const phases = phasesOf(rows);
    const sentence = inWords(rows, tokens);
    return [
      element('p', {}, sentence),
      chart({
        id: 'round-chart',
        title: 'A round next to a plain decoding step',
        reading:
          tokens === undefined
            ? 'Each bar is one pass of the engine, split into its phases.'
            : 'Each bar is split into phases; by token, a round’s time is divided by the tokens it yields, so the shorter bar is faster.',
        alternative: `Stacked bars of the time in each phase. ${sentence}`,
        columns,
        rows,
        choices: [
          {
            key: 'per',
            label: 'Time',
            value: tokens === undefined ? 'round' : 'token',
            options: [
              ...(tokens === undefined ? [] : [{ value: 'token', label: 'per token' }]),
              { value: 'round', label: 'per round' },
            ],
          },
        ],
        legend: (palette) =>
          phases.map((phase) => ({ value: phase, label: phase, colour: phaseColours(phases, palette).get(phase) })),
        measured: true,
        specification: ({ palette, inner, width, state, shown }) =>
          bars(
            rows.filter((row) => shown(row.phase)),
            phases,
            palette,
            { inner, narrow: width < 560 },
            state.per === 'token' ? tokens : 1,
          ),
      }),
    ];
  },
};

const rowsOf = (data) => placeable(data.round, 'time_us').filter((row) => row.configuration && row.phase);

/** The phases of a round in the order in which they happen, then whatever else the data names. */
function phasesOf(rows) {
  const named = unique(rows, 'phase');
  return [...PHASES.filter((phase) => named.includes(phase)), ...named.filter((phase) => !PHASES.includes(phase))];
}

function phaseColours(phases, palette) {
  const [blue, orange, green, purple, gold, ...rest] = palette.series;
  const known = { draft: orange, verify: blue, rollback: purple, host: palette.neutral, prompts: gold, 'target pass': green };
  const others = [...rest];
  return new Map(phases.map((phase) => [phase, known[phase] ?? others.shift() ?? palette.neutral]));
}

const total = (rows, configuration) =>
  rows.filter((row) => row.configuration === configuration).reduce((sum, row) => sum + row.time_us, 0);

function inWords(rows, tokens) {
  const speculative = unique(rows, 'configuration').find((name) => name !== PLAIN);
  const [round_us, step_us] = [total(rows, speculative), total(rows, PLAIN)];
  if (!speculative || step_us === 0) return `A round takes ${microseconds(round_us || step_us)}.`;
  const largest = rows.filter((row) => row.configuration === speculative).reduce((a, b) => (b.time_us > a.time_us ? b : a));
  return (
    `A round takes ${microseconds(round_us)}, ${times(round_us / step_us)} a plain decoding step of ${microseconds(step_us)}` +
    (tokens === undefined ? '' : `, and yields ${number(tokens)} tokens instead of one`) +
    `; ${percent(largest.time_us / round_us)} of it goes to ${largest.phase}.`
  );
}

const TOTAL = { size: 12, weight: 600 };

function bars(rows, phases, palette, { inner, narrow }, tokens) {
  const colours = phaseColours(phases, palette);
  const divisor = (row) => (row.configuration === PLAIN ? 1 : tokens);
  const values = rows.map((row) => ({
    ...row,
    time_ms: row.time_us / divisor(row) / 1000,
    colour: colours.get(row.phase),
    order: phases.indexOf(row.phase),
    time_text: microseconds(row.time_us / divisor(row)),
    share_text: percent(row.time_us / total(rows, row.configuration)),
  }));
  const names = unique(rows, 'configuration');
  const totals = names.map((name) => {
    const time_us = total(rows, name) / divisor({ configuration: name });
    return { configuration: name, time_ms: time_us / 1000, label: microseconds(time_us) };
  });
  const longest = Math.max(...totals.map((row) => row.time_ms));
  const room = 12 + widest(totals.map((row) => row.label), TOTAL);
  const y = {
    field: 'configuration',
    type: 'nominal',
    sort: names,
    axis: narrow ? null : { title: null, labelFontSize: 13, labelColor: palette.ink, labelLimit: 220 },
  };
  const x = {
    field: 'time_ms',
    type: 'quantitative',
    scale: { domain: domainWithRoom([0, longest], [0, room], inner), nice: false },
    axis: { title: tokens === 1 ? 'Time per round (ms)' : 'Time per token (ms)', ...linearAxis('x') },
  };
  return {
    height: names.length * (narrow ? 72 : 58) + 50,
    data: { values },
    layer: [
      {
        mark: { type: 'bar', height: { band: narrow ? 0.5 : 0.62 }, stroke: palette.surface, strokeWidth: 1.5, tooltip: true },
        encoding: {
          y,
          x: { ...x, stack: 'zero' },
          order: { field: 'order', type: 'quantitative' },
          color: { field: 'colour', type: 'nominal', scale: null },
          tooltip: [
            { field: 'configuration', title: 'Configuration' },
            { field: 'phase', title: 'Phase' },
            { field: 'time_text', title: 'Time' },
            { field: 'share_text', title: 'Share' },
          ],
        },
      },
      {
        data: { values: totals },
        mark: { type: 'text', align: 'left', dx: 8, fontWeight: TOTAL.weight },
        encoding: { y, x, text: { field: 'label' } },
      },
      ...(narrow ? [namesAbove(names, y, inner)] : []),
    ],
  };
}

/** Where there is no room beside the bars, their names stand above them. */
function namesAbove(names, y, inner) {
  const values = names.map((configuration) => ({ configuration, name: shortened(configuration, inner, { size: 13 }) }));
  return {
    data: { values },
    mark: { type: 'text', align: 'left', baseline: 'bottom', dy: -21, fontSize: 13 },
    encoding: { y, x: { value: 0 }, text: { field: 'name' } },
  };
}
