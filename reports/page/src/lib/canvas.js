// Drawings of many marks: a canvas that follows its room, the theme and the reader's pointer.
import { element } from './dom.js';
import { currentPalette, onThemeChange } from './theme.js';

/**
 * `draw({context, width, height, palette})` paints all of it; `describe(x, y)` gives the lines of the note at a place, or null.
 * `alternative` says in words what it shows. Returns the node, with `redraw` and the canvas.
 */
export function drawing({ height, alternative, draw, describe }) {
  const canvas = element('canvas', { role: 'img', 'aria-label': alternative, style: 'display: block; width: 100%; touch-action: none' });
  const note = element('div', { class: 'canvas-note', hidden: true, 'aria-hidden': 'true' });
  const node = element('div', { class: 'canvas-drawing', style: 'position: relative' }, canvas, note);
  const redraw = () => {
    const width = node.clientWidth || 800;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height() * scale);
    canvas.style.height = `${height()}px`;
    const context = canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    draw({ context, width, height: height(), palette: currentPalette() });
  };
  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener('pointermove', (event) => {
    const [x, y] = placeOf(event);
    const lines = describe?.(x, y);
    note.hidden = !lines;
    if (!lines) return;
    note.replaceChildren(...lines.map((line) => element('div', {}, line)));
    note.style.left = `${Math.min(x + 14, Math.max(0, node.clientWidth - note.offsetWidth - 4))}px`;
    note.style.top = `${y + 14}px`;
  });
  canvas.addEventListener('pointerleave', () => {
    note.hidden = true;
  });
  new ResizeObserver(redraw).observe(node);
  onThemeChange(redraw);
  return { node, canvas, redraw, placeOf };
}

/** A drop-down list of `names`; calls `changed(index)`. */
export function choiceOf(label, names, chosen, changed) {
  const list = element(
    'select',
    { onchange: () => changed(Number(list.value)) },
    names.map((name, index) => element('option', { value: index }, name)),
  );
  list.value = chosen;
  return element('label', { class: 'choice' }, element('span', {}, label), list);
}
