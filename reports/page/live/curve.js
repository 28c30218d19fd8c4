// An acceptance curve that is dragged: P(the first i drafts are all accepted), which never rises. Each point is a slider for the keyboard.
import { button, element } from '../src/lib/dom.js';
import { number } from '../src/lib/format.js';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [320, 132, 30, 10, 10, 22];
const MOST = 16;

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** Point `at` moved to `value`, its neighbours giving way. */
export function moved(positions, at, value) {
  const bounded = Math.min(1, Math.max(0, value));
  return positions.map((old, i) => (i < at ? Math.max(old, bounded) : i > at ? Math.min(old, bounded) : bounded));
}

/** One position more, falling as the last ones do. */
export function longer(positions) {
  const [before, last] = [positions.at(-2) ?? 1, positions.at(-1) ?? 0.7];
  return [...positions, last * Math.min(1, before > 0 ? last / before : 0)];
}

export function curve({ label, positions, changed, reset }) {
  let values = [...positions];
  const x = (i) => LEFT + ((WIDTH - LEFT - RIGHT) * (i + 0.5)) / Math.max(values.length, 1);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value);
  const drawing = svg('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: 'curve',
    role: 'group',
    'aria-label': `Acceptance of ${label} by position`,
  });
  const line = svg('polyline', { class: 'curve-line' });
  const points = svg('g');
  const length = element('span', { class: 'curve-length' });

  function draw() {
    line.setAttribute('points', values.map((value, i) => `${x(i)},${y(value)}`).join(' '));
    [...points.children].forEach((point, i) => {
      const value = values[i];
      point.setAttribute('transform', `translate(${x(i)} ${y(value)})`);
      point.setAttribute('aria-valuenow', value.toFixed(3));
      point.setAttribute('aria-valuetext', `${number(100 * value, 1)} %`);
    });
    length.textContent = `${number(1 + values.reduce((sum, value) => sum + value, 0), 2)} tokens a round`;
  }

  function set(next) {
    values = next;
    draw();
    changed(values);
  }

  function point(i) {
    const node = svg(
      'g',
      {
        class: 'curve-point',
        tabindex: 0,
        role: 'slider',
        'aria-label': `Draft ${i + 1}`,
        'aria-valuemin': 0,
        'aria-valuemax': 1,
      },
      svg('circle', { r: 15, class: 'curve-grip' }),
      svg('circle', { r: 5 }),
    );
    node.addEventListener('keydown', (event) => {
      const step = { ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01, PageUp: 0.1, PageDown: -0.1 }[
        event.key
      ];
      const end = { Home: 0, End: 1 }[event.key];
      if (step === undefined && end === undefined) return;
      event.preventDefault();
      set(moved(values, i, end ?? Math.round((values[i] + step) * 1000) / 1000));
    });
    node.addEventListener('pointerdown', (event) => {
      node.setPointerCapture(event.pointerId);
      event.preventDefault();
      node.focus();
    });
    node.addEventListener('pointermove', (event) => {
      if (!node.hasPointerCapture(event.pointerId)) return;
      const box = drawing.getBoundingClientRect();
      const place = ((event.clientY - box.top) / box.height) * HEIGHT;
      set(moved(values, i, 1 - (place - TOP) / (HEIGHT - TOP - BOTTOM)));
    });
    return node;
  }

  function build() {
    const ticks = [0, 0.5, 1].flatMap((value) => [
      svg('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), class: 'curve-rule' }),
      svg('text', { x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end' }, `${100 * value} %`),
    ]);
    const names = values.map((_, i) => svg('text', { x: x(i), y: HEIGHT - 6, 'text-anchor': 'middle' }, String(i + 1)));
    points.replaceChildren(...values.map((_, i) => point(i)));
    drawing.replaceChildren(...ticks, ...names, line, points);
    draw();
  }

  function resize(next) {
    values = next;
    build();
    changed(values);
  }

  build();
  return element(
    'div',
    { class: 'curve-box' },
    drawing,
    element(
      'div',
      { class: 'curve-tools' },
      length,
      button('−', () => values.length > 1 && resize(values.slice(0, -1)), {
        class: 'quiet',
        'aria-label': `${label}: one position fewer`,
      }),
      button('+', () => values.length < MOST && resize(longer(values)), {
        class: 'quiet',
        'aria-label': `${label}: one position more`,
      }),
      reset && button('As measured', reset, { class: 'quiet' }),
    ),
  );
}
