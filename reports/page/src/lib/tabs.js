// Panels of which one is shown at a time, as tabs that arrow keys move between; on paper all are shown.
import { element } from './dom.js';

/** `panels`: [{title, node}]; a single one stands without tabs. */
export function tabs(label, panels) {
  if (panels.length === 1) return panels[0].node;
  const buttons = panels.map(({ title }, i) => element('button', { type: 'button', role: 'tab', onclick: () => show(i) }, title));
  const boxes = panels.map(({ title, node }) => element('div', { class: 'panel', role: 'tabpanel', 'aria-label': title }, node));
  function show(chosen) {
    buttons.forEach((button, i) => button.setAttribute('aria-selected', String(i === chosen)));
    boxes.forEach((box, i) => {
      box.hidden = i !== chosen;
    });
  }
  const list = element('div', { class: 'tabs', role: 'tablist', 'aria-label': label }, buttons);
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    show(next);
    buttons[next].focus();
  });
  show(0);
  return element('div', {}, list, boxes);
}
