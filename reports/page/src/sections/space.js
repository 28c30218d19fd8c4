// A sweep's design space: the best value over any two axes, and every kept point as a line over its figures.
import { choiceOf, drawing } from '../lib/canvas.js';
import { element } from '../lib/dom.js';
import { number } from '../lib/format.js';
import { mixed } from '../lib/palette.js';

const MARGIN = { left: 150, right: 20, top: 16, bottom: 64 };

export const space = {
  id: 'design-space',
  heading: 'The design space',
  present: (data) => (data.space?.maps ?? []).length > 0 || (data.space?.points?.rows ?? []).length > 0,
  build: (data) => [
    ...(data.space.maps.length > 0 ? heatMap(data.space) : []),
    ...(data.space.points.rows.length > 1 ? parallelCoordinates(data.space) : []),
  ],
};

const TITLES = {
  tokens_per_s_device: 'tokens/s per device',
  tokens_per_s_user: 'tokens/s per user',
  tpot_ms: 'TPOT (ms)',
  ttft_ms: 'TTFT (ms)',
  itl_ms: 'ITL (ms)',
  memory_gb: 'memory (GB)',
  energy_j_per_token: 'J per token',
  tokens_per_joule: 'tokens/J',
  usd_per_million_tokens: '$ per million tokens',
  speedup: 'speed-up',
};
const titleOf = (name) => TITLES[name] ?? name.replaceAll('_', ' ');
const better = ({ by }) => (by.better === 'higher' ? (a, b) => a > b : (a, b) => a < b);

/** Position in [0, 1] between the worst and the best of the values, by logarithm where all are above zero. */
function scaleOf(values, by) {
  const sound = values.filter(Number.isFinite);
  const [low, high] = sound.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const log = low > 0 && high / low > 20;
  const place = (value) => {
    if (!(high > low)) return 1;
    const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return by.better === 'higher' ? share : 1 - share;
  };
  return { low, high, log, place };
}

const colourOf = (share, palette) => mixed(palette.faint, palette.diverging[4], share);

function heatMap(data) {
  const { axes, maps, by } = data;
  let map = maps[0];
  let swapped = false;
  let cells = new Map();
  let scale;
  let room = { width: 1, height: 1 };
  const sides = () => (swapped ? [axes[map.y], axes[map.x]] : [axes[map.x], axes[map.y]]);
  const placed = (cell) => (swapped ? [cell[1], cell[0]] : [cell[0], cell[1]]);
  const prepare = () => {
    cells = new Map(map.cells.map((cell) => [placed(cell).join(), cell]));
    scale = scaleOf(map.cells.map((cell) => cell[2]), by);
  };
  const height = () => MARGIN.top + MARGIN.bottom + Math.min(560, Math.max(120, sides()[1].values.length * 22));
  const draw = ({ context, width, height: all, palette }) => {
    const [across, up] = sides();
    room = { width: (width - MARGIN.left - MARGIN.right) / across.values.length, height: (all - MARGIN.top - MARGIN.bottom) / up.values.length };
    showScale(palette);
    context.clearRect(0, 0, width, all);
    for (const cell of map.cells) {
      const [x, y] = placed(cell);
      context.fillStyle = colourOf(scale.place(cell[2]), palette);
      const top = all - MARGIN.bottom - (y + 1) * room.height;
      context.fillRect(MARGIN.left + x * room.width, top, room.width - (room.width > 6 ? 1 : 0), room.height - (room.height > 6 ? 1 : 0));
    }
    ticks(context, across, up, room, width, all, palette);
  };
  const describe = (x, y) => {
    const [across, up] = sides();
    const column = Math.floor((x - MARGIN.left) / room.width);
    const row = Math.floor((height() - MARGIN.bottom - y) / room.height);
    const cell = cells.get([column, row].join());
    if (!cell) return null;
    return [
      `${titleOf(across.name)} ${across.values[column]}, ${titleOf(up.name)} ${up.values[row]}`,
      `${titleOf(by.column)} ${number(cell[2])}`,
      data.configurations[cell[3]],
    ];
  };
  const scaleKey = element('div', { class: 'colour-scale' });
  const showScale = (palette) => {
    const [worst, finest] = by.better === 'higher' ? [scale.low, scale.high] : [scale.high, scale.low];
    const gradient = `linear-gradient(to right, ${colourOf(0, palette)}, ${colourOf(1, palette)})`;
    scaleKey.replaceChildren(
      element(
        'div',
        { class: 'ends' },
        element('span', {}, `${titleOf(by.column)} ${number(worst)}`),
        element('span', { class: 'gradient', style: `background: ${gradient}`, 'aria-hidden': 'true' }),
        element('span', {}, `${number(finest)}${scale.log ? ', on a log scale' : ''}`),
      ),
    );
  };
  prepare();
  const best = map.cells.reduce((a, b) => (better(data)(b[2], a[2]) ? b : a));
  const shown = drawing({
    height,
    alternative: `Heat map of the best ${titleOf(by.column)} over ${axes[map.x].name} and ${axes[map.y].name}; the best is ${number(best[2])}.`,
    draw,
    describe,
  });
  const names = maps.flatMap(({ x, y }) => [`${titleOf(axes[x].name)} × ${titleOf(axes[y].name)}`, `${titleOf(axes[y].name)} × ${titleOf(axes[x].name)}`]);
  const choose = (index) => {
    map = maps[index >> 1];
    swapped = index % 2 === 1;
    prepare();
    shown.redraw();
  };
  return [
    element('h3', {}, `Best ${titleOf(by.column)} over two axes`),
    element('p', {}, `Each cell holds the best of all points with these two values; darker is better (${by.better} is better).`),
    choiceOf('Axes', names, 0, choose),
    scaleKey,
    shown.node,
  ];
}

