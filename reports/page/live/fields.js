// Controls of the form. Each is a label and a control that calls `set` with the new value while it changes. A text is read first, by
// `read`: {value}, or {problem}, which then stands beside the control while the text stays as it was typed, and nothing is asked.
import { element } from '../src/lib/dom.js';

let made = 0;
const unread = new Map(); // {text, problem} of texts that cannot be read, by the name of their field

/** Sentences on the texts that cannot be read. */
export const problemsOfFields = () => [...unread].map(([name, { problem }]) => `${name}: ${problem}`);

/** Forgets those texts: all, or those of fields that `names` no longer has. */
export function forgetUnread(names = []) {
  for (const name of unread.keys()) if (!names.includes(name)) unread.delete(name);
}

function labelled(label, control, hint) {
  control.id ||= `field-${made++}`;
  const note = hint && element('span', { class: 'hint', id: `${control.id}-hint` }, hint);
  if (note) control.setAttribute('aria-describedby', note.id);
  return element('div', { class: 'field' }, element('label', { for: control.id }, label), control, note);
}

/** Gives a field its problem; returns what takes a text that was typed into its box. */
function reading(name, field, box, { read = (value) => ({ value }), set }) {
  const note = element('span', { class: 'problem', id: `${box.id}-problem`, hidden: true });
  const show = (problem) => {
    note.textContent = problem ?? '';
    note.hidden = !problem;
    if (problem) box.setAttribute('aria-invalid', 'true');
    else box.removeAttribute('aria-invalid');
  };
  field.dataset.field = name;
  field.append(note);
  box.setAttribute('aria-describedby', [box.getAttribute('aria-describedby'), note.id].filter(Boolean).join(' '));
  const known = unread.get(name);
  if (known) {
    box.value = known.text;
    show(known.problem);
  }
  return (text) => {
    const { value, problem } = read(text);
    show(problem);
    if (problem) {
      unread.set(name, { text, problem });
      box.dispatchEvent(new CustomEvent('unread', { bubbles: true }));
    } else {
      unread.delete(name);
      set(value);
    }
  };
}

/** One of `options`: [value, title, disabled] or values; '' stands for the default. `problem`: why what is chosen has no answer. */
export function choice({ label, options, value, set, hint, problem }) {
  const entries = options.map((option) => (Array.isArray(option) ? option : [option, option]));
  const known = entries.some(([name]) => String(name) === String(value ?? ''));
  if (!known) entries.push([value, String(value)]);
  const list = element(
    'select',
    { onchange: () => set(list.value), 'aria-invalid': problem ? 'true' : undefined },
    entries.map(([name, title, disabled]) => element('option', { value: name, disabled }, title)),
  );
  list.value = String(value ?? '');
  const field = labelled(label, list, problem ?? hint);
  if (problem) field.querySelector('.hint').className = 'problem';
  return field;
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
  const show = (name) => {
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
    onchange: () => take(box.value.trim()),
    onfocus: () => box.select(),
  });
  const titled = [...titles.values()].some(Boolean);
  const field = labelled(label, box, titles.get(value) || hint || (titled && '\u00a0'));
  field.append(list);
  const take = reading(label, field, box, {
    read: (name) => (name === '' ? { problem: 'A name is needed here.' } : { value: name }),
    set: show,
  });
  return field;
}

/** `name`: of the field among others with its label. */
export function text({ label, name = label, value, set, read, hint, placeholder, mode = 'text' }) {
  const box = element('input', {
    value,
    placeholder,
    inputmode: mode,
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => take(box.value),
  });
  const field = labelled(label, box, hint);
  const take = reading(name, field, box, { read, set });
  return field;
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
export function slider({ label, value, set, read, hint, placeholder, ...range }) {
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
      take(box.value);
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
      take(box.value);
    },
  });
  const field = labelled(label, box, hint);
  const take = reading(label, field, box, { read, set });
  bar.value = toPlace(single());
  bar.setAttribute('aria-valuetext', box.value);
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
