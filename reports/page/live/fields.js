// Controls of the form. Each is a label and a control that calls `set` with the new value while it changes, and `show` with what it is.
import { element } from '../src/lib/dom.js';

let made = 0;

function labelled(label, control, hint) {
  control.id ||= `field-${made++}`;
  const note = hint && element('span', { class: 'hint', id: `${control.id}-hint` }, hint);
  if (note) control.setAttribute('aria-describedby', note.id);
  return element('div', { class: 'field' }, element('label', { for: control.id }, label), control, note);
}

/** One of `options`: [value, title] or values; '' stands for the default. */
export function choice({ label, options, value, set, hint }) {
  const entries = options.map((option) => (Array.isArray(option) ? option : [option, option]));
  const known = entries.some(([name]) => String(name) === String(value ?? ''));
  if (!known) entries.push([value, String(value)]);
  const list = element(
    'select',
    { onchange: () => set(list.value) },
    entries.map(([name, title]) => element('option', { value: name }, title)),
  );
  list.value = String(value ?? '');
  return labelled(label, list, hint);
}

/**
 * A name to type, with suggestions, [name, title] or names; taken when it is one of them, or when the reader leaves the field.
 * The title of the one that is taken stands below.
 */
export function named({ label, options, value, set, hint = '' }) {
  const titles = new Map(options.map((option) => (Array.isArray(option) ? option : [option, ''])));
  const list = element(
    'datalist',
    { id: `names-${made++}` },
    [...titles].map(([name, title]) => element('option', { value: name, label: title || undefined })),
  );
  const take = (name) => {
    const note = field.querySelector('.hint');
    if (note) note.textContent = titles.get(name) || hint;
    set(name);
  };
  const box = element('input', {
    list: list.id,
    value,
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => titles.has(box.value) && take(box.value),
    onchange: () => box.value.trim() && take(box.value.trim()),
    onfocus: () => box.select(),
  });
  const titled = [...titles.values()].some(Boolean);
  const field = labelled(label, box, titles.get(value) || hint || (titled && '\u00a0'));
  field.append(list);
  return field;
}

export function text({ label, value, set, hint, placeholder, mode = 'text' }) {
  const box = element('input', {
    value,
    placeholder,
    inputmode: mode,
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => set(box.value),
  });
  return labelled(label, box, hint);
}

const PLACES = 240; // of a slider with a logarithmic scale

/** Numbers between `least` and `most`: whole ones, or steps of `step`; `log` for a logarithmic scale. */
function scale({ least, most, step = 1, log }) {
  const round = (value) => Math.round(value / step) * step;
  const fixed = (value) => Number(round(value).toFixed(6));
  if (!log) return { ends: [least, most, step], toPlace: (value) => value, toValue: (place) => fixed(place) };
  const span = Math.log(most / least);
  return {
    ends: [0, PLACES, 1],
    toPlace: (value) => (PLACES * Math.log(Math.max(value, least) / least)) / span,
    toValue: (place) => {
      const exact = least * Math.exp((span * place) / PLACES);
      const digits = 10 ** Math.max(0, Math.floor(Math.log10(exact)) - 1);
      return Math.max(least, fixed(Math.round(exact / digits) * digits));
    },
  };
}

/** A slider with a box beside it; the box also takes lists with shares where `set` understands them. */
export function slider({ label, value, set, hint, placeholder, ...range }) {
  const { ends, toPlace, toValue } = scale(range);
  const single = () => (Number.isFinite(Number.parseFloat(box.value)) ? Number.parseFloat(box.value) : range.least);
  const box = element('input', {
    class: 'number',
    value,
    placeholder,
    inputmode: 'text',
    autocomplete: 'off',
    oninput: () => {
      bar.value = toPlace(single());
      set(box.value);
    },
  });
  const bar = element('input', {
    type: 'range',
    min: ends[0],
    max: ends[1],
    step: ends[2],
    'aria-label': `${label}, slider`,
    oninput: () => {
      box.value = String(toValue(Number(bar.value)));
      bar.setAttribute('aria-valuetext', box.value);
      set(box.value);
    },
  });
  bar.value = toPlace(single());
  bar.setAttribute('aria-valuetext', box.value);
  const field = labelled(label, box, hint);
  box.after(bar);
  field.classList.add('sliding');
  return field;
}

/** Fields under a heading; those that few need are folded. */
export function group(heading, ...fields) {
  return element('fieldset', {}, element('legend', {}, heading), fields);
}

export function folded(summary, open, ...fields) {
  return element('details', { class: 'more', open }, element('summary', {}, summary), fields);
}