/** Values along both axes, as many as there is room for. */
function ticks(context, across, up, room, width, height, palette) {
  context.fillStyle = palette.muted;
  context.textAlign = 'center';
  const widest = Math.max(...across.values.map((value) => context.measureText(shortened(value)).width)) + 10;
  const step = Math.max(1, Math.ceil(widest / room.width));
  across.values.forEach((value, i) => {
    if (i % step === 0) context.fillText(shortened(value), MARGIN.left + (i + 0.5) * room.width, height - MARGIN.bottom + 18);
  });
  context.textAlign = 'right';
  const rise = Math.max(1, Math.ceil(15 / room.height));
  up.values.forEach((value, i) => {
    if (i % rise === 0) context.fillText(shortened(value), MARGIN.left - 8, height - MARGIN.bottom - (i + 0.5) * room.height + 4);
  });
  context.fillStyle = palette.ink;
  context.textAlign = 'center';
  context.fillText(titleOf(across.name), MARGIN.left + (width - MARGIN.left - MARGIN.right) / 2, height - MARGIN.bottom + 42);
  context.textAlign = 'left';
  context.fillText(titleOf(up.name), 4, MARGIN.top - 3);
}

const shortened = (text) => (text.length > 20 ? `${text.slice(0, 19)}…` : text);

const FRAME_MS = 8; // of drawing lines in one frame: the page answers while the rest follow
const AT_LEAST = 250; // lines of a frame
const SHADES = 64;

