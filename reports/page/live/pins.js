// Questions that were put aside, up to four, beside the present one: what was asked differently, what that changes, and in which part of a
// round.
import { button, element } from '../src/lib/dom.js';
import { number, placeable, quantity, unique } from '../src/lib/format.js';
import { stackedBars } from './charts.js';
import { longest, nameOfDrafter, platformOf, shapesOf, target, textOfList, treeOf } from './question.js';
import { tableRegion } from '../src/lib/scroll_hint.js';

export const MOST_PINS = 4;

/** What a question asks, in words by name. */
function asked(question) {
  const found = new Map();
  const take = (name, value) => {
    if (value !== undefined)
      found.set(name.replaceAll('_', ' '), typeof value === 'object' ? JSON.stringify(value) : String(value));
  };
  const {
    target: model,
    platforms,
    drafters,
    draft_tokens: tokens,
    shapes,
    traffic,
    limits,
    title,
    source,
    ...rest
  } = question;
  take('target', target.get(question));
  take('precision', typeof model === 'object' ? model.precision : undefined);
  const platform = platformOf(question);
  for (const [name, value] of Object.entries(typeof platform === 'string' ? { device: platform } : platform))
    take(name, value);
  take('drafters', drafters?.map(nameOfDrafter).join(' or '));
  for (const drafter of drafters ?? []) {
    const { per_position: positions, ...other } = drafter.acceptance ?? {};
    if (positions) take(`acceptance of ${nameOfDrafter(drafter)}`, positions.join(', '));
    for (const [name, value] of Object.entries(other)) take(`${name} of ${nameOfDrafter(drafter)}`, value);
  }
  take('draft tokens', longest.get(question));
  const written = (shape) => (typeof shape === 'string' ? shape : JSON.stringify(shape));
  take('trees', treeOf(question) ? `${treeOf(question).length} nodes` : shapes && shapesOf(question).map(written).join(' or '));
  for (const [name, value] of Object.entries(traffic ?? {})) take(name, textOfList(value));
  for (const name of ['prompt_tokens', 'output_tokens'])
    take(name, rest[name] === undefined ? undefined : textOfList(rest[name], 'tokens'));
  for (const [name, value] of Object.entries({ ...limits, ...rest }))
    if (!found.has(name.replaceAll('_', ' '))) take(name, value);
  return found;
}

/** "device: h100-sxm → h200": what the second question asks that the first does not. */
export function differences(first, second) {
  const [before, after] = [asked(first), asked(second)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => `${name}: ${before.get(name) ?? 'default'} → ${after.get(name) ?? 'default'}`);
}

const metricsOf = (page) => [...(page.summary?.metrics ?? []), ...(page.summary?.further ?? [])];

/** Milliseconds of the recommended round, by part. */
const partsOf = (page) =>
  placeable(page.round, 'time_us')
    .filter(({ configuration }) => configuration === 'recommended')
    .map(({ phase, time_us: time }) => ({ name: phase, value: time / 1e3 }));

const signed = (value, unit, digits) =>
  `${value > 0 ? '+' : value < 0 ? '−' : '±'}${quantity(Math.abs(value), unit, digits)}`;

/** By how much a figure differs from that of the first: in per cent, of shares in points; empty where it hardly does. */
function changeOf({ value, unit }, base) {
  if (!(base > 0) || Math.abs(value / base - 1) < 0.0005) return '';
  return unit === '%' ? signed(value - base, 'points', 1) : signed(100 * (value / base - 1), '%', 1);
}

/** `entries`: [{name, question, answer, remove, open}]; the first is what the others are compared with. */
export function comparison(entries) {
  const answered = entries.filter(({ answer }) => answer?.page?.summary);
  if (answered.length < 2)
    return [
      element('p', { class: 'hint' }, 'Pin this configuration, change something, and the two stand side by side here.'),
    ];
  const names = unique(
    answered.flatMap(({ answer }) => metricsOf(answer.page)),
    'name',
  );
  const metric = (entry, name) => metricsOf(entry.answer.page).find((each) => each.name === name);
  const first = answered[0];
  const row = (name) => {
    const base = metric(first, name)?.value;
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, name),
      answered.map((entry) => {
        const found = metric(entry, name);
        return element(
          'td',
          {},
          found ? quantity(found.value, found.unit) : '–',
          entry !== first && found && element('span', { class: 'change' }, ` ${changeOf(found, base)}`),
        );
      }),
    );
  };
  const head = answered.map(({ name, open, remove }) =>
    element(
      'th',
      { scope: 'col' },
      name,
      open &&
        element(
          'span',
          { class: 'pin-tools' },
          button('Open', open, { class: 'quiet', 'aria-label': `Open ${name}` }),
          button('Unpin', remove, { class: 'quiet', 'aria-label': `Unpin ${name}` }),
        ),
    ),
  );
  const order = unique(
    answered.flatMap(({ answer }) => partsOf(answer.page)),
    'name',
  );
  const bars = answered
    .map(({ name, answer }) => ({ name, parts: partsOf(answer.page) }))
    .filter(({ parts }) => parts.length > 0);
  return [
    tableRegion(
      'Table of pinned configurations',
      element(
        'table',
        { class: 'plain-table comparison' },
        element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Figure'), head)),
        element('tbody', {}, names.map(row)),
      ),
    ),
    bars.length > 1 && stackedBars({ label: 'Milliseconds of a round of each, part by part', bars, order, unit: 'ms' }),
    element(
      'ul',
      { class: 'notes' },
      answered.slice(1).map((entry) => element('li', {}, explained(first, entry, order))),
    ),
  ];
}

/** What differs in the question, and where the time of a round goes. */
function explained(first, second, order) {
  const otherwise = differences(first.question, second.question);
  const value = (entry, part) => partsOf(entry.answer.page).find(({ name }) => name === part)?.value ?? 0;
  const changes = order
    .map((part) => ({ part, by: value(second, part) - value(first, part) }))
    .filter(({ by }) => Math.abs(by) >= 0.005)
    .sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
  const total = changes.reduce((sum, { by }) => sum + by, 0);
  const parts = changes.map(({ part, by }) => `${part} ${signed(by, 'ms')}`).join(', ');
  const [tau, before] = [second, first].map(({ answer }) => answer.page.summary.accept_length);
  const yields =
    tau !== undefined && before !== undefined && Math.abs(tau - before) >= 0.005
      ? `; a round yields ${number(tau)} tokens instead of ${number(before)}`
      : '';
  return [
    element('b', {}, second.name),
    `: ${otherwise.length > 0 ? otherwise.join('; ') : 'the same question'}. `,
    parts ? `A round takes ${signed(total, 'ms')}: ${parts}${yields}.` : `A round takes as long${yields}.`,
  ];
}
