// The live page: a question that the form edits, and the answer that the library inside the page gives after every change.
import { copyButton, button, download, element } from '../src/lib/dom.js';
import { quantity } from '../src/lib/format.js';
import { licencesFold } from '../src/lib/frame.js';
import { onThemeChange, themeChoice } from '../src/lib/theme.js';
import { summary } from '../src/sections/summary.js';
import { Library, missing } from './answers.js';
import { commandOf, filesIn } from './command.js';
import { forgetUnread, problemsOfFields } from './fields.js';
import { fileDrop, taken } from './files.js';
import { keepingFocus } from './focus.js';
import { form } from './form.js';
import { comparison, MOST_PINS } from './pins.js';
import { draftersOf, engine as engineOf, nameOfDrafter, platformOf, stateLengths, target } from './question.js';
import { resultsOf, section } from './results.js';
import { fragmentOf, keeper, stateOf } from './state.js';

const start = JSON.parse(document.getElementById('start').textContent);
const copied = (value) => JSON.parse(JSON.stringify(value));
const fresh = () => ({ question: copied(start.question), files: {}, pins: [] });

let state = fresh();
let shown = start.answer; // the last answer without problems
let known = []; // drafters of the target
let knownFor = null;
const kinds = {}; // of the files
const pinned = new Map(); // answers by the text of their question
const keep = keeper();

const at = Object.fromEntries(
  ['answer', 'problems', 'form', 'results', 'status', 'notice', 'files', 'pins'].map((id) => [id, element('div', { id })]),
);
const failure = missing();
const library = failure ? null : new Library(stopped, handOverAgain);

// --- asking ---

function stopped(reason) {
  at.status.textContent = `The library could not be started here (${reason}). What is shown is the answer that the page was written with.`;
  document.documentElement.dataset.failed = 'true';
}

let again = false;

/** The files of the page, to a library that was started anew; not once more where one of them is what broke it off. */
async function handOverAgain() {
  if (again) return;
  again = true;
  await Promise.all(Object.entries(state.files).map(([name, text]) => library.ask('file', { name, text })));
  again = false;
}

/** After a change of the question. `notice`: what was done, where the reader did not type it. */
function changed(notice = '') {
  stateLengths(state.question);
  at.notice.textContent = notice;
  keep.keep(state);
  showFiles();
  explore();
}

/** Whether what is shown answers the question of the form, and if not, why. */
function tell(problems, said) {
  at.problems.replaceChildren(...problems.map((problem) => element('p', {}, problem)));
  at.status.textContent = said;
  document.documentElement.toggleAttribute('data-stale', problems.length > 0);
  for (const tool of ofAnswer) tool.disabled = problems.length > 0;
  document.documentElement.dataset.answered = String(Number(document.documentElement.dataset.answered ?? 0) + 1);
}

const unanswered = 'No answer to this question; what is shown answers the one before.';

function explore() {
  const unclear = problemsOfFields();
  if (unclear.length > 0) {
    tell(unclear, unanswered);
    return;
  }
  const question = copied(state.question);
  library?.askLatest('explore', question, (answer, ms, stale) => {
    if (answer.page) {
      shown = answer;
      pinned.set(JSON.stringify(question), answer);
    }
    if (stale || problemsOfFields().length > 0) return;
    document.documentElement.dataset.took = ms.toFixed(1);
    tell(
      answer.problems ?? (answer.failure ? [answer.failure] : []),
      answer.page ? `Answered in ${quantity(ms, 'ms', 0)} by the library inside this page.` : unanswered,
    );
    render();
    learnDrafters();
  });
}

/** The drafters that are known for the target, when it has changed. */
async function learnDrafters() {
  const name = target.get(state.question);
  if (name === knownFor) return;
  knownFor = name;
  const list = JSON.parse((await library.ask('drafters', { target: name })).answer);
  known = Array.isArray(list) ? list : [];
  buildForm();
}

async function restore(next, notice) {
  state = next;
  forgetUnread();
  for (const [name, text] of Object.entries(state.files)) {
    kinds[name] = JSON.parse((await library.ask('file', { name, text })).answer).kind;
  }
  for (const { question } of state.pins) {
    const key = JSON.stringify(question);
    if (!pinned.has(key)) pinned.set(key, JSON.parse((await library.ask('explore', question)).answer));
  }
  buildForm();
  changed(notice);
}

// --- showing ---

/** `wanted`: the name of a control that gets the focus, of one that had it in the form. */
function buildForm(wanted) {
  keepingFocus(at.form, fillForm, wanted);
}

function fillForm() {
  const engine = start.catalogue.engines.find(([word]) => word === engineOf.get(state.question));
  const open = [...at.form.querySelectorAll('details')].map((details) => details.open);
  at.form.replaceChildren(
    form({
      question: state.question,
      catalogue: start.catalogue,
      priced: shown.drafters ?? [],
      known,
      files: state.files,
      kinds,
      engineTitle: engine?.[1],
      trees: engine?.[2],
      enginesWithTrees: start.catalogue.engines.filter(([, , trees]) => trees).map(([, title]) => title).join(' and '),
      changed: () => changed(),
      rebuild: buildForm,
      ask: (kind, question) => library.ask(kind, question),
      reset: () => restore(fresh()),
    }),
  );
  [...at.form.querySelectorAll('details')].forEach((details, i) => {
    details.open ||= open[i] ?? false;
  });
  forgetUnread([...at.form.querySelectorAll('[data-field]')].map((field) => field.dataset.field));
}

