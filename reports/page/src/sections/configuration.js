// What was priced, in full: the configuration, how far its accept length lies above break-even, and every further figure.
import { element } from '../lib/dom.js';
import { isNumber, number } from '../lib/format.js';
import { metrics } from './summary.js';

export const configuration = {
  id: 'configuration',
  heading: 'The configuration in full',
  present: ({ summary }) => summary?.configuration?.length > 0 || isNumber(summary?.accept_length),
  build: ({ summary: answer }) => [
    answer.further?.length > 0 && metrics(answer.further),
    answer.note && element('p', { class: 'reading' }, answer.note),
    element(
      'div',
      { class: 'columns' },
      answer.configuration?.length > 0 && facts(answer.configuration),
      isNumber(answer.accept_length) && acceptance(answer),
    ),
  ],
};

const facts = (entries) =>
  element(
    'dl',
    { class: 'configuration' },
    entries.map(({ name, value }) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );

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
