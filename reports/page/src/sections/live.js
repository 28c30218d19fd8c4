// The live page, where the program put one into the report: it starts when a reader asks for it, in a frame of its own.
import { element } from '../lib/dom.js';

const holder = () => document.getElementById('live-page');

function frame() {
  const page = new Blob([JSON.parse(holder().textContent)], { type: 'text/html' });
  return element('iframe', { class: 'live', title: 'The live page', src: URL.createObjectURL(page) });
}

export const live = {
  id: 'live',
  heading: 'Ask otherwise',
  present: () => holder() !== null,
  build: () => {
    const button = element('button', { type: 'button' }, 'Open the form');
    button.addEventListener('click', () => button.replaceWith(frame()), { once: true });
    return [
      element(
        'p',
        { class: 'screen-only' },
        'This page holds the program: every change of the form is answered at once, offline, as treeline recommend answers it.',
      ),
      button,
    ];
  },
};