function render() {
  const part = [at.answer, at.results, at.pins].find((each) => each.contains(document.activeElement));
  if (!part) return fillAnswer();
  keepingFocus(part, fillAnswer);
  if (document.activeElement === document.body) ofAnswer[0].focus(); // the last pin is gone
  return undefined;
}

function fillAnswer() {
  const data = shown.page;
  document.title = data.title;
  const tab = at.answer.querySelector('[role=tab][aria-selected=true]')?.textContent;
  at.answer.replaceChildren(...summary.build(data).filter(Boolean));
  [...at.answer.querySelectorAll('[role=tab]')].find(({ textContent }) => textContent === tab)?.click();
  at.results.replaceChildren(...resultsOf(data));
  renderPins();
}

// --- pins, copies, files ---

function nameOf(question) {
  const platform = platformOf(question);
  const { device, tensor_parallel: ranks } = typeof platform === 'string' ? { device: platform } : platform;
  return `${target.get(question)} on ${ranks > 1 ? `${ranks} x ` : ''}${device}, ${nameOfDrafter(draftersOf(question)[0] ?? 'no drafter')}`;
}

function renderPins() {
  const entries = state.pins.map(({ question }, i) => ({
    name: `${i + 1}: ${nameOf(question)}`,
    question,
    answer: pinned.get(JSON.stringify(question)),
    open: () => restore({ ...state, question: copied(question) }),
    remove() {
      state.pins.splice(i, 1);
      changed();
    },
  }));
  if (!state.pins.some(({ question }) => JSON.stringify(question) === JSON.stringify(state.question))) {
    entries.push({ name: 'Now', question: state.question, answer: shown });
  }
  at.pins.replaceChildren(
    ...(state.pins.length > 0
      ? [section({ id: 'compare', heading: 'Side by side', build: () => comparison(entries) })]
      : []),
  );
}

function pin() {
  const question = copied(state.question);
  if (state.pins.some((each) => JSON.stringify(each.question) === JSON.stringify(question))) return;
  if (state.pins.length === MOST_PINS) {
    at.notice.textContent = `${MOST_PINS} configurations are pinned, the most that stand side by side; unpin one first.`;
    return;
  }
  state.pins.push({ question });
  keep.keep(state);
  renderPins();
}

async function handOver(name, text) {
  const file = JSON.parse((await library.ask('file', { name, text })).answer);
  if (file.problems || file.failure) {
    at.problems.replaceChildren(...(file.problems ?? [file.failure]).map((problem) => element('p', {}, problem)));
    return;
  }
  const said = taken(file, state, kinds);
  forgetUnread();
  buildForm();
  changed(said);
}

/** Files that the question names: whoever copies it needs them beside it. */
function showFiles() {
  const names = filesIn(state.question, state.files);
  at.files.replaceChildren(
    ...(names.length > 0 ? ['The question names what was dropped here; the copied command brings it along. '] : []),
    ...names.map((name) =>
      button(`Save ${name}`, () => download(name, 'application/json', state.files[name]), { class: 'quiet' }),
    ),
  );
}

/** What is of no use while the question has no answer. */
const ofAnswer = [
  button('Pin', pin),
  copyButton(() => commandOf(state.question, state.files), 'Copy the command'),
  copyButton(async () => (await library.ask('recommend', state.question)).answer, 'Copy the answer (JSON)'),
  copyButton(() => `${JSON.stringify(state.question, null, 2)}\n`, 'Copy the question'),
];

function tools() {
  return element(
    'div',
    { class: 'tools', role: 'toolbar', 'aria-label': 'This configuration' },
    ofAnswer,
    copyButton(async () => location.href.replace(/#.*$/, '') + (await fragmentOf(state)), 'Copy a link'),
    fileDrop(handOver, (sentence) => at.problems.replaceChildren(element('p', {}, sentence))),
  );
}

function frame() {
  const licences = document.getElementById('licences').textContent;
  at.status.setAttribute('role', 'status');
  at.notice.setAttribute('role', 'status');
  at.problems.setAttribute('role', 'alert');
  return [
    element(
      'header',
      { class: 'page-header' },
      element('div', { class: 'overline' }, element('span', {}, 'Treeline, live'), themeChoice()),
      element('h1', {}, 'Which speculation should I run?'),
    ),
    element(
      'section',
      { id: 'what-to-run', 'aria-label': 'The answer' },
      at.answer,
      at.problems,
      library && tools(),
      at.notice,
      at.files,
      at.status,
    ),
    library && element('aside', { 'aria-label': 'The question' }, at.form),
    element('main', {}, at.pins, at.results),
    element(
      'footer',
      {},
      element(
        'p',
        {},
        `Treeline ${start.version}. This file contains the program and its catalogue; no request leaves it.`,
      ),
      licencesFold(licences),
    ),
  ];
}

document.getElementById('page').append(...frame().filter(Boolean));
onThemeChange(render);
let resizing;
addEventListener('resize', () => {
  clearTimeout(resizing);
  resizing = setTimeout(render, 120);
});
render();
if (library) {
  buildForm();
  const open = async (kept) => (kept ? restore(kept.state ?? fresh(), kept.problem) : null);
  stateOf(location.hash).then((kept) => (kept ? open(kept) : changed()));
  addEventListener('hashchange', async () => open(keep.isOwn(location.hash) ? null : await stateOf(location.hash)));
} else {
  at.status.textContent = `${failure}, so it cannot compute here. What is shown is the answer that the page was written with.`;
}
document.documentElement.dataset.ready = 'true';
