// The one place that touches Vega: compile, draw, zoom, save. Expressions run in Vega's interpreter, so that the page needs no eval and its
// content security policy can forbid it.
import { View, expressionFunction, parse, Warn } from 'vega';
import { compile } from 'vega-lite';
import { expressionInterpreter } from 'vega-interpreter';
import { Handler } from 'vega-tooltip';
import { fontFamily, widest, wrapped } from './text.js';
import { linearTicks, logTicks } from './ticks.js';

const tooltip = new Handler({ theme: 'treeline', disableDefaultStyle: true, maxDepth: 1 });

/** Draws `specification` into `container`, as wide as `width` including axes, and returns the Vega view. */
export function draw(container, specification, palette, width) {
  const compiled = compile(
    {
      width,
      autosize: { type: 'fit', contains: 'padding' },
      padding: { left: 2, right: 6, top: 6, bottom: 2 },
      background: 'transparent',
      ...specification,
    },
    { config: configuration(palette) },
  ).spec;
  container.replaceChildren();
  const view = new View(parse(compiled, undefined, { ast: true }), {
    expr: expressionInterpreter,
    renderer: 'svg',
    logLevel: Warn,
    tooltip: tooltip.call,
    container,
    hover: true,
  });
  view.run();
  container.querySelector('svg').setAttribute('aria-hidden', 'true');
  return view;
}

function configuration(palette) {
  const font = fontFamily();
  const label = {
    labelFont: font,
    labelFontSize: 12,
    labelColor: palette.muted,
    titleFont: font,
    titleFontSize: 12,
    titleFontWeight: 500,
    titleColor: palette.muted,
  };
  return {
    aria: false,
    font,
    view: { stroke: null },
    axis: {
      ...label,
      gridColor: palette.rule,
      domainColor: palette.axis,
      tickColor: palette.axis,
      titlePadding: 10,
      labelPadding: 5,
      tickSize: 4,
      labelLimit: 220,
      labelOverlap: true,
      labelSeparation: 4,
    },
    axisY: { domain: false, ticks: false },
    text: { font, fontSize: 12, fill: palette.ink },
    rule: { stroke: palette.muted },
    legend: { disable: true },
  };
}

/** The interaction behind `zoom`. A plain wheel scrolls the page; it zooms only with Shift or Ctrl held. */
export const zoomParameter = {
  name: 'range',
  bind: 'scales',
  select: { type: 'interval', zoom: 'wheel![event.shiftKey || event.ctrlKey]', clear: 'dblclick' },
};

// Vega works ticks out again when the reader zooms and when labels of another axis leave less room.
expressionFunction('treelineLogTicks', ([low, high], pixels, vertical, base) => logTicks(low, high, pixels, { vertical, base }));
expressionFunction('treelineTicks', ([low, high], pixels, vertical, whole) => linearTicks(low, high, pixels, { vertical, whole }));

const ticksOf = (name, channel, option) => ({
  expr: `${name}(domain('${channel}'), ${channel === 'x' ? 'width' : 'height'}, ${channel === 'y'}, ${option})`,
});

/** The axis of `channel` ("x" or "y") over a log scale: powers of two if `base` is 2, else 1, 2 and 5 times powers of ten. */
export const logAxis = (channel, base = 10) => ({ format: ',~r', values: ticksOf('treelineLogTicks', channel, base), grid: true });

/** The same over a linear scale, from zero or not; whole numbers only where `whole`. */
export const linearAxis = (channel, { whole = false } = {}) => ({ format: ',~r', values: ticksOf('treelineTicks', channel, whole) });

/** The axis of names side by side over `inner` pixels: wrapped where every word has room, else upright. */
export function nameAxis(names, inner) {
  const room = inner / names.length - 6;
  const texts = names.map(String);
  if (widest(texts.flatMap((text) => text.split(/\s+/))) > room)
    return { grid: false, labelAngle: -90, labelAlign: 'right', labelBaseline: 'middle', labelLimit: 130, labelOverlap: false };
  const lines = JSON.stringify(texts.map((text) => wrapped(text, room)));
  const labelExpr = `${lines}[indexof(${JSON.stringify(texts)}, datum.label)]`;
  return { grid: false, labelAngle: 0, labelExpr, labelOverlap: false };
}

/** Widens (factor > 1) or narrows both axes around their middle; `fields` names the field of each axis: {x, y}. */
export function zoomBy(view, fields, factor) {
  for (const [axis, field] of Object.entries(fields)) {
    const scale = view.scale(axis);
    const [there, back] = scale.type.startsWith('log') ? [Math.log, Math.exp] : [Number, Number];
    const [low, high] = scale.domain().map(there);
    const [middle, half] = [(low + high) / 2, ((high - low) / 2) * factor];
    view.signal(`range_${field}`, [back(middle - half), back(middle + half)]);
  }
  view.run();
}

export function resetZoom(view, fields) {
  Object.values(fields).forEach((field) => view.signal(`range_${field}`, null));
  view.run();
}

export const toSvg = (view) => view.toSVG();

export async function toPng(view) {
  const canvas = await view.toCanvas(2);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}
