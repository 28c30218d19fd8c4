// The answer: what to run, how sure that is, what it gains, and the flags that run it.
import { copyButton, element } from '../lib/dom.js';
import { isNumber, number, quantity, times } from '../lib/format.js';
import { tabs } from '../lib/tabs.js';

export const summary = {
  id: 'what-to-run',
  heading: 'What to run',
  present: (data) => Boolean(data.summary),
  build: ({ summary: answer }) => [
    element('p', { class: 'answer' }, answer.sentence),
    answer.sure && element('p', { class: 'sure' }, answer.sure),
    answer.metrics?.length > 0 && metrics(answer.metrics),
    answer.commands?.length > 0 && commands(answer.commands),
  ],
};

/** Up to five side by side, more in two rows. */
export function metrics(list) {
  const columns = list.length <= 5 ? list.length : Math.ceil(list.length / 2);
  return element('ul', { class: 'metrics', style: `--columns: ${columns}` }, list.map(metric));
}

const shown = (value, unit) => (unit === 'x' ? times(value) : unit ? quantity(value, unit) : number(value));

function metric({ name, value, low, high, plain, unit, note }) {
  const interval = isNumber(low) && isNumber(high);
  return element(
    'li',
    {},
    element('span', { class: 'metric-name' }, name),
    element(
      'span',
      { class: 'metric-value' },
      unit === 'x' ? quantity(value, 'x') : number(value),
      unit && unit !== 'x' && element('span', { class: 'metric-unit' }, ` ${unit}`),
    ),
    interval &&
      element(
        'span',
        { class: 'metric-range' },
        unit === 'x' ? `${times(low)} to ${times(high)}` : `${number(low)} to ${quantity(high, unit)}`,
      ),
    isNumber(plain) && element('span', { class: 'metric-range' }, `plain: ${shown(plain, unit)}`),
    note && element('span', { class: 'metric-note' }, note),
  );
}

/** One tab for each engine; that of the priced stack comes first. */
const commands = (list) =>
  element('div', { class: 'commands' }, tabs('Engine', list.map((command) => ({ title: command.engine, node: flagsOf(command) }))));

function flagsOf({ engine, remark, text }) {
  return element(
    'div',
    { class: 'command' },
    element(
      'div',
      { class: 'command-head' },
      element('span', {}, text ? `Flags for ${engine}` : `${engine} cannot run it`),
      text && copyButton(() => text),
    ),
    text && element('pre', { tabindex: '0' }, text),
    remark && element('p', { class: 'command-remark' }, text ? `Note: ${remark}.` : `${remark}.`),
  );
}
