// Remarks of the program about this very result.
import { element } from '../lib/dom.js';

export const notes = {
  id: 'notes',
  heading: 'What else to know',
  present: (data) => data.notes?.length > 0,
  build: ({ notes: texts }) => [
    element(
      'ul',
      { class: 'notes' },
      texts.map((text) => element('li', {}, text)),
    ),
  ],
};
