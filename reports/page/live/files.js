// Files that are dropped onto the page, or chosen: a Hugging Face config becomes the target, a device the platform, a log or the result of a
// benchmark the acceptance, and a question or an answer of Treeline the question.
import { element } from '../src/lib/dom.js';
import * as q from './question.js';

const LARGEST = 32 * 1024 * 1024;

/** Takes what the library made of a file into the state; returns a sentence on what was done. */
export function taken(file, state, kinds) {
  const { kind, name } = file;
  if (kind === 'workload') {
    state.question = file.question;
    return `${name} is the question now.`;
  }
  state.files[name] = file.text;
  kinds[name] = kind;
  if (kind === 'model') {
    q.target.set(state.question, name);
    return `${name} is the target now, with what is known of drafters for any model.`;
  }
  if (kind === 'device') {
    q.platformKey('device').set(state.question, name);
    return `${name} is the device now.`;
  }
  const drafters = q.draftersOf(state.question);
  const first = q.asMeasured(drafters[0] === 'known' || drafters.length === 0 ? 'eagle3' : drafters[0]);
  const object = q.drafterObject(first);
  state.question.drafters = [{ ...object, acceptance: { file: name } }, ...drafters.slice(1)];
  q.stateLengths(state.question); // before the form is built, which shows them
  return `Acceptance comes from ${name} now.`;
}

/** Calls `give(name, text)` with each file that is dropped anywhere, and with those of the button that is returned. */
export function fileDrop(give, complain) {
  const read = async (list) => {
    for (const file of list) {
      if (file.size > LARGEST) complain(`${file.name} has more than 32 MB; \`treeline import\` reads logs of any size.`);
      else await give(file.name, await file.text());
    }
  };
  addEventListener('dragover', (event) => {
    event.preventDefault();
    document.documentElement.dataset.dropping = 'true';
  });
  addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) delete document.documentElement.dataset.dropping;
  });
  addEventListener('drop', (event) => {
    event.preventDefault();
    delete document.documentElement.dataset.dropping;
    read(event.dataTransfer.files);
  });
  const input = element('input', {
    type: 'file',
    multiple: true,
    id: 'files',
    class: 'visually-hidden',
    onchange: () => {
      read([...input.files]);
      input.value = '';
    },
  });
  return element('span', { class: 'file-drop' }, input, element('label', { for: 'files', class: 'button' }, 'Open a file'));
}
