// A draft tree: a node that is clicked goes away with everything below it.
import { element } from '../src/lib/dom.js';
import { svg } from './curve.js';

const STEP = 34;

/** `parents` without node `gone` (1, 2, …; 0 is the root) and what hangs from it. */
export function without(parents, gone) {
  const kept = new Map([[0, 0]]);
  const left = [];
  parents.forEach((parent, i) => {
    if (i + 1 === gone || !kept.has(parent)) return;
    left.push(kept.get(parent));
    kept.set(i + 1, left.length);
  });
  return left;
}

/** `parents` with one more child of `parent`. */
export const withChild = (parents, parent) => [...parents, parent];

/** Column and level of each node, the root first: leaves side by side, parents above the middle of their children. */
export function layout(parents) {
  const children = Array.from({ length: parents.length + 1 }, () => []);
  parents.forEach((parent, i) => children[parent].push(i + 1));
  const places = [];
  let leaves = 0;
  const place = (node, level) => {
    children[node].forEach((child) => place(child, level + 1));
    const under = children[node].map((child) => places[child].column);
    places[node] = { level, column: under.length > 0 ? (Math.min(...under) + Math.max(...under)) / 2 : leaves++ };
  };
  place(0, 0);
  return { places, leaves };
}

const nameOf = (node) => `node ${node}`;

/** `changed(parents, focus)`: with the name (focus.js) of the node that the reader is at then. */
export function treeEditor(parents, changed) {
  const { places, leaves } = layout(parents);
  const levels = Math.max(...places.map(({ level }) => level)) + 1;
  const [width, height] = [leaves * STEP, levels * STEP];
  const at = (node) => [(places[node].column + 0.5) * STEP, (places[node].level + 0.5) * STEP];
  const lines = parents.map((parent, i) => {
    const [[x1, y1], [x2, y2]] = [at(parent), at(i + 1)];
    return svg('line', { x1, y1, x2, y2, class: 'tree-edge' });
  });
  const nodes = places.map((_, node) => {
    const [x, y] = at(node);
    const dot = svg(
      'g',
      {
        class: node === 0 ? 'tree-root' : 'tree-node',
        transform: `translate(${x} ${y})`,
        tabindex: 0,
        role: 'button',
        'data-focus': nameOf(node),
        'aria-label':
          node === 0
            ? 'Root: add a child'
            : `Node ${node} at level ${places[node].level}: Enter takes it away, + adds a child`,
      },
      svg('circle', { r: 14, class: 'curve-grip' }),
      svg('circle', { r: 7 }),
    );
    const add = () => changed(withChild(parents, node), nameOf(node));
    const act = () => (node === 0 ? add() : takeAway());
    const takeAway = () => {
      const left = without(parents, node);
      if (left.length > 0) changed(left, nameOf(parents[node - 1])); // parents keep their numbers: they come first
    };
    dot.addEventListener('click', (event) => (event.shiftKey ? add() : act()));
    dot.addEventListener('keydown', ({ key }) => {
      if (key === '+') add();
      else if (key === 'Enter' || key === 'Delete' || key === ' ') act();
    });
    return dot;
  });
  const drawing = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    class: 'tree',
    role: 'group',
    'aria-label': `Draft tree of ${parents.length} nodes`,
  });
  drawing.append(...lines, ...nodes);
  return element(
    'div',
    { class: 'tree-box' },
    element('div', { class: 'tree-scroll' }, drawing),
    element(
      'p',
      { class: 'hint' },
      `${parents.length} nodes. Click a node to take it away; Shift and click, or the key +, adds a child.`,
    ),
  );
}
