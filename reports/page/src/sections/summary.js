// The answer: what to run, what it gains, and the commands that run it.
import { copyButton, element } from '../lib/dom.js';
import { isNumber, number, quantity, times } from '../lib/format.js';

export const summary = {
  id: 'what-to-run',
  heading: 'What to run',
  present: (data) => Boolean(data.summary),
  build: ({ summary: answer }) => [
    element('p', { class: 'answer' }, answer.sentence),
    answer.metrics?.length > 0 && metrics(answer.metrics),
    answer.note && element('p', { class: 'reading' }, answer.note),
    element(
      'div',
      { class: 'columns' },
      answer.configuration?.length > 0 && configuration(answer.configuration),
      isNumber(answer.accept_length) && acceptance(answer),
    ),
    answer.commands?.length > 0 && commands(answer.commands),
  ],
};

/** Up to five side by side, more in two rows. */
function metrics(list) {
  const columns = list.length <= 5 ? list.length : Math.ceil(list.length / 2);
  return element('ul', { class: 'metrics', style: `--columns: ${columns}` }, list.map(metric));
}

function metric({ name, value, low, high, unit, note }) {
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
    note && element('span', { class: 'metric-note' }, note),
  );
}

function configuration(entries) {
  return element(
    'div',
    {},
    element('h3', {}, 'The configuration'),
    element(
      'dl',
      { class: 'configuration' },
      entries.map(({ name, value }) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
    ),
  );
}

/** Accept length against the length at which speculation starts to pay, as a bar. */
function acceptance({ accept_length: length, break_even_accept_length: breakEven }) {
  const end = Math.max(length, breakEven ?? 1) * 1.15;
  const at = (value) => `${((100 * value) / end).toFixed(2)}%`;
  const known = isNumber(breakEven);
  return element(
    'div',
    {},
    element('h3', {}, 'The margin'),
    element(
      'p',
      { class: 'reading' },
      `A round yields ${number(length)} tokens on average`,
      known &&
        (length >= breakEven
          ? `; speculation pays as long as it yields more than ${number(breakEven)}.`
          : `; speculation would pay only above ${number(breakEven)}.`),
      !known && '.',
    ),
    known &&
      element(
        'div',
        { class: 'margin-label above', 'aria-hidden': 'true' },
        element('span', { style: `left: ${at(breakEven)}` }, `break-even ${number(breakEven)}`),
      ),
    element(
      'div',
      { class: 'margin-bar', 'aria-hidden': 'true' },
      element('div', { class: 'margin-fill', style: `width: ${at(length)}` }),
      known && element('div', { class: 'margin-mark', style: `left: ${at(breakEven)}` }),
    ),
    element(
      'div',
      { class: 'margin-label', 'aria-hidden': 'true' },
      element('span', { class: 'end', style: `left: ${at(length)}` }, `accept length ${number(length)}`),
    ),
  );
}

function commands(list) {
  return element(
    'div',
    { class: 'commands' },
    element('h3', {}, 'The commands'),
    list.map(({ engine, remark, text }) =>
      element(
        'div',
        { class: 'command' },
        element(
          'div',
          { class: 'command-head' },
          element('span', {}, engine),
          copyButton(() => text),
        ),
        element('pre', { tabindex: '0' }, text),
        remark && element('p', { class: 'command-remark' }, `Note: ${remark}.`),
      ),
    ),
  );
}