function parallelCoordinates(data) {
  const { categories } = data.points;
  const varied = data.points.columns.map((_, c) => data.points.rows.some((row) => row[c] !== data.points.rows[0][c]));
  const columns = data.points.columns.filter((_, c) => varied[c]);
  const rows = data.points.rows.map((row) => row.filter((_, c) => varied[c]));
  const byColumn = columns.indexOf(data.by.column);
  if (byColumn < 0) return [];
  const colour = scaleOf(rows.map((row) => row[byColumn]), data.by);
  const scales = columns.map((_, c) => {
    const values = rows.map((row) => row[c]).filter(Number.isFinite);
    return values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  });
  const order = rows.map((_, i) => i).sort((a, b) => colour.place(rows[a][byColumn]) - colour.place(rows[b][byColumn]));
  const brushes = columns.map(() => null);
  const HEIGHT = 380;
  const [TOP, BOTTOM] = [50, HEIGHT - 28];
  let width = 800;
  let frame = 0;
  const xOf = (c) => 60 + (c * (width - 120)) / Math.max(1, columns.length - 1);
  const isLog = scales.map(([low, high], c) => !categories[columns[c]] && low > 0 && high / low > 20);
  const share = (c, value) => {
    const [low, high] = scales[c];
    return isLog[c] ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  };
  // Heights and shades of all rows once, so that a frame only compares and draws.
  const heights = columns.map((_, c) => Float32Array.from(rows, (row) => BOTTOM - share(c, row[c]) * (BOTTOM - TOP)));
  const shades = Uint8Array.from(rows, (row) => Math.round((SHADES - 1) * colour.place(row[byColumn])));
  const kept = new Uint8Array(rows.length).fill(1);
  const keep = () => {
    kept.fill(1);
    brushes.forEach((brush, c) => {
      if (brush) for (let i = 0; i < kept.length; i += 1) kept[i] &= heights[c][i] >= brush[0] && heights[c][i] <= brush[1] ? 1 : 0;
    });
  };
  const count = element('p', { class: 'note', 'aria-live': 'polite' });
  const lines = (context, palette, from) => {
    const start = performance.now();
    const colours = Array.from({ length: SHADES }, (_, i) => colourOf(0.15 + (0.85 * i) / (SHADES - 1), palette));
    const places = columns.map((_, c) => xOf(c));
    context.lineWidth = 1;
    context.globalAlpha = Math.min(0.6, Math.max(0.03, 500 / rows.length));
    let k = from;
    for (let shade = -1; k < order.length && (k % AT_LEAST !== 0 || k === from || performance.now() - start < FRAME_MS); k += 1) {
      const i = order[k];
      if (!kept[i]) continue;
      if (shades[i] !== shade) {
        shade = shades[i];
        context.strokeStyle = colours[shade];
      }
      context.beginPath();
      context.moveTo(places[0], heights[0][i]);
      for (let c = 1; c < places.length; c += 1) context.lineTo(places[c], heights[c][i]);
      context.stroke();
    }
    context.globalAlpha = 1;
    if (k < order.length) {
      frame = requestAnimationFrame(() => lines(context, palette, k));
      return;
    }
    axesOf(context, palette);
    shown.canvas.setAttribute('aria-busy', 'false');
  };
  const axesOf = (context, palette) => {
    columns.forEach((name, c) => {
      context.strokeStyle = palette.axis;
      context.beginPath();
      context.moveTo(xOf(c), TOP);
      context.lineTo(xOf(c), BOTTOM);
      context.stroke();
      context.textAlign = 'center';
      context.fillStyle = palette.ink;
      context.fillText(titleOf(name), xOf(c), c % 2 === 0 ? 12 : 26);
      context.fillStyle = palette.muted;
      const [low, high] = scales[c];
      const text = (value) => (categories[name] ? shortened(categories[name][value] ?? '') : number(value));
      context.fillText(text(high), xOf(c), TOP - 5);
      context.fillText(text(low), xOf(c), BOTTOM + 16);
      if (brushes[c]) {
        context.fillStyle = palette.series[1];
        context.globalAlpha = 0.25;
        context.fillRect(xOf(c) - 8, brushes[c][0], 16, brushes[c][1] - brushes[c][0]);
        context.globalAlpha = 1;
      }
    });
  };
  const shown = drawing({
    height: () => HEIGHT,
    alternative: `Parallel coordinates of ${rows.length} kept points over ${columns.map(titleOf).join(', ')}.`,
    draw: ({ context, width: given, palette }) => {
      width = given;
      cancelAnimationFrame(frame);
      context.clearRect(0, 0, width, HEIGHT);
      shown.canvas.setAttribute('aria-busy', 'true');
      const selected = kept.reduce((sum, one) => sum + one, 0);
      count.textContent = `${number(selected)} of ${number(rows.length)} points. Drag along an axis to keep a range of it; click it to clear.`;
      lines(context, palette, 0);
    },
  });
  let held = null;
  const axisAt = (x) => columns.findIndex((_, c) => Math.abs(xOf(c) - x) < 14);
  shown.canvas.addEventListener('pointerdown', (event) => {
    const [x, y] = shown.placeOf(event);
    const axis = axisAt(x);
    held = axis >= 0 ? { axis, from: y } : null;
    if (held) shown.canvas.setPointerCapture(event.pointerId);
  });
  shown.canvas.addEventListener('pointerup', (event) => {
    if (!held) return;
    const [, y] = shown.placeOf(event);
    const [low, high] = [Math.min(held.from, y), Math.max(held.from, y)];
    brushes[held.axis] = high - low > 3 ? [low, high] : null;
    held = null;
    keep();
    shown.redraw();
  });
  return [
    element('h3', {}, 'Kept points over their figures'),
    element('p', {}, `A line for each point of the lists; darker is better by ${titleOf(data.by.column)}. Wide ranges are on a logarithmic scale.`),
    shown.node,
    count,
  ];
}
